//! Tests of the whole tool as users call it, and of its output. Times come from the scripted clock or are made up by the benchmarks, so that every
//! verdict is exact. No test depends on the speed of the machine.

mod against;
mod book;
mod commands;
mod messages;
mod page;
mod store_failures;
mod support;
mod team;
mod testbench;
