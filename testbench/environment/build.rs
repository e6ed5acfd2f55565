//! Sets a variable for the compiler and adds a directory to the library path. Only cargo passes these on to the bench.

use std::path::PathBuf;

fn main() {
    let out_dir = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let libraries = out_dir.join("libraries");
    std::fs::create_dir_all(&libraries).expect("OUT_DIR is writable");
    println!("cargo::rustc-link-search=native={}", libraries.display());
    println!("cargo::rustc-env=ENVIRONMENT_FROM_BUILD=set by build.rs");
    println!("cargo::rerun-if-changed=build.rs");
}
