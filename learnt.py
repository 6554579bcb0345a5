import os, sys
import numpy as np
sys.path.insert(0, os.environ["GBM_ROOT"] + "/tests")
import checkpoint
def learnt(path, d):
    """[chain][cell]: factor, 1 + updates; mean; U, of which U'U is the
    covariance."""
    [cells] = [x for n, x in checkpoint.pieces(path) if n.endswith(" width")]
    return np.frombuffer(cells).reshape(-1, 2 + d + d * d)
