#!/usr/bin/python3
"""counts.py COUNTS.npy [DESIGN.csv]: writes y.npy and rest.json, the data of
heterosis.gbm, from counts by gene and library (.npy or .npy.gz). The design is
that of data.json, or a table of a row a library and a column a coefficient, with
names. h: logarithms of size factors, the medians over genes with reads
everywhere of the ratio to the gene's geometric mean (Anders and Huber 2010)."""
import csv
import gzip
import json
import os
import sys

import numpy as np


def design():
    if len(sys.argv) > 2:
        with open(sys.argv[2]) as f:
            return [[float(v) for v in row[1:]] for row in list(csv.reader(f))[1:]]
    with open(os.path.join(os.path.dirname(__file__), "data.json")) as f:
        return json.load(f)["X"]


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    opener = gzip.open if sys.argv[1].endswith(".gz") else open
    with opener(sys.argv[1], "rb") as f:
        y = np.load(f)
    x = design()
    if y.ndim != 2 or y.shape[1] != len(x):
        sys.exit(f"counts.py: counts of shape {y.shape}, a design of {len(x)} rows")
    logs = np.log(y[(y > 0).all(1)])
    if not len(logs):
        sys.exit("counts.py: no gene has reads in all libraries")
    h = np.median(logs - logs.mean(1, keepdims=True), axis=0)
    np.save("y.npy", y.astype(np.int32))
    with open("rest.json", "w") as f:
        json.dump({"G": y.shape[0], "N": y.shape[1], "L": len(x[0]),
                   "h": h.tolist(), "X": x}, f)
        f.write("\n")


main()
