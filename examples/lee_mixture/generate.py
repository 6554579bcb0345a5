#!/usr/bin/env python3
"""Writes data.json: 100 observations from four normals of equal weights, with
means -3, 0, 3, 6 and standard deviation 0.55."""
import json
import random

rng = random.Random(1)
means = [-3, 0, 3, 6]
y = [round(rng.gauss(rng.choice(means), 0.55), 3) for _ in range(100)]
with open("data.json", "w") as f:
    json.dump({"N": 100, "K": 4, "sigma": 0.55, "y": y}, f)
    f.write("\n")
