/* checkpoint.h: the state of a run in a file, to go on from. Private to the
 * runtime. */
#ifndef GBM_CHECKPOINT_H
#define GBM_CHECKPOINT_H

#include "record/record.h"
#include "io/output.h"

/* What tells a run from others: names and values as text, of the sampler, of
 * options, and of the data. */
struct rt_identity_entry {
    char *name, *text;
};
struct rt_identity {
    struct rt_identity_entry *entries;
    int count;
    bool failed; /* no memory */
};

/* ---- writing */

/* The file of a run. The one before it is kept under the name FILE.1. */
struct rt_checkpoint {
    char path[RT_PATH]; /* empty: none is wanted */
    double every;       /* seconds */
    double due;         /* clock of the next */
    bool whole;         /* what is there is this run's, and good */
    struct rt_identity key;
};

/* The run's key; options and device as they will stay. */
enum gbm_status rt_checkpoint_identify(struct rt_checkpoint *checkpoint,
                                       struct rt *rt,
                                       const struct rt_instance *in);
/* What is resumed may be the file that is written: then it is whole. */
struct rt_resume;
void rt_checkpoint_goes_on(struct rt_checkpoint *checkpoint,
                           const struct rt_resume *resume);
bool rt_checkpoint_due(const struct rt_checkpoint *checkpoint);
/* Writes the pieces to another name, which takes the file's place once it is
 * on the disk. A failure leaves what is there. */
enum gbm_status rt_checkpoint_write(struct rt_checkpoint *checkpoint,
                                    const struct rt_pieces *pieces,
                                    char error[GBM_ERROR]);
void rt_checkpoint_end(struct rt_checkpoint *checkpoint);

/* ---- reading */

struct rt_resume {
    char path[RT_PATH]; /* of what is read: FILE or FILE.1 */
    FILE *file;         /* NULL: nothing is resumed */
    int64_t left;       /* bytes of the pieces that were not read yet */
    struct rt_identity key;
};

/* A sum of the starting values, as they stand in the slots. */
uint64_t rt_sum_starts(const struct rt_instance *in);
/* Fails if the data are not its run's; names them. */
enum gbm_status rt_resume_data(const struct rt_resume *resume, struct rt *rt,
                               const struct rt_instance *in);
/* Notes where it ran, if that was another device. */
void rt_resume_device(const struct rt_resume *resume, const struct rt *rt,
                      FILE *notes);
/* Reads the next pieces into their places: those of one write, in its order,
 * perhaps in several calls. */
enum gbm_status rt_resume_read(struct rt_resume *resume, struct rt *rt,
                               const struct rt_pieces *pieces);
void rt_resume_end(struct rt_resume *resume);

/* Both, as the options ask: what is resumed settles options, so before all
 * else. There may be nothing yet where the run saves itself: the same command
 * line starts it and goes on with it. */
enum gbm_status rt_checkpoint_open(struct rt_checkpoint *checkpoint,
                                   struct rt_resume *resume, struct rt *rt,
                                   FILE *notes);

#endif
