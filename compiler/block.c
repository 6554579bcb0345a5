#include "gbmc.h"
void form_blocks(struct compiler *c, struct model *m) { (void)c; (void)m; }
