//! What the examples share: data files, a progress bar, a table, a loss curve.
#![allow(dead_code, reason = "each example uses its part")]

pub(crate) mod digits;

use std::error::Error;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use indicatif::{ProgressBar, ProgressStyle};
use ndarray_npy::NpzReader;
use plotters::prelude::*;

/// What an example may fail with.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error>>;

/// Whether the example was asked for its short form.
pub(crate) fn short() -> bool {
    std::env::args().any(|arg| arg == "--short")
}

/// Opens a file of `examples/data`.
pub(crate) fn data(name: &str) -> Outcome<NpzReader<File>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data").join(name);
    Ok(NpzReader::new(File::open(path)?)?)
}

/// A bar of `steps` steps.
pub(crate) fn progress(title: &str, steps: u64) -> Outcome<ProgressBar> {
    let bar = ProgressBar::new(steps);
    bar.set_style(
        ProgressStyle::with_template("{prefix:24} [{bar:32}] {pos}/{len} {msg}")?.progress_chars("=> "),
    );
    bar.set_prefix(title.to_owned());
    Ok(bar)
}

/// Prints a title and rows of a name and a value.
pub(crate) fn table(title: &str, rows: &[(&str, String)]) {
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    println!("\n{title}");
    for (name, value) in rows {
        println!("  {name:width$}  {value}");
    }
}

/// Draws curves, each a name and its values, with a logarithmic axis, to `target/demo/<name>.svg`.
pub(crate) fn plot(name: &str, caption: &str, curves: &[(String, Vec<f64>)]) -> Outcome<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/demo");
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{name}.svg"));
    let values = || curves.iter().flat_map(|(_, curve)| curve.iter().copied().filter(|value| *value > 0.0));
    let (low, high) = values().fold((f64::MAX, f64::MIN_POSITIVE), |(l, h), v| (l.min(v), h.max(v)));
    let steps = curves.iter().map(|(_, curve)| curve.len()).max().unwrap_or(1);
    {
        let area = SVGBackend::new(&path, (720, 440)).into_drawing_area();
        area.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&area)
            .caption(caption, ("sans-serif", 20))
            .margin(12)
            .x_label_area_size(36)
            .y_label_area_size(64)
            .build_cartesian_2d(0..steps, (low * 0.9..high * 1.1).log_scale())?;
        chart
            .configure_mesh()
            .x_desc("step, or epoch")
            .y_desc("loss")
            .y_label_formatter(&|y| format!("{y:.0e}"))
            .draw()?;
        for (i, (label, curve)) in curves.iter().enumerate() {
            let colour = Palette99::pick(i).to_rgba();
            let points = curve.iter().copied().enumerate().filter(|(_, value)| *value > 0.0);
            chart
                .draw_series(LineSeries::new(points, colour.stroke_width(2)))?
                .label(label)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour.stroke_width(2)));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperRight)
            .background_style(WHITE.mix(0.8))
            .border_style(BLACK)
            .draw()?;
        area.present()?;
    }
    Ok(path)
}

/// Functions in a binary whose symbol has `name` in it and that a tensor function was compiled to.
pub(crate) fn symbols(binary: &[u8], name: &str) -> Outcome<usize> {
    use object::{Object, ObjectSymbol};
    let file = object::File::parse(binary)?;
    let compiled = |symbol: &str| symbol.starts_with("tensorjit_") && symbol.contains(name);
    Ok(file.symbols().filter(|symbol| symbol.name().is_ok_and(compiled)).count())
}

/// A small deterministic generator of uniform numbers in [-1, 1).
pub(crate) struct Uniform(u64);

impl Uniform {
    /// Started from a seed.
    pub(crate) fn new(seed: u64) -> Uniform {
        Uniform(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number: the upper bits of a linear congruential generator (Knuth's MMIX).
    pub(crate) fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// A random permutation (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = ((self.next() + 1.0) * 0.5 * (last + 1) as f64) as usize;
            items.swap(last, other.min(last));
        }
    }
}
