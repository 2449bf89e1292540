//! Strips with equal loops: one part of the function, made once and called with the places of each.

use std::collections::BTreeMap;

use super::{Emit, Schedule, arguments};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::loops::split::{Limits, as_part, size};
use crate::loops::{Buf, Buffer, Builder, Kernel, Target};
use crate::schedule::alike::{self, Alike};
use crate::schedule::strips::Strip;

/// The part for a strip and for those that are like it.
pub(super) struct Shared {
    number: u32,
    /// What it takes, with the places of the first strip.
    buffers: Vec<Buffer>,
}

/// Parts for strips that are like others, by the first of these; none where all of them are little.
pub(super) fn parts(
    schedule: &Schedule<'_>,
    alike: &[Alike],
    target: &Target,
    limits: Limits,
) -> Result<(BTreeMap<usize, Shared>, Vec<Kernel>), Bug> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    alike.iter().for_each(|strip| *counts.entry(strip.first).or_default() += 1);
    let (mut shared, mut kernels, mut total) = (BTreeMap::new(), Vec::new(), 0);
    for (first, count) in counts.into_iter().filter(|(_, count)| *count > 1) {
        let (kernel, buffers) = part(schedule, &schedule.strips[first], target)?;
        let size = size(&kernel.body);
        total += count * size;
        if size >= limits.part {
            shared.insert(first, Shared { number: kernels.len() as u32, buffers });
            kernels.push(kernel);
        }
    }
    Ok(if total < limits.whole { Default::default() } else { (shared, kernels) })
}

/// The loops of a strip as a kernel of their own.
fn part(schedule: &Schedule<'_>, strip: &Strip, target: &Target) -> Result<(Kernel, Vec<Buffer>), Bug> {
    let mut b = Builder::new(target.clone());
    let arguments = arguments(schedule, &mut b);
    let mut emit = Emit::new(schedule, b, arguments, Dim::default());
    emit.strip(strip)?;
    let kernel = emit.b.finish();
    let (part, buffers) = as_part(&kernel);
    Ok((part, buffers.into_iter().map(|buf| kernel.buffers[buf.0 as usize].clone()).collect()))
}

impl Emit<'_> {
    /// Calls the part for a strip that is like the first, with its own places.
    pub(super) fn call(
        &mut self,
        strip: &Strip,
        part: &Shared,
        [first, own]: [&Alike; 2],
        known: &mut BTreeMap<Buffer, Buf>,
    ) -> Result<(), Bug> {
        let groups = self.groups;
        groups[strip.groups.clone()].iter().for_each(|group| self.pin_results(group));
        let mut buffers = Vec::with_capacity(part.buffers.len());
        for Buffer { dtype, place } in &part.buffers {
            let place = alike::translated(place, first, own)
                .ok_or_else(|| Bug::new("schedule", format!("{place:?} is no place of a strip")))?;
            let buffer = Buffer { dtype: *dtype, place };
            let buf = *known.entry(buffer.clone()).or_insert_with(|| self.b.buffer(buffer));
            buffers.push(buf);
        }
        self.b.call(part.number, buffers);
        Ok(())
    }
}
