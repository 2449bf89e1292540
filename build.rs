//! Makes the folder of compiled functions known to every crate that depends on this one, and writes the wrapper
//! that tells the procedural macro what it is built for.

use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let kernels = out.join("kernels");
    fs::create_dir_all(&kernels)?;
    // Cargo hands the search path of a package to all that depend on it.
    println!("cargo:rustc-link-search=native={}", kernels.display());
    let triple = env::var("TARGET")?;
    let features = env::var("CARGO_CFG_TARGET_FEATURE").unwrap_or_default();
    fs::write(out.join("tensor_fn.rs"), wrapper(&triple, &features))?;
    Ok(())
}

/// `$crate` is this package under whatever name the user gave it.
fn wrapper(triple: &str, features: &str) -> String {
    format!(
        r##"#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/tensor_fn.md"))]
#[macro_export]
macro_rules! tensor_fn {{
    ($($items:tt)*) => {{
        $crate::__expand! {{ ($crate {triple:?} {features:?}) $($items)* }}
    }};
}}
"##
    )
}
