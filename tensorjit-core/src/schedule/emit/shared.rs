//! Strips with equal loops: one part of the function, made once and called with the places of each.

use std::collections::BTreeMap;

use super::{Emit, Schedule, arguments};
use crate::diag::Bug;
use crate::dim::Dim;
use crate::loops::split::{Limits, Pool, size};
use crate::loops::{Buf, Buffer, Builder, Kernel, Target};
use crate::schedule::alike::{self, Alike};
use crate::schedule::strips::Strip;

/// The parts, in order, for a strip and for those that are like it.
pub(super) struct Shared(Vec<Part>);

struct Part {
    number: u32,
    /// What it takes, with the places of the first strip.
    buffers: Vec<Buffer>,
}

/// What is called for strips that are like others, by the first of these; nothing where all of them are little.
pub(super) fn parts(
    schedule: &Schedule<'_>,
    target: &Target,
    limits: Limits,
) -> Result<(BTreeMap<usize, Shared>, Pool), Bug> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    schedule.alike.iter().for_each(|strip| *counts.entry(strip.first).or_default() += 1);
    let (mut shared, mut pool, mut total) = (BTreeMap::new(), Pool::default(), 0);
    for (first, count) in counts.into_iter().filter(|(_, count)| *count > 1) {
        let kernel = kernel(schedule, &schedule.strips[first], target)?;
        total += count * size(&kernel.body);
        let buffer = |buf: Buf| kernel.buffers[buf.0 as usize].clone();
        let part = |(number, buffers): (u32, Vec<Buf>)| Part {
            number,
            buffers: buffers.into_iter().map(buffer).collect(),
        };
        shared.insert(first, Shared(pool.add(&kernel).into_iter().map(part).collect()));
    }
    Ok(if total < limits.whole { Default::default() } else { (shared, pool) })
}

/// The loops of a strip alone.
fn kernel(schedule: &Schedule<'_>, strip: &Strip, target: &Target) -> Result<Kernel, Bug> {
    let mut b = Builder::new(target.clone());
    let arguments = arguments(schedule, &mut b);
    let mut emit = Emit::new(schedule, std::slice::from_ref(strip), b, arguments, Dim::default());
    emit.strip(strip)?;
    Ok(emit.b.finish())
}

impl Emit<'_> {
    /// Calls the parts for a strip that is like the first, with its own places.
    pub(super) fn call(
        &mut self,
        strip: &Strip,
        shared: &Shared,
        [first, own]: [&Alike; 2],
        known: &mut BTreeMap<Buffer, Buf>,
    ) -> Result<(), Bug> {
        let groups = self.groups;
        groups[strip.groups.clone()].iter().for_each(|group| self.pin_results(group));
        for Part { number, buffers } in &shared.0 {
            let mut own_buffers = Vec::with_capacity(buffers.len());
            for Buffer { dtype, place } in buffers {
                let place = alike::translated(place, first, own)
                    .ok_or_else(|| Bug::new("schedule", format!("{place:?} is no place of a strip")))?;
                let buffer = Buffer { dtype: *dtype, place };
                let buf = *known.entry(buffer.clone()).or_insert_with(|| self.b.buffer(buffer));
                own_buffers.push(buf);
            }
            self.b.call(*number, own_buffers);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
