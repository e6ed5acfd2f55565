//! The whole tool as users call it, and what it writes. Times come from the scripted clock or from benchmarks that make up their own, so that every
//! verdict is exact; no test depends on how fast the machine is.

mod against;
mod book;
mod commands;
mod messages;
mod page;
mod store_failures;
mod support;
mod team;
mod testbench;
