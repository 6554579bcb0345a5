# Writes many.json, few.json, crowd.json: data for the models beside it. In a
# crowd values that lie close together are more than a group (struct gbm_trials).
import json, random
random.seed(4)
def data(N, K, P, apart=3):
    x = [[random.gauss(apart * (i % K), 1) for p in range(P)] for i in range(N)]
    x[1][1] = None
    x[2] = [None] * P
    unit = [[float(a == b) for a in range(P)] for b in range(P)]
    t = [[random.gauss(0, 1) for p in range(P)] for i in range(N)]
    return dict(N=N, K=K, P=P, x=x, t=t, m0=[0.0] * P, T0=unit, R=unit, df=P + 2,
                a=[1.0] * K, w=[random.randrange(9) for i in range(N)],
                size=[random.random() + 1 for i in range(N)],
                v=[random.random() for i in range(N)],
                y=[random.gauss(0, 2) for i in range(N)])
json.dump(data(75, 5, 3), open("many.json", "w"))
json.dump(data(7, 3, 2), open("few.json", "w"))
json.dump(data(75, 70, 2, 0.05), open("crowd.json", "w"))
