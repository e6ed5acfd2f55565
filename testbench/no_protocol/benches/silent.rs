//! A program that is no bench of ours: it ends at once and says nothing.

fn main() {}
