"""Adds to `elementary.txt` what it lacks of `special.json`, and values of functions that neither has:
`pip install mpmath && python3 docs/special_points.py special.json tests/data/math/elementary.txt > more.txt`.

The lines are those of `elementary.txt`.  Values that are not in `special.json` are computed at 60 digits and rounded
once, half to even.
"""

import json
import math
import random
import struct
import sys

from mpmath import besseli, digamma, exp, mp, mpf, sech

mp.dps = 60
NAMES = {"erfinv": "erf_inv", "round_half_even": "round", "reciprocal": "recip", "max": "maximum", "min": "minimum",
         "rem_trunc": "rem", "rem_floor": "mod"}


def single(value):
    """The nearest f32 of a number of any precision."""
    if not math.isfinite(value):
        return float(value)
    _, exponent = math.frexp(float(value)) if value else (0, 0)
    unit = mpf(2) ** (max(exponent, -125) - 24)
    return float(mp.nint(mpf(value) / unit) * unit)


def bits(value, width):
    if value != value:
        return "nan"
    return struct.pack(">f" if width == 32 else ">d", value).hex()


def from_bits(value, width):
    return struct.unpack(">f" if width == 32 else ">d", value.to_bytes(width // 8, "big"))[0]


def neighbour(x, y, width):
    if x != x or y != y:
        return math.nan
    if x == y:
        return y
    if x == 0:
        return math.copysign(from_bits(1, width), y)
    inward = (y > x) != (x > 0)
    return from_bits(int(bits(x, width), 16) + (-1 if inward else 1), width)


def of_file(data, known):
    """The functions that `elementary.txt` lacks."""
    for function, entry in data["functions"].items():
        name = NAMES.get(function, function)
        if name in known:
            continue
        for width in ("f32", "f64"):
            for case in entry["special"][width]:
                print(name, width, "special", *case)
            for case in zip(*entry["points"][width].values()):
                print(name, width, "point", *case)


def computed():
    random.seed(11)
    sized = lambda: random.choice([-1, 1]) * 2 ** random.uniform(-30, 30)
    functions = {
        "digamma": (digamma, lambda: random.choice([random.uniform(0, 3), random.uniform(0, 30), abs(sized()),
                                                    random.uniform(-20, 0)])),
        "bessel_i0e": (lambda x: exp(-abs(x)) * besseli(0, x), lambda: random.choice([random.uniform(-30, 30), sized()])),
        "bessel_i1e": (lambda x: exp(-abs(x)) * besseli(1, x), lambda: random.choice([random.uniform(-30, 30), sized()])),
        "sech": (sech, lambda: random.choice([random.uniform(-3, 3), random.uniform(-104, 104), random.uniform(-745, 745), sized()])),
    }
    infinity = math.inf
    special = {
        "digamma": [(0.0, -infinity), (-0.0, infinity), (infinity, infinity), (-infinity, math.nan), (-1.0, math.nan),
                    (-7.0, math.nan), (math.nan, math.nan)],
        "bessel_i0e": [(0.0, 1.0), (-0.0, 1.0), (infinity, 0.0), (-infinity, 0.0), (math.nan, math.nan)],
        "sech": [(0.0, 1.0), (-0.0, 1.0), (infinity, 0.0), (-infinity, 0.0), (math.nan, math.nan)],
        "bessel_i1e": [(0.0, 0.0), (-0.0, -0.0), (infinity, 0.0), (-infinity, -0.0), (math.nan, math.nan)],
    }
    for name, (f, sample) in functions.items():
        for width in (32, 64):
            for x, y in special[name]:
                print(name, f"f{width}", "special", bits(x, width), bits(y, width))
            for _ in range(200):
                x = sample()
                x = single(x) if width == 32 else x
                y = f(mpf(x))
                if width == 32:
                    print(name, "f32 point", bits(x, 32), bits(single(y), 32), bits(float(y), 64))
                elif name != "digamma" or (x > 0 and abs(y) > 1):
                    # Beside its zeros the function has no bound in units of its value.
                    print(name, "f64 point", bits(x, 64), bits(float(y), 64))
    for width in (32, 64):
        ends = [0.0, -0.0, infinity, -infinity, math.nan, 1.0, -1.0, from_bits(1, width), -from_bits(1, width)]
        pairs = [(x, y) for x in ends for y in ends]
        for _ in range(60):
            pairs.append(tuple(random.choice([-1, 1]) * from_bits(random.getrandbits(width - 2), width) for _ in range(2)))
        for x, y in pairs:
            print("nextafter", f"f{width} special", bits(x, width), bits(y, width), bits(neighbour(x, y, width), width))


def main():
    with open(sys.argv[1]) as file:
        data = json.load(file)
    with open(sys.argv[2]) as file:
        known = {line.split()[0] for line in file}
    of_file(data, known)
    computed()


main()
