//! A program that does not speak the protocol: it ends at once and prints nothing.

fn main() {}
