"""One call of linear_step in a fresh interpreter: `first.py numpy|jax|torch`."""

import sys

import numpy as np

x, y = np.tile(np.float32([1, 2, 3]), (8, 1)), np.tile(np.float32([0.5, 1]), (8, 1))
w, bias, scale = np.full((3, 2), np.float32(0.1)), np.zeros(2, np.float32), np.float32(1 / 16)


def loss(w, bias, x, y):
    error = x @ w + bias - y
    return (error * error).sum() * scale


match sys.argv[1]:
    case "numpy":
        error = x @ w + bias - y
        d = 2 * scale * error
        results = (error * error).sum() * scale, x.T @ d, d.sum(0)
    case "jax":
        import jax

        value, gradients = jax.jit(jax.value_and_grad(loss, (0, 1)))(w, bias, x, y)
        results = value, *gradients
    case "torch":
        import torch

        w, bias = (torch.tensor(value, requires_grad=True) for value in (w, bias))
        value = loss(w, bias, torch.tensor(x), torch.tensor(y))
        value.backward()
        results = value.detach(), w.grad, bias.grad
print(*results)
