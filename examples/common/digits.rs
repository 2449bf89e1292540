//! What the examples on handwritten digits share: the images, the loop over batches, and what is told at the end.

use std::time::Instant;

use tensorjit::ndarray::{Array1, Array2, Axis};

use super::{Outcome, Uniform, data, plot, progress, table};

/// Images of 8 x 8 pixels with their digits, split into those to learn from and those to test with.
pub(crate) struct Digits {
    images: Array2<f32>,
    labels: Array1<i64>,
    train: Vec<usize>,
    test: Vec<usize>,
}

/// How the losses went.
pub(crate) struct Learned {
    /// The loss of every step.
    losses: Vec<f64>,
    epochs: usize,
    seconds: f64,
}

impl Digits {
    /// Reads `digits.npz`.
    pub(crate) fn open() -> Outcome<Digits> {
        let mut file = data("digits.npz")?;
        let (images, labels): (Array2<f64>, _) = (file.by_name("X")?, file.by_name("y")?);
        let mut rows = |name| -> Outcome<Vec<usize>> {
            let indices: Array1<i64> = file.by_name(name)?;
            Ok(indices.iter().map(|index| *index as usize).collect())
        };
        let (train, test) = (rows("train")?, rows("test")?);
        Ok(Digits { images: images.mapv(|pixel| pixel as f32), labels, train, test })
    }

    fn rows(&self, rows: &[usize]) -> (Array2<f32>, Array1<i64>) {
        (self.images.select(Axis(0), rows), self.labels.select(Axis(0), rows))
    }

    /// Has `step` take batches of 32, with a rate, in another order in each epoch; it returns their loss.
    pub(crate) fn learn(
        &mut self,
        name: &str,
        epochs: u64,
        random: &mut Uniform,
        mut step: impl FnMut(&Array2<f32>, &Array1<i64>, f32, &mut Uniform) -> tensorjit::Result<f32>,
    ) -> Outcome<Learned> {
        let (mut losses, mut seconds) = (Vec::new(), 0.0);
        let bar = progress(name, epochs)?;
        for epoch in 0..epochs {
            random.shuffle(&mut self.train);
            let rate = if epoch * 3 < epochs * 2 { 2e-3 } else { 4e-4 };
            for batch in self.train.chunks(32) {
                let (images, labels) = self.rows(batch);
                let start = Instant::now();
                let loss = step(&images, &labels, rate, random)?;
                seconds += start.elapsed().as_secs_f64();
                losses.push(f64::from(loss));
            }
            bar.inc(1);
            bar.set_message(format!("loss {:.3}", losses[losses.len() - 1]));
        }
        bar.finish();
        Ok(Learned { losses, epochs: epochs as usize, seconds })
    }

    /// The part of the test split that is classified right.
    pub(crate) fn right(
        &self,
        classify: impl FnOnce(&Array2<f32>) -> tensorjit::Result<Array1<i64>>,
    ) -> Outcome<f64> {
        let (images, labels) = self.rows(&self.test);
        let found = classify(&images)?;
        Ok(found.iter().zip(&labels).filter(|(found, label)| found == label).count() as f64
            / labels.len() as f64)
    }
}

impl Learned {
    /// Tells it: the losses, their mean of each epoch as a curve, and the part of the test split that is right.
    pub(crate) fn tell(&self, name: &str, caption: &str, right: f64) -> Outcome<()> {
        let Learned { losses, epochs, seconds } = self;
        let epoch = losses.chunks(losses.len() / epochs);
        let means = epoch.map(|epoch| epoch.iter().sum::<f64>() / epoch.len() as f64).collect();
        let curve = plot(name, caption, &[("cross entropy, mean of an epoch".into(), means)])?;
        table(
            &format!("{caption} (1347 images to train, 450 to test)"),
            &[
                ("first loss", format!("{:.3}", losses[0])),
                ("last loss", format!("{:.4}", losses[losses.len() - 1])),
                ("right on the test split", format!("{:.2} %", 100.0 * right)),
                ("steps per second", format!("{:.0}", losses.len() as f64 / seconds)),
                ("curve", curve.display().to_string()),
            ],
        );
        Ok(())
    }
}
