#!/usr/bin/env bash
# Names of the model never meet names of the generated program, of C, of CUDA or
# of their libraries: a model that uses every identifier of our headers and some
# of theirs compiles, for the host and the GPU; and what makes this so.
source "$GBM_ROOT/tests/cli/lib"
root=$GBM_ROOT

# Words of C and C++, of their libraries, of OpenMP and of CUDA.
cat >words <<'END'
auto break case char const continue default do double else enum extern float
for goto if inline int long register restrict return short signed sizeof static
struct switch typedef union unsigned void volatile while alignas alignof and
and_eq asm bitand bitor bool catch class compl complex constexpr const_cast
delete dynamic_cast explicit export false friend imaginary mutable namespace
new noexcept noreturn not not_eq nullptr operator or or_eq private protected
public reinterpret_cast static_assert static_cast template this thread_local
throw true try typeid typename typeof using virtual wchar_t xor xor_eq
I NAN INFINITY NULL EOF M_PI M_E M_SQRT2 HUGE_VAL INT_MAX LLONG_MIN DBL_MAX
DBL_EPSILON SIZE_MAX RAND_MAX BUFSIZ SIGINT EINTR ENOMEM errno stdin stdout
stderr linux unix i386 assert offsetof complex signal
exp log pow sqrt sin cos tan asin acos atan sinh cosh tanh floor ceil round
trunc rint fabs lgamma tgamma gamma signgam log1p expm1 fmod fmin fmax fma erf
erfc cbrt log2 log10 exp2 exp10 isnan isinf isfinite signbit abs asinh acosh
atanh atan2 copysign hypot ldexp frexp modf nan y0 y1 yn j0 j1 jn drem scalb
significand index rindex bcmp ffs div ldiv exit abort free malloc calloc realloc
printf puts putc getc read write open close link time clock select random rand
srand environ optarg optind stat remove rename signal raise kill sleep main
size_t ssize_t ptrdiff_t off_t pid_t uint uchar u_int ulong ushort int8_t
int64_t uint32_t intptr_t FILE omp_get_num_threads omp_set_num_threads parallel
pragma defined include define threadIdx blockIdx blockDim gridDim warpSize
dim3 float2 float4 double2 int2 int4 uint3 make_float2 atomicAdd rsqrt rcbrt
sincos normcdf norm3d erfinv erfcinv cudaStream_t clock64 assert half
i j k n d s p x b Q z t c q m r u v w state data_ rng team element chain sweep
lower upper value total sum mean sums whole now place cells count shift bind
at1 at2 seen stride n1 family width joint1 joint1_work index1 index1_start
sequence1 row rows columns before room1 constant constant.1 h1 c1 k_ j_ i_ r_ s_
out tuples problem spread to from first last common values small chosen copies
END
cat "$root"/stdlib/kernels/*.h "$root/runtime/model.h" >headers.h
cc -w -fpreprocessed -dD -E -P headers.h | grep -oE '\b[A-Za-z]\w*' |
    sort -u >ours

# model FILE NAME...: each of the names in one place of it
cat >model.py <<'PY'
import os, subprocess, sys
out, words = sys.argv[1], " ".join(open(f).read() for f in sys.argv[2:]).split()
library = subprocess.run([os.environ["GBMC"], "--list"], capture_output=True,
                         text=True).stdout
known = {line.split("(")[0].strip() for line in library.splitlines()}
syntax = {"for", "in", "T", "I", "C", "if", "else", "while", "repeat", "break",
          "next", "function", "return", "NULL", "NA", "TRUE", "FALSE"}
names = []
for w in dict.fromkeys(words):
    if w not in syntax:
        names.append(w)
distribution = [w for w in names if w not in known]
in_entries = {"x", "s1", "s2", "lower", "upper", "p", "log", "sqrt", "exp", "sum",
              "phi", "probit", "draw_normal", "inf", "real", "mean", "mode"}
used, entries, model = set(), [], []
def take(wanted):
    for w in names:
        if w not in used and wanted(w):
            used.add(w)
            return w
    return None
def anything(w):
    return True
while True:
    d = take(lambda w: w not in known)
    location, precision = (take(lambda w: w not in in_entries) for _ in "12")
    group = [take(anything) for _ in range(6)]
    scalars = [take(anything) for _ in range(30)]
    if None in (d, location, precision, *group, *scalars):
        break
    scalar, vector, given, total, i, k = group
    entries.append(f"""distribution {d}({location}, {precision}) {{
  require {precision} > 0
  support real(-inf, inf)
  logdensity 0.5 * log({precision}) - 0.5 * {precision} * (x - {location})^2
  statistics x: {precision} * {location}, x^2: -0.5 * {precision}
  solve {location} = -0.5 * s1 / s2, {precision} = -2 * s2
  draw {location} + draw_normal() / sqrt({precision})
}}
""")
    model.append(f"""  {scalar} ~ {d}({given}[1], 1)
  for ({i} in 1:2) {{
    {vector}[{i}] ~ {d}({scalar} * {given}[{i}], exp({total}[{i}]))
    {total}[{i}] <- sum({given}[]) + {scalar} * {i} + {" + ".join(scalars)}
    for ({k} in 1:2) {{
      y.{len(model)}[{i}, {k}] ~ dnorm({vector}[{i}] * {k} + {total}[{k}], 1)
    }}
  }}""")
open(out, "w").write("\n".join(entries) + "\nmodel {\n" +
                           "\n".join(model) + "\n}\n")
print(len(used))
PY
python3 model.py all.gbm words ours >count || fail "no model"
[ "$(cat count)" -gt 1400 ] || fail "$(cat count) names"
status 0 "$GBMC" -O 0 all.gbm -o all
tr ' ' '\n' <words | shuf -n 120 --random-source="$root/LICENSE" >some
python3 model.py some.gbm some >count || fail "no model"
[ "$(cat count)" -gt 80 ] || fail "$(cat count) names"
(cd "$root" && tests/gpu/nvrtc "$scratch/some.gbm" >"$scratch/.out" 2>&1)
case $? in 0 | 77) ;; *) fail "NVRTC" ;; esac

# why: no identifier of ours or of what the program includes ends as those do
# that are named after the model, and each of these does
cat >foreign.c <<'END'
#include <complex.h>
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
END
cc -E -dD foreign.c | grep -oE '\b[A-Za-z]\w*' | sort -u >theirs
[ "$(wc -l <theirs)" -gt 1000 ] || fail "no headers"
grep -E '_v$' ours theirs && fail "these end as the model's names do"
cat >marked.bug <<'END'
model {
  for (zqi in 1:zqN) {
    zqy[zqi] ~ dnorm(zqmu[zqi], zqtau)
    zqmu[zqi] <- zqa[zqg[zqi]] + inprod(zqx[zqi, 1:2], zqb[1:2]) + zqm[zqz[zqi]]
    zqz[zqi] ~ dcat(zqp[1:2])
    zqc[zqi] ~ dpois(exp(zqr[zqi]))
    zqd[zqi] ~ dbern(ilogit(zqa[zqg[zqi]] * zqs))
  }
  zqr[1] ~ dnorm(0, 1)
  for (zqt in 2:zqN) { zqr[zqt] ~ dnorm(zqr[zqt - 1], zqtau) T(-3, ) }
  for (zqj in 1:4) { zqa[zqj] ~ dnorm(zqs, 1) }
  for (zqk in 1:2) { zqm[zqk] ~ dt(0, 1, zqdf) }
  zqb[1:2] ~ dmnorm(zqzero[], zqO[,])
  zqO[1:2, 1:2] ~ dwish(zqS[,], 3)
  zqp[1:2] ~ ddirch(zqone[])
  zqtau ~ dgamma(1, 1)
  zqs ~ dunif(-1, 1)
  zqdf ~ dexp(0.1)
}
END
"$GBMC" --emit=c marked.bug >marked.c || fail "marked.bug"
cc -fpreprocessed -E -P marked.c | sed -E 's/"(\\.|[^"\])*"//g' |
    grep -oE '\w*zq\w*' | sort -u >marked
[ "$(wc -l <marked)" -gt 100 ] || fail "no names"
grep -vE '^(\w*_)?zq[a-zA-Z]+[0-9]*(_w)?_v([0-9_]|$)' marked && fail "these are not marked"

# a loop over what a Dirichlet step calls its dimension
cat >topics.bug <<'END'
model {
 for (k in 1:K) { phi[k,1:V] ~ ddirch(beta[k,]) }
 for (d in 1:D) { theta[d,1:K] ~ ddirch(alpha[]) }
 for (i in 1:N) { z[i] ~ dcat(theta[doc[i],]); w[i] ~ dcat(phi[z[i],]) }
 p11 <- inprod(phi[1,],phi[2,])
 for (d in 1:D) { same[d] <- inprod(theta[d,],theta[1,]) }
}
END
status 0 "$GBMC" -O 0 topics.bug -o topics
exit 0
