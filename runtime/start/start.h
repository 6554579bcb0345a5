/* start.h: starting values of chains, and the graph by which they are mended.
 */
#ifndef GBM_START_H
#define GBM_START_H

#include "record/record.h"
#include "io/data.h"

/* start.c. Starting values of all chains. */
enum gbm_status rt_start(struct rt *rt, struct rt_instance *in, FILE *notes);
/* The same of the first `own` chains, whose values the others take in turns:
 * where chains draw from the prior before anything else. */
enum gbm_status rt_start_few(struct rt *rt, struct rt_instance *in, int own,
                             FILE *notes);

/* pilot.c. Other starts, where some are far better; after rt_start. */
void rt_pilot(struct rt *rt, struct rt_instance *in);

/* score.c. Scores of the chains' states, since the last rt_scores_end: log
 * densities that are comparable between regions. */
struct rt_scores {
    int states;              /* so many of each chain */
    double *mean, *variance; /* [chains] */
    int64_t cells;
    struct rt_moved *moved; /* [chains][cells] */
};
/* False if there is no memory. */
bool rt_scores_create(struct rt_scores *scores, const struct rt_instance *in);
void rt_scores_free(struct rt_scores *scores);
/* Adds what they hold to the state of a run. */
void rt_scores_list(struct rt_scores *scores, const struct rt_instance *in,
                    struct rt_pieces *pieces);
/* One more state of each chain. */
bool rt_scores_add(struct rt_scores *scores, const struct rt *rt,
                   const struct rt_instance *in);
/* Now mean and variance tell of the regions that the chains were in; -inf where
 * a state was impossible. */
void rt_scores_end(struct rt_scores *scores, const struct rt_instance *in);
/* Whether the family has effects: continuous nodes that read random ones, but
 * not each other. The volume in which these move counts. */
bool rt_has_effects(const struct rt_instance *in, const void *state,
                    int family);
/* Of one state; -inf where it is not finite. */
double rt_score(const struct rt *rt, const struct rt_instance *in, void *state,
                int chain);

/* arrival.c. Chains that are far below the others early in warm-up go on from
 * where these are. */
struct rt_arrival {
    int nmoments, moment; /* when chains are compared; the next */
    int gap;              /* sweeps between the states that are compared */
    double below;         /* the best a chain is lost, but for the spread */
    struct rt_scores scores;
    double *scratch; /* [chains] */
};
/* False if there is no memory. */
bool rt_arrival_create(struct rt_arrival *arrival, const struct rt *rt,
                       const struct rt_instance *in);
void rt_arrival_free(struct rt_arrival *arrival);
/* The sweep of warm-up after which to look next, or all of them. */
int64_t rt_arrival_next(const struct rt_arrival *arrival, int64_t warmup);
enum gbm_status rt_arrival_look(struct rt_arrival *arrival, struct rt *rt,
                                struct rt_instance *in, int64_t sweep,
                                FILE *notes);

/* ease.c. The first sweeps of warm-up, in which what has a near-improper prior
 * moves by little at a time. */
struct rt_ease {
    const struct rt_instance *in;
    int sweeps;   /* so many; 0: there is nothing to hold */
    char *states; /* of all chains */
    int64_t n;
    struct rt_ease_item {
        int family, variable;
        int64_t element, cell;
    } * items;              /* [n] */
    double *before, *drawn; /* [chains][n] */
};
/* After the chains have started. False if there is no memory. */
bool rt_ease_create(struct rt_ease *ease, const struct rt *rt,
                    const struct rt_instance *in);
void rt_ease_free(struct rt_ease *ease);
/* Before and after each of the sweeps. */
void rt_ease_begin(struct rt_ease *ease);
enum gbm_status rt_ease_end(struct rt_ease *ease, struct rt *rt);

/* Terms of a chain's log density. */
int64_t rt_terms(const struct rt_instance *in);
/* Whether the log densities of all chains, which the host evaluates, cost no
 * more than some sweeps of the device. */
bool rt_worth_scoring(const struct rt *rt, const struct rt_instance *in);

/* ---- volume.c ---- */

/* What is that far from a typical value on the scale on which it is unbounded
 * is a draw from a vague prior. */
#define RT_FAR 10.

/* What is added to an element's log density to have that of its latent cells on
 * the scale on which they are unbounded. */
double rt_log_volume(const struct rt_instance *in, const void *state, int chain,
                     int family, int64_t element, struct rt_cells *buffer);
/* A cell of the element on that scale. */
double rt_free_number(const struct rt_instance *in, const void *state,
                      int chain, int family, int64_t element, int64_t cell);

/* ---- graph.c: which elements read which ---- */

/* Nodes are the elements of random and derived families, numbered in the order
 * of the families. Where it is not known which cell is read, all are. */
struct rt_graph {
    const struct rt_instance *in;
    int64_t nodes;
    int64_t *base;  /* [nfamilies + 1]: a family's first node; none of families
                       without parents */
    int64_t *first; /* [nodes + 1]: parents of a node are
                       parent[first[node] .. first[node + 1] - 1] */
    int *parent;
    int64_t *first_child; /* [nodes + 1]: the same of those that read it */
    int *child;
    int **owner; /* [nvariables][cells]: the node that defines it, or -1 */
};
/* Of variables for which read is false nobody is told who reads them; NULL: of
 * all it is. False if there is no memory, or too much of it would be needed. */
bool rt_graph_create(struct rt_graph *graph, const struct rt_instance *in,
                     const void *state, const bool *read);
void rt_graph_free(struct rt_graph *graph);
int rt_graph_family(const struct rt_graph *graph, int64_t node);

/* ---- start.c ---- */

struct rt_starter {
    struct rt *rt;
    struct rt_instance *in;
    struct gbm_data *inits;        /* one per --init */
    const struct gbm_array **init; /* [nvariables] of the chain at hand */
    int chain, attempt;
    bool in_sequence;
    double calm; /* the part of the usual spread that the chain starts with */
    void *state;
    struct rt_cells buffer;
    double *saved;
    int64_t saved_capacity;
    struct rt_graph graph;
    bool has_graph, no_graph;
    int64_t work; /* densities that the search may still evaluate */
    double until; /* on the CPU's clock, whatever a density costs */
    /* what went wrong last */
    int family; /* -1: nothing */
    int64_t element;
    bool density;   /* the density is 0; else the element's check failed */
    bool undefined; /* some density was not a number where the chain began */
    bool hopeless;  /* and nothing that it depends on can move */
    struct gbm_problem problem;
};

/* Whether a cell is observed or given by --init. */
bool rt_start_is_fixed(const struct rt_starter *s, int variable, int64_t cell);

/* volume.c: a draw of the element from its prior or, where that is far from all
 * that is typical, another start: half of the draws of a gamma with a shape of
 * 0.001 are below 1e-300, where no data pull them back. */
void rt_start_draw(struct rt_starter *s, const struct gbm_family *family,
                   struct gbm_rng *rng, int64_t element);

/* Reads the files of --init; s->init, what one of them (NULL: none) gives of
 * the variables that chains have of their own. */
enum gbm_status rt_start_read_inits(struct rt_starter *s, FILE *notes);
enum gbm_status rt_start_use_init(struct rt_starter *s,
                                  const struct gbm_data *init);

/* Whether the search of this chain's start has taken what it may. */
bool rt_start_is_over(const struct rt_starter *s, int64_t work);

/* ---- mend.c ---- */

/* Moves latent elements until no density is 0, in at most `work` evaluations of
 * densities. True if that is so. Sets what went wrong if it is hopeless. */
bool rt_mend(struct rt_starter *s, int64_t work);

/* ---- start_report.c ---- */

/* Say in the model's words what went wrong. */
enum gbm_status rt_start_report_check(struct rt_starter *s);
enum gbm_status rt_start_report_density(struct rt_starter *s, int attempts);

#endif
