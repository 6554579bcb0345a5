/* named_data.c: the files of --data, for what asks them while the model is
 * resolved. */
#include "io/data.h"
#include "model/resolve.h"

bool model_read_named_data(struct compiler *c, struct gbm_data *data)
{
    for (int i = 0; i < c->options.ndata; i++) {
        char error[GBM_ERROR];
        if (gbm_data_read(data, c->options.data[i], error) != GBM_OK) {
            error_at(c, (struct span){0}, "%s", error);
            return false;
        }
    }
    return true;
}
