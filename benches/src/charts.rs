//! Bar charts: a family of workloads each, the speed of every contender as a part of ours.

use std::fs;
use std::path::Path;

use plotters::prelude::*;

use crate::measure::Row;
use crate::workload::Contender;
use crate::{Error, Result};

/// The size of a chart, and the height of the names below it.
const SIZE: (u32, u32) = (960, 420);
const NAMES: u32 = 40;

/// Draws the families that these rows belong to, on one thread.
pub fn draw(rows: &[Row], folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let mut families: Vec<&str> = rows.iter().map(|row| row.family.as_str()).collect();
    families.dedup();
    for family in families {
        let rows: Vec<&Row> = rows.iter().filter(|row| row.threads == 1 && row.family == family).collect();
        if !rows.is_empty() {
            let path = folder.join(family.replace(' ', "-") + ".svg");
            chart(family, &rows, &path).map_err(|error| Error::from(error.to_string()))?;
        }
    }
    Ok(())
}

fn chart(family: &str, rows: &[&Row], path: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let bars = bars(rows);
    let highest = bars.iter().map(|bar| bar.speed).fold(1.0, f64::max);
    let root = SVGBackend::new(path, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(format!("{family}: speed beside tensorjit, one thread"), ("sans-serif", 20))
        .margin(10)
        .x_label_area_size(NAMES)
        .y_label_area_size(50)
        .build_cartesian_2d(0.0..rows.len() as f64, 0.0..highest * 1.05)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(2 * rows.len() + 1)
        .x_label_formatter(&|x| name_at(rows, *x))
        .y_label_formatter(&|y| format!("{y:.1}"))
        .draw()?;
    for contender in Contender::ALL {
        let color = color(contender);
        let own: Vec<_> = bars.iter().filter(|bar| bar.contender == contender).collect();
        if !own.is_empty() {
            let own =
                own.iter().map(|bar| Rectangle::new([(bar.from, 0.0), (bar.to, bar.speed)], color.filled()));
            chart
                .draw_series(own)?
                .label(contender.name())
                .legend(move |(x, y)| Rectangle::new([(x, y - 5), (x + 10, y + 5)], color.filled()));
        }
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperRight)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    root.present()?;
    Ok(())
}

/// The name of the workload whose bars have their middle here.
fn name_at(rows: &[&Row], x: f64) -> String {
    let middle = (x - 0.5).round();
    let near = (x - 0.5 - middle).abs() < 0.01 && middle >= 0.0;
    let row = if near { rows.get(middle as usize) } else { None };
    row.map_or(String::new(), |row| row.workload.clone())
}

struct Bar {
    contender: Contender,
    from: f64,
    to: f64,
    speed: f64,
}

/// Side by side in the unit that a workload has.
fn bars(rows: &[&Row]) -> Vec<Bar> {
    let mut bars = Vec::new();
    for (position, row) in rows.iter().enumerate() {
        let Some(ours) = row.of(Contender::Tensorjit) else { continue };
        let width = 0.9 / row.results.len() as f64;
        for (i, outcome) in row.results.iter().enumerate() {
            let from = position as f64 + 0.05 + width * i as f64;
            let speed = ours.seconds / outcome.seconds;
            bars.push(Bar { contender: outcome.contender, from, to: from + width * 0.95, speed });
        }
    }
    bars
}

/// Colours that are told apart with impaired colour vision too.
fn color(contender: Contender) -> RGBColor {
    match contender {
        Contender::Tensorjit => RGBColor(0, 0, 0),
        Contender::Ndarray => RGBColor(230, 159, 0),
        Contender::Gemm => RGBColor(86, 180, 233),
        Contender::Candle => RGBColor(0, 158, 115),
        Contender::Burn => RGBColor(240, 228, 66),
        Contender::NumPy => RGBColor(0, 114, 178),
        Contender::Jax => RGBColor(213, 94, 0),
        Contender::Torch => RGBColor(204, 121, 167),
        Contender::Inductor => RGBColor(153, 153, 153),
    }
}
