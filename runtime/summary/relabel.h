/* relabel.h: labels of mixtures. */
#ifndef GBM_RELABEL_H
#define GBM_RELABEL_H

#include "io/data.h"
#include "io/draws.h"

/* assign.c. The assignment problem: column[row], each once, with the least sum
 * of cost[row][column[row]]; cost: [n][n], finite. GBM_FAILURE for want of
 * memory. */
enum gbm_status gbm_assign(int n, const double *cost, int *column);

/* relabel.c. Permutes the components of each draw so that they mean the same in
 * all. `list` names the labels, an integer array, and what belongs to the
 * components: "z,mu,Sigma,pi". Of an array the first dimension with as many
 * cells as there are components is permuted; P[k,k] and b[,k] say which
 * otherwise. `reference`, or NULL: data that have the labels to agree with (or
 * without labels the parameters). */
struct gbm_relabelling {
    int components, passes;
    int64_t moved; /* draws of which some component has another label */
};
enum gbm_status gbm_relabel(struct gbm_draws *draws, const char *list,
                            const struct gbm_data *reference,
                            struct gbm_relabelling *out, char error[GBM_ERROR]);

/* clusters.c. Of labels, whatever their numbers: how often two rows are in one
 * cluster, and the draw whose partition is nearest to that (Dahl 2006). */
struct gbm_clusters {
    int rows, most;         /* cells of the labels; the largest label */
    double *together;       /* [rows][rows] */
    double occupied;        /* mean number of clusters */
    double *size, *size_sd; /* [most], of each label */
    int chain, draw;        /* of the least-squares partition */
    int *partition;         /* [rows], renumbered 1, 2, ... as they come */
    int nclusters;          /* in it */
};
enum { GBM_CLUSTER_ROWS = 4000 };
enum gbm_status gbm_find_clusters(struct gbm_clusters *clusters,
                                  const struct gbm_draws *draws,
                                  const char *name, char error[GBM_ERROR]);
void gbm_clusters_free(struct gbm_clusters *clusters);
/* As JSON. */
enum gbm_status gbm_clusters_write(const struct gbm_clusters *clusters,
                                   const char *name, const char *path,
                                   char error[GBM_ERROR]);

#endif
