//! The orbit of a comet from where it was seen: a thousand steps of a simulation, differentiated in one compiled
//! function, and a descent by its gradient.

mod common;

use std::time::Instant;

use common::{Outcome, plot, progress, table};
use tensorjit::ndarray::{Array1, Array2, aview1, concatenate, s};
use tensorjit::{tensor_fn, with_threads};

tensor_fn! {
    /// The days between two observations; a step of the simulation is a day.
    pub const PAUSE: i64 = 25;

    /// The days of a year; lengths are in astronomical units, masses in those of the sun.
    pub const YEAR: f64 = 365.25;

    /// Where a body is, and how far it moves in a day.
    pub struct Motion { place: f64[2], speed: f64[2] }

    /// What the gravity of a body of some mass adds to the speed in a day.
    fn pull(place: f64[2], body: f64[2], mass: f64) -> f64[2] {
        let gravity = 39.47841760435743 / (YEAR * YEAR);
        let way = body - place;
        let square = sum(way * way);
        gravity * mass / (square * sqrt(square)) * way
    }

    /// Where the comet is after each day: the leapfrog scheme under the sun, which rests at the origin, and a planet
    /// whose places are known.
    pub fn orbit<T>(start: Motion, planet: f64[T, 2], mass: f64) -> f64[T, 2] {
        let origin = zeros([2]);
        let (_, places) = scan((start.place, start.speed), planet, |(place, speed), planet| {
            let half = place + 0.5 * speed;
            let speed = speed + pull(half, origin, 1.0) + pull(half, planet, mass);
            let place = half + 0.5 * speed;
            ((place, speed), place)
        });
        places
    }

    /// The mean squared distance from the observations, and its gradient by where and how the comet starts.
    pub fn miss<K: 1..>(
        start: Motion, planet: f64[PAUSE * K, 2], mass: f64, seen: f64[K, 2],
    ) -> (f64, Motion) {
        let places = orbit(start, planet, mass);
        let error = reshape(places, [K, PAUSE, 2])[.., -1, ..] - seen;
        let loss = sum(error * error) / (K as f64);
        (loss, grad(loss, start))
    }
}

const DAYS: usize = 1000;
const JUPITER: f64 = 9.54e-4;

fn main() -> Outcome<()> {
    let planet = circle(5.2);
    let truth = motion(&[2.1, -0.8, 0.0035, 0.0105]);
    let places = orbit(&truth, &planet, JUPITER)?;
    let seen = places.slice(s![PAUSE as usize - 1..; PAUSE as usize, ..]);

    let mut losses = Vec::new();
    let found = descend(&motion(&[2.0, -0.7, 0.0030, 0.0110]), &mut losses, |start| {
        miss(start, &planet, JUPITER, seen)
    })?;

    let error = (&numbers(&found) - &numbers(&truth)).mapv(f64::abs);
    let error = error.iter().fold(0.0f64, |most, e| most.max(*e));
    let last = losses[losses.len() - 1];
    let seconds = with_threads(1, || -> Outcome<f64> {
        let mut times = Vec::new();
        for _ in 0..101 {
            let begin = Instant::now();
            miss(&found, &planet, JUPITER, seen)?;
            times.push(begin.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        Ok(times[times.len() / 2])
    })?;
    let curve = plot("orbit", "A comet, BFGS", &[("mean squared distance".into(), losses.clone())])?;
    table(
        &format!("Orbit of a comet ({DAYS} steps, {} observations)", seen.nrows()),
        &[
            ("first loss", format!("{:.3e}", losses[0])),
            ("last loss", format!("{last:.3e}")),
            ("descents", format!("{}", losses.len() - 1)),
            ("true start", format!("{:.6}", numbers(&truth))),
            ("found start", format!("{:.6}", numbers(&found))),
            ("largest error", format!("{error:.1e}")),
            ("a value and its gradient", format!("{:.1} us", 1e6 * seconds)),
            ("curve", curve.display().to_string()),
        ],
    );
    if error < 1e-6 { Ok(()) } else { Err("the start of the orbit was not found".into()) }
}

/// Where a planet is in the middle of each day that circles the sun at a distance, by Kepler's third law.
fn circle(distance: f64) -> Array2<f64> {
    let angle = |day: usize| std::f64::consts::TAU * (day as f64 + 0.5) / (YEAR * distance.powf(1.5));
    Array2::from_shape_fn((DAYS, 2), |(day, axis)| distance * [angle(day).cos(), angle(day).sin()][axis])
}

fn motion(numbers: &[f64]) -> Motion {
    Motion { place: aview1(&numbers[..2]).to_owned(), speed: aview1(&numbers[2..]).to_owned() }
}

fn numbers(motion: &Motion) -> Array1<f64> {
    concatenate![tensorjit::ndarray::Axis(0), motion.place, motion.speed]
}

/// Minimises a function by the method of Broyden, Fletcher, Goldfarb and Shanno (Nocedal and Wright 2006, algorithm
/// 6.1), with steps that are halved until the value falls enough; the values go to `losses`.
fn descend(
    start: &Motion,
    losses: &mut Vec<f64>,
    value: impl Fn(&Motion) -> tensorjit::Result<(f64, Motion)>,
) -> Outcome<Motion> {
    // Places are of the order 1 and speeds of the order 1/100: in these units all four numbers matter alike.
    let unit = Array1::from(vec![1.0, 1.0, 0.01, 0.01]);
    let at = |x: &Array1<f64>| -> Outcome<(f64, Array1<f64>)> {
        let (loss, slope) = value(&motion((x * &unit).as_slice().ok_or("a vector is not contiguous")?))?;
        Ok((loss, numbers(&slope) * &unit))
    };
    let mut x = numbers(start) / &unit;
    let (mut loss, mut slope) = at(&x)?;
    let mut inverse = Array2::eye(4) * (0.1 / slope.dot(&slope).sqrt());
    losses.push(loss);
    let bar = progress("orbit", 100)?;
    for _ in 0..100 {
        let way = -inverse.dot(&slope);
        let fall = way.dot(&slope);
        let mut length = 1.0;
        let (next, next_loss, next_slope) = loop {
            let next = &x + &(&way * length);
            let (next_loss, next_slope) = at(&next)?;
            if next_loss <= loss + 1e-4 * length * fall {
                break (next, next_loss, next_slope);
            }
            length *= 0.5;
            if length < 1e-10 {
                bar.finish();
                return Ok(motion(&(x * unit).to_vec()));
            }
        };
        let (moved, turned) = (&next - &x, &next_slope - &slope);
        let curvature = moved.dot(&turned);
        if curvature > 0.0 {
            inverse = updated(&inverse, &moved, &turned, curvature);
        }
        (x, loss, slope) = (next, next_loss, next_slope);
        losses.push(loss);
        bar.inc(1);
        bar.set_message(format!("loss {loss:.2e}"));
        if loss < 1e-20 {
            break;
        }
    }
    bar.finish();
    Ok(motion(&(x * unit).to_vec()))
}

/// The approximate inverse of the Hessian after a step, equation 6.17 there.
fn updated(inverse: &Array2<f64>, moved: &Array1<f64>, turned: &Array1<f64>, curvature: f64) -> Array2<f64> {
    let outer = |a: &Array1<f64>, b: &Array1<f64>| Array2::from_shape_fn((4, 4), |(i, j)| a[i] * b[j]);
    let left = Array2::eye(4) - outer(moved, turned) / curvature;
    left.dot(inverse).dot(&left.t()) + outer(moved, moved) / curvature
}
