"""A conjugate regression (BDA3, section 14.8), whose moments are known."""
import numpy as np
from checking import assert_mean

import gbm

rng = np.random.default_rng(7)
N, P = 60, 3
X = np.column_stack([np.ones(N), rng.normal(size=(N, P - 1))])
y = X @ [1.0, -2.0, 0.5] + rng.normal(0, 0.7, N)

model = gbm.Model(
    """
    model {
      for (i in 1:N) { y[i] ~ dnorm(inprod(X[i,], beta[]), tau) }
      for (j in 1:P) { beta[j] ~ dnorm(0, 0.1 * tau) }
      tau ~ dgamma(2, 1)
    }"""
)
fit = model.sample({"N": N, "P": P, "X": X, "y": y}, draws=2000)

A = X.T @ X + 0.1 * np.eye(P)
b = np.linalg.solve(A, X.T @ y)
rate = 1 + 0.5 * (y @ y - b @ A @ b)
for j in range(P):
    assert_mean(fit.posterior["beta"][:, :, j], b[j])
assert_mean(fit.posterior["tau"], (2 + N / 2) / rate)
