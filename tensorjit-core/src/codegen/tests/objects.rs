//! Objects, archives and targets as the linker and the build see them.

use std::process::Command;
use std::{env, fs, process};

use tensorjit_runtime::abi::{DType, Level};

use super::{TRIPLE, runnable};
use crate::codegen::object::{MAY_IMPORT, defined_symbols, undefined_symbols};
use crate::codegen::{UnsupportedTarget, Visibility, archive, compile, targets};
use crate::lanes::{Cmp, Prim};
use crate::loops::tests::Sketch;
use crate::loops::{Inst, Kernel, STREAM_BYTES, Target, Ty};

/// Loads, gathers and stores of one type, with and without a mask that is known at run time alone, and streamed.
fn accesses(target: &Target, dtype: DType, lanes: u32) -> Kernel {
    let mut k = Sketch::on(target.clone());
    let (input, output) = (k.arg(dtype, 0), k.arg(dtype, 1));
    let (zero, n) = (k.int(DType::I64, 0), k.symbol(0));
    let numbers = k.ty(DType::I64, lanes);
    k.push(Inst::Lanes(numbers));
    let end = k.splat(n, lanes);
    let mask = k.prim(Prim::Cmp(Cmp::Lt), &[numbers, end], Ty { dtype: DType::Bool, lanes });
    for mask in [None, Some(mask)] {
        let loaded = k.load(input, zero, lanes, mask);
        k.store(output, zero, loaded, mask);
        if lanes > 1 {
            let gathered = k.gather(input, numbers, lanes, mask);
            k.store(output, n, gathered, mask);
        }
        if mask.is_none() && lanes * dtype.size() as u32 >= STREAM_BYTES {
            k.push(Inst::Prefetch { buf: output, offset: n });
            k.push(Inst::Store { buf: output, offset: zero, value: loaded, mask, streamed: true });
            k.push(Inst::Fence);
        }
    }
    k.finish()
}

/// Masked accesses import nothing either, on any target, and an object exports its kernels alone.
#[test]
fn accesses_import_nothing() {
    for triple in ["x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"] {
        for target in targets(triple, None).expect("a supported target") {
            let kernels: Vec<(String, Kernel)> = DType::ALL
                .into_iter()
                .flat_map(|dtype| [1, 2, 4, 8, 16, 32].map(|lanes| (dtype, lanes)))
                .map(|(dtype, lanes)| {
                    (format!("{}_{lanes:02}", dtype.name()), accesses(&target, dtype, lanes))
                })
                .collect();
            let object = compile(&kernels, Visibility::Hidden).expect("compiles").bytes;
            let imports = undefined_symbols(&object).expect("reads");
            assert!(imports.iter().all(|name| MAY_IMPORT.contains(&name.as_str())), "{imports:?}");
            let mut names: Vec<String> = kernels.into_iter().map(|(name, _)| name).collect();
            names.sort();
            assert_eq!(defined_symbols(&object).expect("reads"), names);
        }
    }
}

/// Two archives that share a kernel link into one library, even where all their members are taken, and have the
/// same bytes whenever they are written.
#[test]
fn archives_share_kernels() {
    let target = runnable().pop().expect("a level");
    let member = |name: &str, lanes| {
        let kernels = [(name.to_owned(), accesses(&target, DType::F32, lanes))];
        (format!("{name}.o"), compile(&kernels, Visibility::Hidden).expect("compiles").bytes)
    };
    let (shared, first, second) = (member("shared", 4), member("first", 1), member("second", 2));
    let scratch = env::temp_dir().join(format!("tensorjit-archives-{}", process::id()));
    fs::create_dir_all(&scratch).expect("a folder");
    let mut archives = Vec::new();
    for (name, members) in [("a", [shared.clone(), first]), ("b", [shared, second])] {
        let bytes = archive::write(&members).expect("writes");
        assert_eq!(archive::write(&members).expect("writes"), bytes);
        archives.push(scratch.join(format!("lib{name}.a")));
        fs::write(&archives[archives.len() - 1], bytes).expect("writes");
    }
    // All members, and then those that somebody names.
    for option in ["-Wl,--whole-archive", "-Wl,--require-defined=second,--require-defined=shared"] {
        let mut link = Command::new("cc");
        link.args(["-shared", "-nostdlib", option, "-o"]).arg(scratch.join("both.so")).args(&archives);
        let output = link.output().expect("a linker");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    fs::remove_dir_all(&scratch).expect("the folder of this test");
}

/// Levels by architecture, from the highest down; processors by what they have.
#[test]
fn targets_follow_the_build() {
    let shape = |triple: &str, cpu: Option<&str>| {
        let found = targets(triple, cpu)?;
        Ok::<_, UnsupportedTarget>(
            found
                .into_iter()
                .map(|t| (t.level, t.vector_bits, t.vector_registers, t.fma))
                .collect::<Vec<_>>(),
        )
    };
    let linux = "x86_64-unknown-linux-gnu";
    let levels =
        vec![(Level::X86V4, 512, 32, true), (Level::X86V3, 256, 16, true), (Level::X86V2, 128, 16, false)];
    let cases = [
        (linux, None, levels.clone()),
        ("aarch64-unknown-linux-gnu", None, vec![(Level::Neon, 128, 32, true)]),
        ("x86_64-unknown-linux-musl", Some("haswell"), vec![(Level::Native, 256, 16, true)]),
        (linux, Some("znver4"), vec![(Level::Native, 512, 32, true)]),
        (linux, Some("sandybridge"), vec![(Level::Native, 256, 16, false)]),
        (linux, Some("nehalem"), vec![(Level::Native, 128, 16, false)]),
        ("aarch64-unknown-linux-gnu", Some("neoverse-v1"), vec![(Level::Native, 128, 32, true)]),
        // Less than the lowest level: the machine that runs it decides.
        (linux, Some("x86-64"), levels),
    ];
    for (triple, cpu, expected) in cases {
        assert_eq!(shape(triple, cpu), Ok(expected), "{triple} {cpu:?}");
    }
    for triple in ["wasm32-unknown-unknown", "x86_64-pc-windows-msvc", "riscv64gc-unknown-linux-gnu", "odd"] {
        let unsupported = UnsupportedTarget::Triple { triple: triple.into() };
        assert_eq!(shape(triple, None), Err(unsupported));
    }
    let native = targets(TRIPLE, Some("native")).expect("this machine");
    assert_eq!(native.len(), 1);
    assert_ne!(native[0].cpu, "native");
    let other = if cfg!(target_arch = "aarch64") { linux } else { "aarch64-unknown-linux-gnu" };
    assert!(matches!(targets(other, Some("native")), Err(UnsupportedTarget::NotNative { .. })));
}
