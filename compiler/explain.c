#include "gbmc.h"
void explain(struct text *out, struct compiler *c, const struct model *m) { (void)c; (void)m; text_append(out, "\n"); }
