"""Derives the polynomials of tensorjit-core/src/math:
`pip install mpmath && python3 docs/coefficients.py > tensorjit-core/src/math/coefficients.rs`.

Each is the minimax polynomial (Remez exchange on a dense grid, 60 digits) of the stated function under the stated
weight, its coefficients rounded once to the type in which it is evaluated.
"""

import struct

from mpmath import atan, asin, besseli, cos, digamma, erf, erfc, erfinv, exp, floor, log, loggamma, lu_solve, matrix
from mpmath import mp, mpf, pi, sin, sinh, sqrt, tanh

mp.dps = 60


def minimax(f, weight, low, high, count):
    """Coefficients c, lowest first, that minimise max |weight * (sum c_k x^k - f)| over [low, high]."""
    low, high = mpf(low), mpf(high)
    size = 40 * count + 200
    xs = [(low + high) / 2 - (high - low) / 2 * cos(pi * (2 * i + 1) / (2 * size)) for i in range(size)]
    fs, ws = [f(x) for x in xs], [weight(x) for x in xs]
    refs = [int((1 - cos(pi * i / count)) / 2 * (size - 1)) for i in range(count + 1)]
    for _ in range(30):
        a, b = matrix(count + 1, count + 1), matrix(count + 1, 1)
        for row, i in enumerate(refs):
            for k in range(count):
                a[row, k] = xs[i] ** k
            a[row, count] = (-1) ** row / ws[i]
            b[row] = fs[i]
        solution = lu_solve(a, b)
        c, level = [solution[k] for k in range(count)], abs(solution[count])
        errors = [ws[i] * (horner(c, xs[i]) - fs[i]) for i in range(size)]
        peaks = []
        for i, e in enumerate(errors):
            if peaks and (errors[peaks[-1]] > 0) == (e > 0):
                if abs(e) > abs(errors[peaks[-1]]):
                    peaks[-1] = i
            else:
                peaks.append(i)
        while len(peaks) > count + 1:
            peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
        worst = max(abs(e) for e in errors)
        if len(peaks) < count + 1 or worst < level * mpf("1.001"):
            break
        refs = peaks
    return c, worst


def horner(c, x):
    total = mpf(0)
    for value in reversed(c):
        total = total * x + value
    return total


def single(value):
    return struct.unpack("f", struct.pack("f", float(value)))[0]


HALF_LN2 = log(2) / 2 * mpf("1.001")
OCTAVE = (sqrt(mpf(1) / 2) - 1, sqrt(mpf(2)) - 1)
S2 = (sqrt(mpf(2)) - 1) ** 2 / (sqrt(mpf(2)) + 1) ** 2
EIGHTH = (pi / 4 * mpf("1.0001")) ** 2
TAN_EIGHTH = (sqrt(mpf(2)) - 1) ** 2


def odd(f):
    """(f(x) - x) / x^3 as a function of z = x^2."""
    return lambda z: (f(sqrt(z)) - sqrt(z)) / (z * sqrt(z))


def relative(f, power):
    """The weight of an error of x^power * p(x^2) relative to f(x), as a function of z = x^2."""
    return lambda z: abs(sqrt(z) ** power / f(sqrt(z)))


# name: (meaning, count of coefficients, f, weight, interval, rounding)
def table():
    exp_q = lambda r: (exp(r) - 1 - r) / r**2
    exp_w = lambda r: r**2 / exp(r)
    expm1_w = lambda r: abs(r**2 / (exp(r) - 1))
    two = lambda r: exp(r * log(2))
    exp2_q = lambda r: (two(r) - 1 - r * log(2)) / r**2
    exp2_w = lambda r: r**2 / two(r)
    log_p = lambda f: (log(1 + f) - f + f * f / 2) / f**3
    log_w = lambda f: abs(f**3 / log(1 + f))
    # log((1 + s) / (1 - s)), with z = s^2.
    at = lambda z: log((1 + sqrt(z)) / (1 - sqrt(z)))
    at_r = lambda z: (at(z) / sqrt(z) - 2) / z
    at_tail = lambda z: (at(z) / sqrt(z) - 2 - z * 2 / 3) / z**2
    at_log2 = lambda z: at(z) / sqrt(z) / log(2)
    cos_c = lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2
    cos_w = lambda z: z**2 / cos(sqrt(z))
    erf_p = lambda z: erf(sqrt(z)) / sqrt(z) - 1
    erf_w = lambda z: sqrt(z) / erf(sqrt(z))
    tail = lambda v: -log(erfc(1 + v))
    tail_w = lambda v: erfc(1 + v) / erf(1 + v)
    # With u = (x - 3.75) / (x + 3.75), so that one polynomial serves all sizes.
    place = lambda x: (mpf(x) - mpf("3.75")) / (mpf(x) + mpf("3.75"))
    from_place = lambda u: mpf("3.75") * (1 + u) / (1 - u)
    erfc_p = lambda u: exp(from_place(u) ** 2) * erfc(from_place(u)) * (1 + 2 * from_place(u))
    inverse = lambda f: (lambda x: 1 / abs(f(x)))
    # The inverse of the error function over x, of w = -log(1 - x^2).
    over = lambda w: erfinv(sqrt(1 - exp(-w))) / sqrt(1 - exp(-w)) if w > 0 else sqrt(pi) / 2
    near_over = lambda t: over(t + mpf("3.125"))
    far_over = lambda t: over((t + mpf("3.25")) ** 2)
    farther_over = lambda t: over((t + 5) ** 2)
    gamma_p = lambda t: loggamma(2 + t).real / t if abs(t) > mpf(10) ** -20 else digamma(mpf(2))
    stirling = lambda y: (loggamma(1 / sqrt(y)).real - (1 / sqrt(y) - mpf(1) / 2) * (-log(y) / 2 - 1)
                          - (log(2 * pi) - 1) / 2) / sqrt(y)
    digamma_p = lambda y: (digamma(1 / sqrt(y)) + log(y) / 2 + sqrt(y) / 2) / y
    bessel_p = lambda order: (lambda z: besseli(order, sqrt(z)) / sqrt(z) ** order if z > 0 else mpf(1) / 2**order)
    # Of large x, with t = 16 / x - 1.
    bessel_q = lambda order: (lambda t: besseli(order, 16 / (1 + t)) * exp(-16 / (1 + t)) * 4 / sqrt(1 + t))
    return {
        "EXP_F32": ("e^r = 1 + r + r^2 p(r)", 5, exp_q, exp_w, (-HALF_LN2, HALF_LN2), single),
        "EXPM1_F32": ("e^r = 1 + r + r^2 p(r), the error that of e^r - 1", 6, exp_q, expm1_w, (-HALF_LN2, HALF_LN2), single),
        "EXP_F64": ("e^r = 1 + r + r^2 p(r), the error that of e^r - 1", 11, exp_q, expm1_w, (-HALF_LN2, HALF_LN2), float),
        "EXP2_F32": ("2^r = 1 + r ln 2 + r^2 p(r)", 5, exp2_q, exp2_w, ("-0.5001", "0.5001"), single),
        "EXP2_F64": ("2^r = 1 + r ln 2 + r^2 p(r)", 10, exp2_q, exp2_w, ("-0.5001", "0.5001"), float),
        "EXP2_POW": ("2^r = p(r)", 7, two, lambda r: 1 / two(r), ("-0.5001", "0.5001"), float),
        "LOG_F32": ("log(1 + f) = f - f^2/2 + f^3 p(f)", 9, log_p, log_w, OCTAVE, single),
        "LOG_F64": ("log((1 + s)/(1 - s)) = 2s + s z p(z), z = s^2", 7, at_r, lambda z: z / 2, (0, S2), float),
        "LOG_POW": ("log((1 + s)/(1 - s)) = 2s + s z (2/3 + z p(z)), z = s^2", 7, at_tail, lambda z: z**2 / 2, (0, S2), float),
        "LOG2_POW": ("log2((1 + s)/(1 - s)) = s p(z), z = s^2", 5, at_log2, lambda z: 1 / at_log2(z), (0, S2), float),
        "SIN_F32": ("sin(r) = r + r z p(z), z = r^2", 3, odd(sin), relative(sin, 3), (0, EIGHTH), float),
        "COS_F32": ("cos(r) = 1 - z/2 + z^2 p(z), z = r^2", 3, cos_c, cos_w, (0, EIGHTH), float),
        "SIN_F64": ("sin(r) = r + r z p(z), z = r^2", 6, odd(sin), relative(sin, 3), (0, EIGHTH), float),
        "COS_F64": ("cos(r) = 1 - z/2 + z^2 p(z), z = r^2", 6, cos_c, cos_w, (0, EIGHTH), float),
        "ASIN_F32": ("asin(x) = x + x z p(z), z = x^2", 6, odd(asin), relative(asin, 3), (0, "0.25"), float),
        "ASIN_F64": ("asin(x) = x + x z p(z), z = x^2", 13, odd(asin), relative(asin, 3), (0, "0.25"), float),
        "ATAN_F32": ("atan(x) = x + x z p(z), z = x^2", 6, odd(atan), relative(atan, 3), (0, TAN_EIGHTH), float),
        "ATAN_F64": ("atan(x) = x + x z p(z), z = x^2", 11, odd(atan), relative(atan, 3), (0, TAN_EIGHTH), float),
        "SINH_F32": ("sinh(x) = x + x z p(z), z = x^2", 4, odd(sinh), relative(sinh, 3), (0, 1), single),
        "SINH_F64": ("sinh(x) = x + x z p(z), z = x^2", 7, odd(sinh), relative(sinh, 3), (0, 1), float),
        "TANH_F32": ("tanh(x) = x + x z p(z), z = x^2", 7, odd(tanh), relative(tanh, 3), (0, 1), single),
        "TANH_F64": ("tanh(x) = x + x z p(z), z = x^2", 15, odd(tanh), relative(tanh, 3), (0, 1), float),
        "ERF_F32": ("erf(x) = x + x p(z), z = x^2", 7, erf_p, erf_w, (0, 1), single),
        "ERF_F64": ("erf(x) = x + x p(z), z = x^2", 12, erf_p, erf_w, (0, 1), float),
        "ERF_TAIL_F32": ("erf(1 + v) = 1 - exp(-p(v)), the error that of erf", 7, tail, tail_w, (0, 3), single),
        "ERF_TAIL_F64": ("erf(1 + v) = 1 - exp(-p(v)), the error that of erf", 18, tail, tail_w, (0, 5), float),
        "ERFC_F64": ("e^(x^2) erfc(x) (1 + 2 x) = p(u) with u = (x - 3.75) / (x + 3.75)", 23, erfc_p, inverse(erfc_p), (place("0.49"), place(28)), float),
        "ERF_INV_NEAR_F64": ("erf_inv(x) = x p(w - 3.125) with w = -log(1 - x^2)", 24, near_over, inverse(near_over), ("-3.125", "3.13"), float),
        "ERF_INV_FAR_F64": ("erf_inv(x) = x p(sqrt(w) - 3.25)", 20, far_over, inverse(far_over), ("-0.76", "0.76"), float),
        "ERF_INV_FARTHER_F64": ("erf_inv(x) = x p(sqrt(w) - 5)", 18, farther_over, inverse(farther_over), ("-1.01", "1.02"), float),
        "LGAMMA_F64": ("log(gamma(2 + t)) = t p(t)", 20, gamma_p, inverse(gamma_p), ("-0.5", "0.5"), float),
        "STIRLING_F64": ("log(gamma(x)) = (x - 1/2) (log(x) - 1) + (log(2 pi) - 1) / 2 + p(x^-2) / x, against 1", 7, stirling, lambda y: sqrt(y), ("1e-6", mpf(1) / 49), float),
        "DIGAMMA_F64": ("digamma(x) = log(x) - 1 / (2 x) + x^-2 p(x^-2), against 1", 8, digamma_p, lambda y: y, ("1e-6", mpf(1) / 64), float),
        "I0_NEAR_F64": ("I0(x) = p(x^2)", 18, bessel_p(0), inverse(bessel_p(0)), (0, 64), float),
        "I0_FAR_F64": ("e^-x I0(x) sqrt(x) = p(16 / x - 1)", 24, bessel_q(0), inverse(bessel_q(0)), ("-0.9999", "1"), float),
        "I1_NEAR_F64": ("I1(x) = x p(x^2)", 18, bessel_p(1), inverse(bessel_p(1)), (0, 64), float),
        "I1_FAR_F64": ("e^-x I1(x) sqrt(x) = p(16 / x - 1)", 24, bessel_q(1), inverse(bessel_q(1)), ("-0.9999", "1"), float),
    }


# Entries of a table: the `f32` that one register of the widest level holds.
ENTRIES = 16

# The sum of a magnitude, scaled so that the last piece ends below 8, and this is cut into four in each octave.
FIRST = mpf("0.5")


def near_single(f, low, high):
    """A center whose value is a float but for 2^-9 of its last bit."""
    middle, step = single((low + high) / 2), float(high - low) / 2**15
    for i in range(2**14):
        c = mpf(single(middle + (-1) ** i * (i // 2) * step))
        if abs(f(c) - mpf(single(f(c)))) < f(c) * mpf(2) ** -33:
            return c
    raise ValueError("no center")


def pieces(f, limit, count):
    """Rows of a table: centers c, values v, and coefficients of q, where f(c + t) = v + t q(t); the piece of c = 0 has
    f(t) = t + t q(t).  The entry of a magnitude is given by the exponent and two bits of the mantissa of its multiple by
    `scale` plus FIRST."""
    rows, worst = [[mpf(0)] * ENTRIES for _ in range(2 + count)], mpf(0)
    scale = mpf(single(mpf("7.4999") / limit))
    for entry in range(ENTRIES):
        low, high = [((1 + mpf(i % 4) / 4) * 2 ** (i // 4) * FIRST - FIRST) / scale for i in (entry, entry + 1)]
        # Rounding takes magnitudes at the edges to either side.
        low, high = max(low * mpf("0.999999"), mpf(0)), min(high * mpf("1.000001"), mpf(limit))
        c = near_single(f, low, high) if entry > 0 else mpf(0)
        base = (lambda t: t) if entry == 0 else (lambda t: f(c))
        q, error = minimax(lambda t: (f(c + t) - base(t)) / t, lambda t: abs(t / f(c + t)), low - c, high - c, count)
        worst = max(worst, error)
        bits = struct.unpack("I", struct.pack("f", float((1 + mpf(entry % 4) / 4) * 2 ** (entry // 4) * FIRST)))[0]
        for row, value in zip(rows, [c, f(c), *q]):
            row[(bits >> 21) % ENTRIES] = value
    return scale, rows, worst


def print_pieces(name, meaning, f, limit, count):
    scale, rows, worst = pieces(f, mpf(limit), count)
    print()
    print(f"/// {meaning} by pieces up to {limit}, with polynomials of degree {count - 1} for what is left of each;")
    print(f"/// relative error 2^{float(log(worst, 2)):.1f}.")
    print(f"pub(super) const {name}: Pieces<{count}> = Pieces {{")
    print(f"    limit: {single(mpf(limit))!r},")
    print(f"    scale: {float(scale)!r},")
    print(f"    centers: {[single(value) for value in rows[0]]},")
    print(f"    values: {[single(value) for value in rows[1]]},")
    print(f"    coefficients: {[[single(value) for value in row] for row in rows[2:]]},")
    print("};")


def main():
    print("//! Minimax polynomials, lowest coefficient first; written by `docs/coefficients.py`.")
    print()
    print("use super::pieces::Pieces;")
    for name, (meaning, count, f, weight, (low, high), rounding) in table().items():
        low, high = mpf(low), mpf(high)
        c, worst = minimax(f, weight, low, high, count)
        print()
        print(f"/// {meaning}, on [{float(low):.4}, {float(high):.4}], degree {count - 1},")
        print(f"/// relative error 2^{float(log(worst, 2)):.1f}.")
        print(f"pub(super) const {name}: [f64; {count}] = [")
        for value in c:
            print(f"    {rounding(value)!r},")
        print("];")
    print_pieces("TANH_PIECES", "tanh(x)", tanh, "9.1", 6)
    print_pieces("ERF_PIECES", "erf(x)", erf, "4", 6)


main()
