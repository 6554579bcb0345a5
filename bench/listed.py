"""The models that tests/statistical/models lists: every example and every test
model with a reference."""

import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def models():
    """(name, model file, data files) of all."""
    listed = subprocess.run([os.path.join(ROOT, "tests/statistical/models")],
                            stdout=subprocess.PIPE, text=True, check=True)
    for line in listed.stdout.splitlines():
        _, name, model, *data = line.split()
        yield name, os.path.join(ROOT, model), [os.path.join(ROOT, f)
                                                for f in data]
