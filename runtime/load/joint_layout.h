/* joint_layout.h: a joint Gaussian block while it is laid out. */
#ifndef RT_JOINT_LAYOUT_H
#define RT_JOINT_LAYOUT_H

#include "load/load.h"
#include "load/symbolic.h"

/* A row's places name coordinates from 0, held values as -2, -3, ..., and -1
 * for none. */
#define HELD(h) (-2 - (h))

/* Contributions of rows to cells beyond this are too many to be listed. */
#define MOST ((int64_t)1 << 29)

struct term {
    const struct gbm_joint_term *term;
    bool fixed_weight, fixed_score, fixed_design, fixed_offset;
    struct rt_ints element, begin, place;
    double *weight; /* of the rows, if they are scattered; or NULL */
    int64_t weights;
    int left_out; /* elements without a row, as nothing of theirs moves */
    /* forms: components, and the instances that have rows: those of their
     * components, instance by instance, and the pairs of different components:
     * of the first instance, if their weights are common to all, and behind it;
     * else of all, and behind them */
    int components;
    int64_t instances;
    double *offset; /* of the instances' components, if it is data; or NULL */
    /* rows of one weight: [rows] the first of those like it, and all of them
     * with those alike together; or NULL */
    int *first_alike, *in_order;
};

/* One contribution to a cell of Q or b. */
struct share {
    int row, left, right;
};

/* They are gone through twice, as they may be many: counted cell by cell, then
 * listed, or summed where rows' coefficients and weights (by) are known. Where
 * the coefficients alone are, those of one row, or of rows alike, that follow
 * each other in a cell are one. */
struct shares {
    struct share *items;
    double *value; /* of the items, if coefficients are known */
    double *sum;   /* of the cells */
    int *last;     /* [cells] row of the last one, from 1 */
    const double *design, *by;
    const int *first_alike; /* [rows], or NULL */
    /* [cells]: how many a cell has, then where its next one goes */
    int64_t *at;
    int64_t n;
};

struct layout {
    struct rt *rt;
    struct rt_instance *in;
    const struct gbm_joint_block *block;
    const void *state;
    int **number; /* [nvariables][cells]: a row's place of the cell */
    struct rt_ints first, where, held_variable, held_where;
    int d;
    struct term *terms;
    int64_t *start; /* the graph of Q */
    int *neighbour;
    struct rt_symbolic symbolic;
    struct rt_ints link_row, link_held;
    struct rt_ints table;
    double *constant;
    int64_t nconstant, constants;
    int64_t work;
    bool failed;
};

/* Coordinates and held values that meet. */
struct links {
    int64_t *pair; /* coordinate << 32 | held, ascending */
    int64_t n;
};

/* ---- joint_constants.c ---- */
/* False, with l->failed, if there is no memory. */
bool rt_joint_add_constants(struct layout *l, const double *value, int64_t n);
/* ---- joint_rows.c ---- */
/* Numbers the cells that the block draws; without those of families that are
 * drawn apart, if they are. */
bool rt_joint_number_coordinates(struct layout *l, bool apart);
/* Lists what each row of a term reads. */
bool rt_joint_list_rows(struct layout *l, struct term *t);
/* Of forms: pairs of different components. */
int64_t rt_joint_pairs_of(const struct term *t);
/* The row of component a of the i-th instance; that with the weight of
 * components a and b. */
int64_t rt_joint_row_of_component(const struct term *t, int64_t i, int a);
int rt_joint_row_of_pair(const struct term *t, int64_t i, int a, int b);
/* The graph of the precision, from the rows of all terms. */
bool rt_joint_build_graph(struct layout *l);
/* The pairs of a coordinate and a held value that meet in a row, and where
 * their cell of Q is, or -1. */
bool rt_joint_build_links(struct layout *l, struct links *links);
int64_t rt_joint_link_cell(const struct layout *l, const struct links *links,
                           int a, int held);
/* ---- joint_shares.c: go through the shares of a row, or of two components of
 * an instance (forms) ---- */
void rt_joint_shares_of_precision(const struct layout *l,
                                  const struct links *links,
                                  const struct term *t, int64_t row,
                                  struct shares *out);
void rt_joint_shares_of_forms(const struct layout *l, const struct links *links,
                              const struct term *t, int64_t instance, int a,
                              int b, struct shares *out);
/* What component a of an instance has from the offset of component b. */
void rt_joint_shares_of_offset(const struct layout *l, const struct term *t,
                               int64_t instance, int a, int b,
                               struct shares *out);
void rt_joint_shares_of_potential(const struct layout *l, const struct term *t,
                                  int64_t row, struct shares *out);
/* Orders the cells that have shares, those with most first: `from` the place of
 * each one's first share. */
bool rt_joint_order_cells(int64_t cells, struct shares *s, struct rt_ints *to,
                          struct rt_ints *from);
/* ---- joint_lists.c ---- */
/* Puts a list behind what the table has; returns where it begins. */
int rt_joint_put(struct layout *l, const struct rt_ints *list);
/* The same of the shares that the rows of a term have in the cells of Q, or of
 * b, and tells the term's header, which begins at `header`. design: of all
 * rows, or NULL if it varies; by: their weights, or scores, if the shares are
 * summed at load, or NULL. False if there is no memory, or too many shares. */
bool rt_joint_put_precision(struct layout *l, const struct links *links,
                            const struct term *t, int header,
                            const double *design, const double *by);
bool rt_joint_put_potential(struct layout *l, const struct links *links,
                            const struct term *t, int header,
                            const double *design, const double *by);
/* ---- joint_border.c ---- */
/* Lists which rows each tree of a bordered block has, for lanes that gather
 * them (stdlib/kernels/border.h), if they are alike enough; `terms`: where the
 * headers of the terms stand in the table. False if there is no memory. */
bool rt_joint_list_border(struct layout *l, int terms);

#endif
