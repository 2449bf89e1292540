//! Values in f64 of the functions that `libm` has not, plainly and slowly: the oracle's.

use std::f64::consts::{FRAC_2_SQRT_PI, PI};

/// A number as a sum of two, the second far below the last digit of the first.
#[derive(Clone, Copy)]
struct Double(f64, f64);

impl Double {
    fn add(self, other: Double) -> Double {
        let sum = self.0 + other.0;
        let part = sum - self.0;
        let lost = (self.0 - (sum - part)) + (other.0 - part);
        Double::of(sum, lost + self.1 + other.1)
    }

    fn mul(self, other: Double) -> Double {
        let product = self.0 * other.0;
        let lost = libm::fma(self.0, other.0, -product);
        Double::of(product, lost + self.0 * other.1 + self.1 * other.0)
    }

    fn div(self, other: Double) -> Double {
        let quotient = self.0 / other.0;
        let rest = libm::fma(-quotient, other.0, self.0) + self.1 - quotient * other.1;
        Double::of(quotient, rest / other.0)
    }

    fn of(high: f64, low: f64) -> Double {
        let sum = high + low;
        // What is infinite or NaN has no second part.
        Double(sum, if sum.is_finite() { low - (sum - high) } else { 0.0 })
    }
}

/// The inverse of the error function: by Newton's method on the error function or, near 1, on its complement.
pub fn erf_inv(x: f64) -> f64 {
    let a = x.abs();
    if a.is_nan() || a > 1.0 {
        return f64::NAN;
    }
    if a == 1.0 || a < 1e-9 {
        // The next term of the series is far below the last digit.
        return if a == 1.0 { x * f64::INFINITY } else { x / FRAC_2_SQRT_PI };
    }
    // Winitzki's approximation begins.
    let logarithm = ((1.0 - a) * (1.0 + a)).ln();
    let half = 2.0 / (PI * 0.147) + 0.5 * logarithm;
    let mut y = ((half * half - logarithm / 0.147).sqrt() - half).sqrt();
    for _ in 0..4 {
        let slope = FRAC_2_SQRT_PI * (-y * y).exp();
        let excess = if a < 0.5 { libm::erf(y) - a } else { (1.0 - a) - libm::erfc(y) };
        let step = excess / slope;
        // Halley's form, of which the second derivative is -2 y times the first.
        y -= step / (1.0 + y * step);
    }
    y.copysign(x)
}

/// The derivative of the logarithm of the gamma function: the asymptotic series, to which a sum of inverses leads.
pub fn digamma(x: f64) -> f64 {
    // Of 1/12, -1/120, 1/252 and so on.
    const SERIES: [f64; 8] = [
        1.0 / 12.0,
        -1.0 / 120.0,
        1.0 / 252.0,
        -1.0 / 240.0,
        1.0 / 132.0,
        -691.0 / 32760.0,
        1.0 / 12.0,
        -3617.0 / 8160.0,
    ];
    if x.is_infinite() {
        return x + f64::INFINITY;
    }
    if x.abs() < 1e-300 {
        // Nothing is left of other terms.
        return -1.0 / x;
    }
    let negative = x < 0.0;
    let mut a = if negative { Double(1.0, 0.0).add(Double(-x, 0.0)) } else { Double(x, 0.0) };
    let mut sum = Double(0.0, 0.0);
    while a.0 < 16.0 {
        sum = sum.add(Double(-1.0, 0.0).div(a));
        a = a.add(Double(1.0, 0.0));
    }
    let square = 1.0 / (a.0 * a.0);
    let series = SERIES.iter().rev().fold(0.0, |series, term| series * square + term);
    let rest = a.1 / a.0 - 0.5 / a.0 - square * series;
    let mut total = sum.add(Double(libm::log(a.0), 0.0)).add(Double(rest, 0.0));
    if negative {
        let part = x - x.round();
        if part == 0.0 {
            return f64::NAN;
        }
        total = total.add(Double(-PI / (PI * part).tan(), 0.0));
    }
    total.0 + total.1
}

/// `e^-|x| I0(x)`
pub fn bessel_i0e(x: f64) -> f64 {
    bessel(x.abs(), 0)
}

/// `e^-|x| I1(x)`
pub fn bessel_i1e(x: f64) -> f64 {
    bessel(x.abs(), 1).copysign(x)
}

/// Of a magnitude: the power series or, for large ones, the asymptotic series until its terms begin to grow.
fn bessel(a: f64, order: i32) -> f64 {
    if a.is_nan() || a.is_infinite() {
        return if a.is_nan() { a } else { 0.0 };
    }
    let near = a <= 22.0;
    let square = Double(a, 0.0).mul(Double(0.25 * a, 0.0));
    let (mut term, mut sum) = (Double(1.0, 0.0), Double(1.0, 0.0));
    for k in 1..100 {
        let odd = 2 * k - 1;
        let next = match near {
            true => term.mul(square).div(Double(f64::from(k * (k + order)), 0.0)),
            false => {
                term.mul(Double(f64::from(odd * odd - 4 * order), 0.0)).div(Double(f64::from(8 * k) * a, 0.0))
            }
        };
        if next.0.abs() < 1e-18 * sum.0 || (!near && next.0.abs() > term.0.abs()) {
            break;
        }
        term = next;
        sum = sum.add(term);
    }
    if near { sum.0 * (0.5 * a).powi(order) * libm::exp(-a) } else { sum.0 / (2.0 * PI * a).sqrt() }
}
