//! Closed intervals of integers with open ends: what bounds of symbols say about an expression.

/// All integers from `low` to `high`, both inclusive; a missing end is unbounded.
///
/// An end that leaves the range of `i128` becomes a missing end, which is always sound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    /// The least value.
    pub(super) low: Option<i128>,
    /// The greatest value.
    pub(super) high: Option<i128>,
}

impl Interval {
    /// Every integer.
    pub(super) const ALL: Interval = Interval { low: None, high: None };

    /// One integer.
    pub(super) const fn point(value: i128) -> Interval {
        Interval { low: Some(value), high: Some(value) }
    }

    /// The bounds of a symbol; `i64::MAX` says that there is no upper bound.
    pub(super) fn of_symbol(low: i64, high: i64) -> Interval {
        Interval { low: Some(low.into()), high: (high != i64::MAX).then_some(high.into()) }
    }

    /// What lies in both.
    pub(super) fn meet(self, other: Interval) -> Interval {
        Interval { low: pick(self.low, other.low, i128::max), high: pick(self.high, other.high, i128::min) }
    }

    /// Sums.
    pub(super) fn add(self, other: Interval) -> Interval {
        Interval { low: both(self.low, other.low, add), high: both(self.high, other.high, add) }
    }

    /// Negated values.
    pub(super) fn neg(self) -> Interval {
        Interval { low: self.high.and_then(i128::checked_neg), high: self.low.and_then(i128::checked_neg) }
    }

    /// Products of independent factors.
    pub(super) fn mul(self, other: Interval) -> Interval {
        if self == Interval::point(0) || other == Interval::point(0) {
            return Interval::point(0);
        }
        // An open end yields an open product unless the signs alone bound it.
        let corners =
            [(self.low, other.low), (self.low, other.high), (self.high, other.low), (self.high, other.high)]
                .map(|(a, b)| both(a, b, i128::checked_mul));
        if let [Some(a), Some(b), Some(c), Some(d)] = corners {
            return Interval { low: Some(a.min(b).min(c).min(d)), high: Some(a.max(b).max(c).max(d)) };
        }
        match (self.sign(), other.sign()) {
            (Sign::NonNegative, Sign::NonNegative) => {
                Interval { low: corners[0], high: corners[3] }.at_least_zero()
            }
            (Sign::NonNegative, Sign::NonPositive) => self.mul(other.neg()).neg(),
            (Sign::NonPositive, Sign::NonNegative) => self.neg().mul(other).neg(),
            (Sign::NonPositive, Sign::NonPositive) => self.neg().mul(other.neg()),
            _ => Interval::ALL,
        }
    }

    /// The power of one value; even powers are not negative.
    pub(super) fn pow(self, power: u32) -> Interval {
        // Beyond this the value is of no use, and a hostile exponent must not cost time.
        if power > 16 {
            return Interval::ALL;
        }
        let product = (1..power).fold(self, |product, _| product.mul(self));
        if power.is_multiple_of(2) { product.at_least_zero() } else { product }
    }

    /// The smaller ones.
    pub(super) fn minimum(self, other: Interval) -> Interval {
        Interval {
            low: both(self.low, other.low, |a, b| Some(a.min(b))),
            high: pick(self.high, other.high, i128::min),
        }
    }

    /// The larger ones.
    pub(super) fn maximum(self, other: Interval) -> Interval {
        self.neg().minimum(other.neg()).neg()
    }

    /// Floor quotients by divisors that are positive whatever `divisor` says.
    pub(super) fn floor_div(self, divisor: Interval) -> Interval {
        let divisor = divisor.meet(Interval { low: Some(1), high: None });
        let smallest = divisor.low.unwrap_or(1).max(1);
        // A quotient is nearest to zero with the largest divisor and farthest with the smallest.
        let end = |value: i128, toward_zero: bool| match (toward_zero, divisor.high) {
            (false, _) => value.div_euclid(smallest),
            (true, Some(largest)) if largest > 0 => value.div_euclid(largest),
            (true, _) => {
                if value < 0 {
                    -1
                } else {
                    0
                }
            }
        };
        Interval { low: self.low.map(|v| end(v, v >= 0)), high: self.high.map(|v| end(v, v < 0)) }
    }

    /// Floor remainders by divisors that are positive whatever `divisor` says.
    pub(super) fn modulo(self, divisor: Interval) -> Interval {
        let bound = Interval { low: Some(0), high: divisor.high.and_then(|high| high.checked_sub(1)) };
        if self.sign() == Sign::NonNegative {
            bound.meet(Interval { low: None, high: self.high })
        } else {
            bound
        }
    }

    fn at_least_zero(self) -> Interval {
        self.meet(Interval { low: Some(0), high: None })
    }

    fn sign(self) -> Sign {
        match (self.low, self.high) {
            (Some(low), _) if low >= 0 => Sign::NonNegative,
            (_, Some(high)) if high <= 0 => Sign::NonPositive,
            _ => Sign::Mixed,
        }
    }
}

#[derive(PartialEq, Eq)]
enum Sign {
    NonNegative,
    NonPositive,
    Mixed,
}

fn add(a: i128, b: i128) -> Option<i128> {
    a.checked_add(b)
}

/// The value where both ends are closed.
fn both(a: Option<i128>, b: Option<i128>, f: impl Fn(i128, i128) -> Option<i128>) -> Option<i128> {
    f(a?, b?)
}

/// The stricter of two ends.
fn pick(a: Option<i128>, b: Option<i128>, stricter: fn(i128, i128) -> i128) -> Option<i128> {
    match (a, b) {
        (Some(a), Some(b)) => Some(stricter(a, b)),
        (end, None) | (None, end) => end,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDS: [Option<i128>; 6] = [None, Some(-7), Some(-1), Some(0), Some(2), Some(5)];

    fn intervals() -> Vec<Interval> {
        let mut all = Vec::new();
        for low in ENDS {
            for high in ENDS {
                if low.zip(high).is_none_or(|(low, high)| low <= high) {
                    all.push(Interval { low, high });
                }
            }
        }
        all
    }

    fn members(interval: Interval) -> Vec<i128> {
        (-12..=12).filter(|v| holds(interval, *v)).collect()
    }

    fn holds(interval: Interval, value: i128) -> bool {
        interval.low.is_none_or(|low| low <= value) && interval.high.is_none_or(|high| value <= high)
    }

    /// Every operation contains every result of its members.
    #[test]
    fn operations_are_sound() {
        type Op = (&'static str, fn(Interval, Interval) -> Interval, fn(i128, i128) -> Option<i128>);
        let ops: [Op; 7] = [
            ("add", Interval::add, |a, b| Some(a + b)),
            ("mul", Interval::mul, |a, b| Some(a * b)),
            ("min", Interval::minimum, |a, b| Some(a.min(b))),
            ("max", Interval::maximum, |a, b| Some(a.max(b))),
            ("floor_div", Interval::floor_div, |a, b| (b > 0).then(|| a.div_euclid(b))),
            ("mod", Interval::modulo, |a, b| (b > 0).then(|| a.rem_euclid(b))),
            ("square", |a, _| a.pow(2), |a, _| Some(a * a)),
        ];
        for (name, of_intervals, of_values) in ops {
            for a in intervals() {
                for b in intervals() {
                    let result = of_intervals(a, b);
                    for x in members(a) {
                        for value in members(b).into_iter().filter_map(|y| of_values(x, y)) {
                            assert!(holds(result, value), "{name} {a:?} {b:?}: {value} not in {result:?}");
                        }
                    }
                }
            }
        }
    }

    /// Bounded operands give bounds that are reached.
    #[test]
    fn products_are_tight() {
        let interval = |low, high| Interval { low, high };
        for (a, b, expected) in [
            (interval(Some(-2), Some(3)), interval(Some(-5), Some(7)), interval(Some(-15), Some(21))),
            (interval(Some(1), None), interval(Some(2), None), interval(Some(2), None)),
            (interval(Some(0), None), interval(None, Some(-1)), interval(None, Some(0))),
            (interval(None, Some(-3)), interval(None, Some(-2)), interval(Some(6), None)),
            (interval(None, None), interval(Some(0), Some(0)), interval(Some(0), Some(0))),
            (interval(Some(i128::MAX), None), interval(Some(2), None), interval(Some(0), None)),
        ] {
            assert_eq!(a.mul(b), expected, "{a:?} * {b:?}");
        }
    }
}
