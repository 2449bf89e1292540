"""The Python peers of the bench: NumPy, JAX, PyTorch eager, and TorchInductor.

A server: each line of its input is a request in JSON, each line of its output the reply.  The Rust side lets its own
calls and these take turns, on the same inputs.  Every function is written the way a user of that peer would write it;
it takes the inputs and returns the outputs in the order of the tensor function of the same name.
"""

import argparse
import json
import os
import pathlib
import sys
import time

options = argparse.ArgumentParser()
options.add_argument("--threads", type=int, default=1)
options.add_argument("--clock", choices=["wall", "cpu"], default="wall")
options = options.parse_args()
if options.threads == 1:
    flags = " --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + flags

# What libraries print must not meet the replies.
replies = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F

torch.set_num_threads(options.threads)
clock = time.perf_counter if options.clock == "wall" else time.process_time

# ---- the functions: name -> {peer: function}; what `torch` has, `inductor` compiles

FUNCTIONS = {}


def function(name, **peers):
    FUNCTIONS[name] = peers


class TorchGrad:
    """The value of `f` and its gradients by the inputs at `positions`."""

    def __init__(self, f, positions):
        self.f, self.positions = f, positions

    def __call__(self, *inputs):
        inputs = list(inputs)
        for i in self.positions:
            inputs[i] = inputs[i].detach().requires_grad_(True)
        value = self.f(*inputs)
        seed = torch.ones_like(value) if value.dim() else None
        return value.detach(), *torch.autograd.grad(value, [inputs[i] for i in self.positions], seed)

    def compiled(self):
        return TorchGrad(torch.compile(self.f), self.positions)


class TorchVjp(TorchGrad):
    """The gradients alone, for the cotangent that is the last input."""

    def __call__(self, *inputs):
        inputs = list(inputs)
        for i in self.positions:
            inputs[i] = inputs[i].detach().requires_grad_(True)
        *inputs_of_f, cotangent = inputs
        return torch.autograd.grad(self.f(*inputs_of_f), [inputs[i] for i in self.positions], cotangent)

    def compiled(self):
        return TorchVjp(torch.compile(self.f), self.positions)


def jax_grad(f, positions):
    def both(*inputs):
        value, gradients = jax.value_and_grad(f, positions)(*inputs)
        return value, *gradients

    return both


def linear_loss(x, y, w, bias, scale):
    error = x @ w + bias - y
    return (error * error).sum() * scale


def numpy_linear_step(x, y, w, bias, scale):
    error = x @ w + bias - y
    d = 2 * scale * error
    return (error * error).sum() * scale, x.T @ d, d.sum(0)


function(
    "linear_step",
    numpy=numpy_linear_step,
    jax=jax_grad(linear_loss, (2, 3)),
    torch=TorchGrad(linear_loss, (2, 3)),
)

product = lambda a, b: a @ b
function("product", numpy=product, jax=product, torch=product)
function(
    "linear_relu",
    numpy=lambda x, w, b: np.maximum(x @ w + b, 0),
    jax=lambda x, w, b: jax.nn.relu(x @ w + b),
    torch=lambda x, w, b: torch.relu(x @ w + b),
)


def mlp_loss(relu, log_softmax):
    def loss(w1, b1, w2, b2, w3, b3, x, y):
        h = relu(x @ w1 + b1)
        h = relu(h @ w2 + b2)
        z = log_softmax(h @ w3 + b3)
        return -(z * y).sum() / x.shape[0]

    return loss


function(
    "mlp_grad",
    jax=jax_grad(mlp_loss(jax.nn.relu, jax.nn.log_softmax), (0, 1, 2, 3, 4, 5)),
    torch=TorchGrad(mlp_loss(torch.relu, lambda z: torch.log_softmax(z, -1)), (0, 1, 2, 3, 4, 5)),
)


def numpy_softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def numpy_bias_gelu(x, b):
    x = x + b
    return 0.5 * x * (1 + np.tanh(np.float32(np.sqrt(2 / np.pi)) * (x + np.float32(0.044715) * x * x * x)))


function(
    "bias_gelu",
    numpy=numpy_bias_gelu,
    jax=lambda x, b: jax.nn.gelu(x + b),
    torch=lambda x, b: F.gelu(x + b, approximate="tanh"),
)
function(
    "softmax",
    numpy=numpy_softmax,
    jax=lambda x: jax.nn.softmax(x, -1),
    torch=lambda x: torch.softmax(x, -1),
)
function("row_sums", numpy=lambda x: x.sum(1), jax=lambda x: x.sum(1), torch=lambda x: x.sum(1))
function("column_sums", numpy=lambda x: x.sum(0), jax=lambda x: x.sum(0), torch=lambda x: x.sum(0))


def jax_layer_norm(x, gain, bias):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * gain + bias


def torch_layer_norm(x, gain, bias):
    return F.layer_norm(x, x.shape[-1:], gain, bias)


function(
    "layer_norm_grad",
    jax=lambda x, gain, bias, d: jax.vjp(jax_layer_norm, x, gain, bias)[1](d),
    torch=TorchVjp(torch_layer_norm, (0, 1, 2)),
)


def price(log, sqrt, exp, erf):
    def normal_cdf(z):
        return 0.5 * (1 + erf(z * 0.7071067811865476))

    def call(s, k, t, r, v):
        d1 = (log(s / k) + (r + 0.5 * v * v) * t) / (v * sqrt(t))
        d2 = d1 - v * sqrt(t)
        return s * normal_cdf(d1) - k * exp(-r * t) * normal_cdf(d2)

    return call


def jax_black_scholes(*inputs):
    value, pull = jax.vjp(price(jnp.log, jnp.sqrt, jnp.exp, jax.scipy.special.erf), *inputs)
    return value, *pull(jnp.ones_like(value))


function(
    "black_scholes",
    jax=jax_black_scholes,
    torch=TorchGrad(price(torch.log, torch.sqrt, torch.exp, torch.erf), (0, 1, 2, 3, 4)),
)


def attention_loss(softmax):
    def loss(q, k, v, d):
        scores = softmax((q @ k.swapaxes(-1, -2)) * 0.125)
        return ((scores @ v) * d).sum()

    return loss


jax_softmax = lambda scores: jax.nn.softmax(scores, -1)
torch_softmax = lambda scores: torch.softmax(scores, -1)
function(
    "attention_grad",
    jax=jax_grad(attention_loss(jax_softmax), (0, 1, 2)),
    torch=TorchGrad(attention_loss(torch_softmax), (0, 1, 2)),
)


def layer_of(layer_norm, softmax, gelu):
    def layer(g1, c1, wq, wk, wv, wo, g2, c2, w1, b1, w2, b2, x):
        batch, length, width = x.shape
        heads = lambda t: t.reshape(batch, length, 6, width // 6).swapaxes(1, 2)
        h = layer_norm(x, g1, c1)
        q, k, v = heads(h @ wq), heads(h @ wk), heads(h @ wv)
        attended = softmax(q @ k.swapaxes(-1, -2) * 0.125) @ v
        x = x + attended.swapaxes(1, 2).reshape(batch, length, width) @ wo
        return x + gelu(layer_norm(x, g2, c2) @ w1 + b1) @ w2 + b2

    return layer


def encoder_loss(layer):
    def loss(*inputs):
        *parameters, x, d = inputs
        for first in range(0, len(parameters), 12):
            x = layer(*parameters[first : first + 12], x)
        return (x * d).sum()

    return loss


jax_layer = layer_of(jax_layer_norm, jax_softmax, jax.nn.gelu)
torch_layer = layer_of(torch_layer_norm, torch_softmax, lambda t: F.gelu(t, approximate="tanh"))
for name, layers in [("block_grad", 1), ("encoder_grad", 6)]:
    function(
        name,
        jax=jax_grad(encoder_loss(jax_layer), tuple(range(12 * layers))),
        torch=TorchGrad(encoder_loss(torch_layer), tuple(range(12 * layers))),
    )


def jax_convolution(w, x, d):
    y = jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
    return (jax.nn.relu(y) * d).sum()


function(
    "convolution_grad",
    jax=jax_grad(jax_convolution, (0, 1)),
    torch=TorchGrad(lambda w, x, d: (torch.relu(F.conv2d(x, w, padding=1)) * d).sum(), (0, 1)),
)



def jax_comets(start, dt):
    def kick(x, y, z, u, v, w, dt):
        square = x * x + y * y + z * z
        pull = dt / (square * jnp.sqrt(square))
        return x, y, z, u - pull * x, v - pull * y, w - pull * z

    def leap(comets, _):
        x, y, z, u, v, w = kick(*comets, 0.5 * dt)
        return kick(x + dt * u, y + dt * v, z + dt * w, u, v, w, 0.5 * dt), None

    x, y, z, *_ = jax.lax.scan(leap, tuple(start.T), None, length=1000)[0]
    return (x * x + y * y + z * z).sum()


def numpy_scatter(table, i, x):
    y = table.copy()
    np.add.at(y, i, x)
    return y


function("comets_grad", jax=jax_grad(jax_comets, (0,)))
function("gather_rows", numpy=lambda x, i: x[i], jax=lambda x, i: x[i], torch=lambda x, i: x[i])
function(
    "scatter_rows",
    numpy=numpy_scatter,
    jax=lambda table, i, x: table.at[i].add(x),
    torch=lambda table, i, x: table.index_add(0, i, x),
)
function(
    "running_sums",
    numpy=lambda x: x.cumsum(1),
    jax=lambda x: x.cumsum(1),
    torch=lambda x: x.cumsum(1),
)
function("greatest", numpy=lambda x: x.argmax(1), jax=lambda x: x.argmax(1), torch=lambda x: x.argmax(1))
function(
    "sorted",
    numpy=lambda x: np.sort(x, 1),
    jax=lambda x: jnp.sort(x, 1),
    torch=lambda x: torch.sort(x, 1).values,
)

# ---- making them ready: peer -> a call without arguments


def numpy_call(f, inputs):
    return lambda: f(*inputs)


def jax_call(f, inputs):
    arrays = [jnp.asarray(x) for x in inputs]
    compiled = jax.jit(lambda *z: f(*z))
    return lambda: jax.block_until_ready(compiled(*arrays))


def torch_call(f, inputs):
    tensors = [torch.as_tensor(x) for x in inputs]
    return lambda: f(*tensors)


def inductor_call(f, inputs):
    torch._dynamo.reset()
    return torch_call(f.compiled() if isinstance(f, TorchGrad) else torch.compile(f), inputs)


# `exact` is PyTorch in double precision: the oracle.
MAKE = {
    "numpy": ("numpy", numpy_call),
    "jax": ("jax", jax_call),
    "torch": ("torch", torch_call),
    "inductor": ("torch", inductor_call),
    "exact": ("torch", torch_call),
}
ready, last = {}, {}


def load(path, precision):
    """An input in the precision of the workload; indices are integers."""
    found = np.load(path)
    return found if found.dtype.kind == "i" else found.astype(precision)[()]


def prepare(request):
    peer, precision = request["peer"], request["precision"]
    source, make = MAKE[peer]
    f = FUNCTIONS.get(request["function"], {}).get(source)
    if f is None:
        return {"absent": True}
    # It is part of what JAX compiles a function for, so that it must stay until the last call.
    jax.config.update("jax_enable_x64", precision == "float64")
    inputs = [load(path, precision) for path in request["inputs"]]
    start = time.perf_counter()
    ready[peer] = make(f, inputs)
    last[peer] = ready[peer]()
    return {"cold": time.perf_counter() - start}


def run(request):
    call, seconds = ready[request["peer"]], request["seconds"]

    def sample(count):
        before = clock()
        for _ in range(count):
            call()
        return (clock() - before) / count

    start = time.perf_counter()
    one = sample(1)
    one = sample(1) if one < seconds else one
    count = max(1, int(2e-3 / max(one, 1e-9)))
    samples = []
    while not samples or time.perf_counter() - start < seconds:
        samples.append(sample(count))
    return {"samples": samples}


def outputs(request):
    found = last[request["peer"]]
    paths = []
    for i, output in enumerate(found if isinstance(found, (tuple, list)) else [found]):
        paths.append(str(pathlib.Path(request["folder"]) / f"{request['peer']}.{i}.npy"))
        np.save(paths[-1], np.ascontiguousarray(np.asarray(output, dtype=np.float64)).reshape(np.shape(output)))
    return {"outputs": paths}


def clear(_):
    ready.clear()
    last.clear()
    return {}


def versions(_):
    found = [("NumPy", np), ("JAX", jax), ("PyTorch", torch)]
    return {"versions": [f"{name} {module.__version__}" for name, module in found]}


REQUESTS = {"prepare": prepare, "run": run, "outputs": outputs, "clear": clear, "versions": versions}

for line in sys.stdin:
    request = json.loads(line)
    try:
        reply = REQUESTS[request["do"]](request)
    except Exception as error:  # Whatever a library raises is the Rust side's to report.
        reply = {"error": f"{type(error).__name__}: {str(error)[:300]}"}
    print(json.dumps(reply), file=replies, flush=True)
