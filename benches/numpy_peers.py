"""Times NumPy on the workloads of `examples/measure.rs`: one line each, a name and the seconds of a call.

The gradients of the linear model are written by hand, as a user of NumPy would.
"""

import time

import numpy as np

random = np.random.default_rng(0)


def normal(*shape):
    return random.standard_normal(shape).astype(np.float32)


def linear_step(x, y, w, bias, scale):
    error = x @ w + bias - y
    d = 2 * scale * error
    return (error * error).sum() * scale, x.T @ d, d.sum(0)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def best(call):
    """The least time of a call over half a second, in samples of a millisecond or one call."""
    call()
    start = time.perf_counter()
    call()
    count = max(1, int(1e-3 / max(time.perf_counter() - start, 1e-9)))
    least, end = float("inf"), time.perf_counter() + 0.5
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(count):
            call()
        least = min(least, (time.perf_counter() - start) / count)
    return least


x, y, w, bias = normal(32, 3), normal(32, 2), normal(3, 2), normal(2)
print("linear_step", best(lambda: linear_step(x, y, w, bias, np.float32(1 / 64))))
big = normal(4096, 1024)
print("softmax", best(lambda: softmax(big)))
a, b = normal(512, 512), normal(512, 512)
print("product", best(lambda: a @ b))
