//! Versions of a function, each for a case, and the choice between them.

use super::split::Parts;
use super::{Builder, Inst, Kernel, Target};
use crate::diag::Bug;
use crate::dim::facts::Condition;
use crate::lanes::{Lanes, Prim};

/// A function that enters the first of `versions` whose conditions all hold, or else `general`.
///
/// The kernels of all versions become parts; those that are equal are one.
pub fn choose(target: &Target, versions: Vec<(&[Condition], Parts)>, general: Parts) -> Result<Parts, Bug> {
    if versions.is_empty() {
        return Ok(general);
    }
    let mut all = Vec::new();
    let mut texts = Vec::new();
    let mut builder = Builder::new(target.clone());
    let depth = versions.len();
    for (conditions, version) in versions {
        let part = absorb(&mut all, &mut texts, version);
        let mut holds = builder.int(tensorjit_runtime::abi::DType::Bool, 1);
        for condition in conditions {
            let condition = builder.holds(condition)?;
            holds = builder.prim(Prim::And, &[holds, condition]);
        }
        builder.open_branch(holds);
        builder.enter(part);
        builder.otherwise(Vec::new());
    }
    let part = absorb(&mut all, &mut texts, general);
    builder.enter(part);
    (0..depth).for_each(|_| {
        builder.close_branch(Vec::new());
    });
    Ok(Parts { entry: builder.finish(), parts: all })
}

/// Adds the kernels of a version to the parts; gives the number of its entry.
fn absorb(all: &mut Vec<Kernel>, texts: &mut Vec<String>, version: Parts) -> u32 {
    let mut add = |kernel: Kernel| {
        let text = kernel.to_string();
        let known = texts.iter().position(|other| *other == text);
        known.unwrap_or_else(|| {
            all.push(kernel);
            texts.push(text);
            texts.len() - 1
        }) as u32
    };
    let numbers: Vec<u32> = version.parts.into_iter().map(&mut add).collect();
    let mut entry = version.entry;
    for inst in &mut entry.body.insts {
        if let Inst::Call { part, .. } = inst {
            *part = numbers[*part as usize];
        }
    }
    add(entry)
}
