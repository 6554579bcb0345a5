# Writes near.json, far.json: data for the models beside it. Far: groups are
# narrow for their distance, columns have other units, and some lie far from 0.
import json
import random
random.seed(4)


def data(N, K, P, far):
    unit = [10.0 ** (p % 3 - 1) if far else 1.0 for p in range(P)]
    wide = 1e-3 if far else 1.0
    x = [[unit[p] * (100 * far * p + 3 * ((i * (p + 2)) % K) +
                     random.gauss(0, wide)) for p in range(P)]
         for i in range(N)]
    x[1][1] = None
    x[2] = [None] * P
    t = [[1.0] + [random.gauss(0, 1) for p in range(1, P)] for i in range(N)]
    y = [5 * (i % K) - 3 * (i % K) * t[i][1] + random.gauss(0, wide)
         for i in range(N)]
    c = [[random.randrange(1 + 9 * ((i + p) % K == 0)) for p in range(P)]
         for i in range(N)]
    square = [[float(a == b) * (1e-6 * unit[a] ** 2 if far else 1.0)
               for a in range(P)] for b in range(P)]
    broad = [[float(a == b) * 1e-3 / unit[a] ** 2 for a in range(P)]
             for b in range(P)]
    # weights of some components are 0 in single precision
    a = [1.0 if k != 1 else 1e-3 for k in range(K)]
    return dict(N=N, K=K, P=P, x=x, t=t, y=y, c=c, n=[sum(r) for r in c],
                m0=[0.0] * P, T0=broad, R=square, df=P + 2, a=a,
                a0=[0.5] * P, w=[random.randrange(9) for i in range(N)])


json.dump(data(150, 40, 3, 0), open("near.json", "w"))
json.dump(data(150, 7, 4, 1), open("far.json", "w"))
