//! The whole program against the bench crates of testbench/, each a situation.

#[path = "../support/mod.rs"]
mod support;

mod situations;
