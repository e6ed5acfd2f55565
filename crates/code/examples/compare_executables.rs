//! Compares the machine code of two executables, and prints what a program can read: `cargo run --example compare_executables -- BASE CANDIDATE`.
//!
//! The first lines are `same N`, `moved N` and `reach same`, `reach differs` or `reach everywhere`. Then comes one line for each function that differs:
//! `own`, `data`, `added` or `removed`, and its name.
#![expect(clippy::print_stdout, reason = "its result is what it prints")]

use std::error::Error;
use std::{env, fs};

use perfcheck_code::{Reach, compare};

fn main() -> Result<(), Box<dyn Error>> {
    let paths: Vec<String> = env::args().skip(1).collect();
    let [base, candidate] = &paths[..] else {
        return Err("name two executables".into());
    };
    let found = compare(&fs::read(base)?, &fs::read(candidate)?)?;
    println!("same {}", found.same);
    println!("moved {}", found.moved);
    let reach = match found.reach {
        Reach::Same => "same",
        Reach::Differs(_) => "differs",
        Reach::Everywhere => "everywhere",
    };
    println!("reach {reach}");
    for function in found.functions {
        let kind = match (function.base, function.candidate) {
            (None, _) => "added",
            (_, None) => "removed",
            _ if function.same_code => "data",
            _ => "own",
        };
        println!("{kind} {}", function.name);
    }
    Ok(())
}
