#!/usr/bin/env python3
"""Checkpoints of samplers, for tests.

  tests/checkpoint.py sweeps FILE      how many sweeps its run had done
  tests/checkpoint.py same FILE FILE   fails unless all of the state, down to the
                                       last bit, is the same, times apart
  tests/checkpoint.py has FILE NAME    fails if there is no such piece
  tests/checkpoint.py flip FILE AT     changes a bit of that byte
  tests/checkpoint.py kills N COMMAND...
                                       runs a sampler; then N times the same,
                                       killed at a random moment after its first
                                       checkpoint, and run again
                                       with the same command line. All must end
                                       in the same state."""
import os
import random
import struct
import subprocess
import sys
import tempfile
import time


def pieces(path):
    """[(name, bytes)]"""
    with open(path, "rb") as f:
        data = f.read()
    at = 16

    def word():
        nonlocal at
        at += 8
        return struct.unpack_from("<q", data, at - 8)[0]

    def padded():
        nonlocal at
        n = word()
        begin = at
        at += (n + 7) // 8 * 8
        return data[begin:begin + n]

    for _ in range(word()):
        padded(), padded()
    found = []
    while at < len(data) - 8:
        name = padded().decode()
        found.append((name, padded()))
    return found


def sweeps(path):
    """Of the file that a run goes on from: the one before it, if the run was
    killed between two renames; -1: neither is there."""
    for name in (path, path + ".1"):
        if os.path.exists(name):
            return struct.unpack("<I", dict(pieces(name))["sweeps"])[0]
    return -1


def differ(path, other):
    """What differs of two checkpoints, or ''."""
    a, b = pieces(path), pieces(other)
    if [n for n, _ in a] != [n for n, _ in b]:
        return "their pieces"
    return ", ".join(n for (n, x), (_, y) in zip(a, b)
                     if x != y and "time of" not in n.lower())


def begun(command, path, **more):
    """Starts a run; returns it once it has saved itself."""
    run = subprocess.Popen(command, **more)
    while run.poll() is None and not os.path.exists(path):
        time.sleep(0.001)
    return run


def kills(n, command, folder, seed=1, **more):
    """Kills a run n times, at random moments after its first checkpoint; returns
    [sweeps done by the checkpoint that it went on from], or a message."""
    chance = random.Random(seed)
    whole = os.path.join(folder, "whole.ck")
    run = begun(command + ["--checkpoint", whole, "--every", "0s"], whole,
                **more)
    began = time.time()
    if run.wait():
        return f"status {run.returncode}"
    length = time.time() - began
    found = []
    while len(found) < n:
        path = os.path.join(folder, f"killed{len(found)}.ck")
        again = command + ["--checkpoint", path, "--every", "0s", "--resume",
                           path]
        run = begun(again, path, **more)
        try:
            run.wait(chance.uniform(0, length))
            length *= 0.9  # it was faster than the first one
            for name in (path, path + ".1"):
                if os.path.exists(name):
                    os.remove(name)
            continue
        except subprocess.TimeoutExpired:
            run.kill()
            run.wait()
        at = sweeps(path)
        done = subprocess.run(again, **more)
        if done.returncode:
            return f"killed after {at} sweeps: status {done.returncode}"
        other = differ(whole, path)
        if other:
            return f"killed after {at} sweeps: other {other}"
        found.append(at)
    return found


def main(what, *words):
    if what == "sweeps":
        print(sweeps(words[0]))
    elif what == "same":
        sys.exit(differ(*words) or 0)
    elif what == "has":
        sys.exit(not any(n == words[1] and x for n, x in pieces(words[0])))
    elif what == "flip":
        at = int(words[1])
        with open(words[0], "r+b") as f:
            f.seek(at)
            byte = f.read(1)[0]
            f.seek(at)
            f.write(bytes([byte ^ 1 << at % 8]))
    elif what == "kills":
        with tempfile.TemporaryDirectory() as folder:
            found = kills(int(words[0]), list(words[1:]), folder,
                          stdout=subprocess.DEVNULL)
        print(found)
        sys.exit(isinstance(found, str))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:] or [""])
