#include "gbmc.h"
void emit_gaussian(struct compiler *c, struct text *out, struct step *s) { (void)c; (void)out;(void)s;}
void emit_dense(struct compiler *c, struct text *out, struct step *s) { (void)c; (void)out;(void)s;}
void emit_vector(struct compiler *c, struct text *out, struct step *s) { (void)c; (void)out;(void)s;}
