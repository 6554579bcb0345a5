/* components.h: the components of a mixture, and labels for them that mean the
 * same in all draws. */
#ifndef GBM_COMPONENTS_H
#define GBM_COMPONENTS_H

#include <stdbool.h>

#include "io/data.h"
#include "io/draws.h"

/* A variable of the draws that has labels, or belongs to the components. */
struct gbm_field {
    const struct gbm_draws_variable *variable;
    bool labels;
    bool along[GBM_MAX_DIMS]; /* this dimension counts components */
    int nalong;
};

/* What components look like, as draws so far have them, and how far they are
 * from it in one more. Of labels the target has how often a row was in each
 * component; without labels the sums of the components' numbers. Records are
 * those of the draws that the fields are of; a permutation `label` [k] says
 * from 0 what a draw's component is to be called. */
struct gbm_components {
    struct gbm_field *fields;
    int nfields, k;
    int64_t rows, width; /* label cells; numbers of a component */
    int64_t cells;       /* of the target: [rows][k], or [k][width] */
    double *target;
    double weight;         /* draws in the target */
    bool fixed;            /* nothing is added to the target any more: of
                              labels it has the costs */
    double *mean, *square; /* [width] of a number over all components, and */
    double seen;           /* sums of squares from it, of so many */
    double *cost;          /* [k][k]; these are for the work on a draw */
    double *component, *array; /* [k][width]; of the longest array */
};

/* named.c. What `list` names of the draws: labels, an integer array, and what
 * belongs to the components: "z,mu,Sigma,pi". Of an array the first dimension
 * with as many cells as there are components; P[k,k] and b[,k] say which
 * otherwise. Fails with a message, also if labels of the draws are none; then
 * there is nothing to be freed. */
enum gbm_status gbm_components_create(struct gbm_components *components,
                                      const struct gbm_draws *draws,
                                      const char *list, char error[GBM_ERROR]);
void gbm_components_free(struct gbm_components *components);

/* components.c. The scale of each number, over components and draws: those that
 * are seen before distances are taken, whatever their labels. */
void gbm_components_see(struct gbm_components *c, const double *record);
/* The permutation that brings a draw nearest to the target. GBM_USER_ERROR,
 * without a message, if the draw is not of numbers; GBM_FAILURE for want of
 * memory. Not by two threads at once. */
enum gbm_status gbm_components_assign(struct gbm_components *c,
                                      const double *record, int *label);
/* Adds a draw under its new labels to the target. */
void gbm_components_add(struct gbm_components *c, const double *record,
                        const int *label);
/* Both; the first draw keeps its labels. */
enum gbm_status gbm_components_learn(struct gbm_components *c,
                                     const double *record, int *label);
/* The target stays as it is, until it is begun anew. */
void gbm_components_fix(struct gbm_components *c);
void gbm_components_begin(struct gbm_components *c);
/* The target is what the data have under the labels' name, or without labels
 * under those of the parameters, and stays. */
enum gbm_status gbm_components_refer(struct gbm_components *c,
                                     const struct gbm_data *reference,
                                     char error[GBM_ERROR]);
/* Calls the components of a draw so; returns whether that changed anything. */
bool gbm_components_permute(struct gbm_components *c, double *record,
                            const int *label);

#endif
