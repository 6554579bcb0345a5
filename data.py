import json, sys
n = 12
g = [i % 2 for i in range(n)]
odd = {(0, 3), (1, 4), (2, 8), (5, 6), (3, 10)}  # answers out of line
a = [[None if j <= i else int((g[i] == g[j]) != ((i, j) in odd))
      for j in range(n)] for i in range(n)]
known = [g[0]] if sys.argv[1] == "known" else [None]
json.dump({"N": n, "a": a, "g": known + [None] * (n - 1)}, sys.stdout)
