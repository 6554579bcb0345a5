#!/usr/bin/env python3
"""modes.py FILE.csv...: how often each order of mu[1..4] came in the draws of all
files, and whether that is the same for all 24, as it must be: a chi-square test,
in which neighbours among the draws may have much in common. Status 1: it is not,
at 0.0001."""
import csv
import itertools
import sys

BATCHES = 16


def orders(path):
    with open(path) as f:
        rows = csv.DictReader(line for line in f if not line.startswith("#"))
        names = [n for n in rows.fieldnames if n.replace("[", ".").startswith("mu.")]
        for row in rows:
            yield tuple(sorted(range(4), key=lambda k: float(row[names[k]])))


def main():
    names = list(itertools.permutations(range(4)))
    batches = []
    for path in sys.argv[1:]:
        found = list(orders(path))
        n = len(found) // BATCHES
        for b in range(BATCHES):
            part = found[b * n:(b + 1) * n]
            batches.append([part.count(name) / n for name in names])
    share = [sum(b[m] for b in batches) / len(batches) for m in range(24)]
    # of the mean of the batches' shares, on average over modes
    variance = sum((b[m] - share[m]) ** 2 for b in batches for m in range(24))
    variance /= 24 * len(batches) * (len(batches) - 1)
    effective = 1 / 24 * 23 / 24 / variance if variance else 0
    square = effective * sum((s - 1 / 24) ** 2 * 24 for s in share)
    for name, s in zip(names, share):
        print("mu of order", *(k + 1 for k in name), f"{s:.4f}")
    print(sum(s > 0 for s in share), "modes;", round(effective),
          "effective draws; chi-square", round(square, 1), "of 23")
    sys.exit(min(share) == 0 or square > 57)


main()
