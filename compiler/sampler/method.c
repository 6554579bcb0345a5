/* method.c: what a step's method is called. */
#include "sampler/sampler.h"

const char *method_name(const struct step *s)
{
    switch (s->method) {
    case METHOD_DIRECT:
        return s->recognised ? s->recognised->name : "uniform";
    case METHOD_ENUMERATE:
        return "enumeration";
    case METHOD_SLICE:
        return "slice";
    case METHOD_SLICE_INTEGER:
        return "integer slice";
    case METHOD_GAUSSIAN:
        return "Gaussian block";
    case METHOD_DENSE:
        return "dense Gaussian block";
    case METHOD_JOINT:
        return s->curved ? "joint elliptical slice" : "joint Gaussian block";
    case METHOD_VECTOR:
        return s->recognised ? s->recognised->name : "vector";
    case METHOD_SLICE_VECTOR:
        return "slice by component";
    case METHOD_PAIR:
        return "slice that keeps a sum";
    case METHOD_CHAIN:
        return "forward-backward";
    case METHOD_WALK:
        return "random walk";
    case METHOD_ADAPTIVE:
        return "adaptive Metropolis";
    case METHOD_ELLIPTICAL:
        return "elliptical slice";
    case METHOD_FORWARD:
        return "forward";
    case METHOD_STATED:
        return "stated";
    case METHOD_INDEX:
        return "index";
    case METHOD_DERIVE:
        return "derive";
    case METHOD_NONE:
        return "in a block";
    }
    UNREACHABLE();
}
