"""Writes points of f64 with results to about 106 bits: `python3 docs/math_points.py > tests/data/math/points_f64.txt`.

A line holds a function, the bits of its operands, and those of two numbers whose sum is the result.
"""

import random
import struct
import sys

import mpmath
from mpmath import mp, mpf

mp.prec = 400
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 300


def bits(value):
    return struct.pack(">d", value).hex()


def from_bits(value):
    return struct.unpack(">d", struct.pack(">Q", value))[0]


def any_float(low=-1074, high=1023):
    sign = random.choice([-1, 1])
    return sign * float(mpmath.ldexp(mpf(random.getrandbits(53) | 1 << 52), random.randint(low, high) - 52))


def near(low, high):
    return lambda: random.uniform(low, high)


def any_in(low, high):
    return lambda: any_float(low, high)


def positive(low=-1074, high=1023):
    return lambda: abs(any_float(low, high))


def near_multiple():
    """A double close to a multiple of pi/2, small or huge."""
    k = random.getrandbits(random.choice([4, 12, 20, 40, 500])) | 1
    return float(k * mp.pi / 2)


def pow_pair():
    x = random.choice([near(0.5, 2), near(0.999, 1.001), positive(-1000, 1000), positive(-5, 5)])()
    if x == 1:
        return 2.0, 0.5
    edge = 1080 * random.uniform(-1, 1) if random.random() < 0.7 else random.uniform(-5, 5)
    y = float(edge / (mpmath.log(mpf(x)) / mpmath.log(2)))
    return x, y


def ratio_pair():
    x = any_float(-300, 300)
    return random.choice([(x, x * random.uniform(-3, 3)), (x, any_float(-300, 300)), (x * random.uniform(-3, 3), x)])


def hypot_pair():
    x = any_float(-1000, 1000)
    return x, x * random.choice([random.uniform(-1, 1), 2.0 ** random.randint(-30, 30)])


def near_one():
    """A double as close to 1 as may be."""
    return 1 - 2.0 ** -random.randint(20, 53)


def cube_root(x):
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def bessel(order):
    return lambda x: mpmath.exp(-abs(x)) * mpmath.besseli(order, x)


FUNCTIONS = {
    "exp": (mpmath.exp, [near(-745, 709), near(-1, 1), any_in(-60, 0)]),
    "exp2": (lambda x: mpf(2) ** x, [near(-1074, 1023), near(-1, 1), any_in(-60, 0)]),
    "expm1": (mpmath.expm1, [near(-40, 40), near(-1, 1), any_in(-60, 0), near(-2, 2), near(0, 709.7)]),
    "log": (mpmath.log, [positive(), near(0.5, 2), near(0.9, 1.1), near(0.6, 0.8)]),
    "log2": (lambda x: mpmath.log(x) / mpmath.log(2), [positive(), near(0.5, 2), near(0.9, 1.1), near(0.6, 0.8)]),
    "log1p": (mpmath.log1p, [positive(), near(-0.5, 1), near(-0.999999, -0.3), any_in(-60, -2), near(0, 10)]),
    "sin": (mpmath.sin, [near(-10, 10), any_in(-60, 0), any_in(0, 1023), near_multiple, near(-1e6, 1e6)]),
    "cos": (mpmath.cos, [near(-10, 10), any_in(-60, 0), any_in(0, 1023), near_multiple, near(-1e6, 1e6)]),
    "tan": (mpmath.tan, [near(-10, 10), any_in(-60, 0), any_in(0, 1023), near_multiple, near(-1e6, 1e6)]),
    "asin": (mpmath.asin, [near(-1, 1), any_in(-60, -1), near(0.45, 0.55), near(0.99, 0.9999999)]),
    "acos": (mpmath.acos, [near(-1, 1), any_in(-60, -1), near(0.45, 0.55), near(0.99, 0.9999999), near(-0.6, -0.4)]),
    "atan": (mpmath.atan, [near(-10, 10), any_in(-60, 60), near(0.4, 0.43), near(0.9, 1.1), near(2.3, 2.5)]),
    "atan2": (mpmath.atan2, [ratio_pair]),
    "sinh": (mpmath.sinh, [near(-710, 710), near(-2, 2), any_in(-60, 0)]),
    "cosh": (mpmath.cosh, [near(-710, 710), near(-2, 2), any_in(-60, 0)]),
    "tanh": (mpmath.tanh, [near(-20, 20), near(-2, 2), any_in(-60, 0), near(-0.3, 0.3)]),
    "sigmoid": (lambda x: 1 / (1 + mpmath.exp(-x)), [near(-745, 40), near(-2, 2), any_in(-60, 5), near(-40, 40)]),
    "erf": (mpmath.erf, [near(-6, 6), near(-1, 1), any_in(-60, 0), near(0.9, 1.1)]),
    "rsqrt": (lambda x: 1 / mpmath.sqrt(x), [positive(), near(0.9, 1.1), near(1, 4)]),
    "pow": (lambda x, y: mpf(x) ** mpf(y), [pow_pair]),
    "hypot": (mpmath.hypot, [hypot_pair, ratio_pair]),
    "cbrt": (cube_root, [any_in(-1074, 1023), near(-8, 8)]),
    "log10": (lambda x: mpmath.log(x) / mpmath.log(10), [positive(), near(0.5, 2), near(0.9, 1.1), near(1, 1000)]),
    "erfc": (mpmath.erfc, [near(-6, 27), near(-1, 1), any_in(-60, 0), near(0.4, 0.6), near(26, 27.2)]),
    "erf_inv": (mpmath.erfinv, [near(-1, 1), any_in(-60, -1), near(0.99, 1), near_one]),
    "lgamma": (lambda x: mpmath.loggamma(x).real, [positive(-1000, 900), near(0, 3), near(0, 10), near(0.99, 2.01)]),
    "digamma": (mpmath.digamma, [positive(3, 900), near(4, 20), near(0, 0.5)]),
    "bessel_i0e": (bessel(0), [near(-20, 20), near(-8, 8), any_in(-60, 12)]),
    "bessel_i1e": (bessel(1), [near(-20, 20), near(-8, 8), any_in(-60, 12)]),
    "sech": (mpmath.sech, [near(-745, 745), near(-2, 2), any_in(-60, 0), near(-30, 30)]),
}


def main():
    random.seed(7)
    for name, (f, samplers) in FUNCTIONS.items():
        for i in range(COUNT):
            x = samplers[i % len(samplers)]()
            x = x if isinstance(x, tuple) else (x,)
            value = mpf(f(*map(mpf, x)))
            # `float` rounds once; subnormal results have no second part worth its bits.
            high = float(value)
            if high in (float("inf"), float("-inf")) or high != high:
                continue
            low = float(value - mpf(high))
            print(name, *map(bits, x), bits(high), bits(low))


main()
