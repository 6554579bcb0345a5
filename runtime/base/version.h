/* version.h: of gbm: gbmc, samplers and the command have the same. */
#ifndef GBM_VERSION
#define GBM_VERSION "0.1"
#endif
