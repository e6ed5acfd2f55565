//! The benchmarks in the tool's own executable: started as a bench, it measures the machine without any project.
//!
//! One depends on the processor alone, the other on memory that neighbors share.

use std::hint::black_box;
use std::process::ExitCode;

use perfcheck::{BenchFunction, Bencher, Suite};

/// The argument that turns the tool's executable into a bench.
pub const WORKLOADS_ARGUMENT: &str = "__workloads";

/// Steps of an iteration of either benchmark.
const STEPS: u32 = 5_000;
/// Entries of the table: 4 MiB, more than the private caches of most cores.
const ENTRIES: u32 = 1 << 20;

/// Runs the workloads as the harness protocol requests.
pub fn run_workloads() -> ExitCode {
    perfcheck::run(&[
        BenchFunction::new("processor", processor),
        BenchFunction::new("memory", memory),
    ])
}

fn processor(suite: &mut Suite) {
    suite.bench("processor", |bencher: &mut Bencher<'_>| {
        bencher.iter(|| steps(black_box(0x9E37_79B9_7F4A_7C15)));
    });
}

/// Runs xorshift64* (Marsaglia 2003; Vigna 2016); each step depends on the previous one.
fn steps(mut state: u64) -> u64 {
    for _ in 0..STEPS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state = state.wrapping_mul(0x2545_F491_4F6C_DD1D);
    }
    state
}

fn memory(suite: &mut Suite) {
    suite.bench("memory", |bencher: &mut Bencher<'_>| {
        let table = one_cycle();
        let mut place = 0;
        bencher.iter(|| {
            place = walk(&table, place);
            place
        });
    });
}

/// Returns the successor of each entry: a linear congruential sequence, which visits all entries before it repeats (Hull and Dobell 1962), in an
/// order that processors cannot predict.
fn one_cycle() -> Vec<u32> {
    let next = |entry: u32| entry.wrapping_mul(1_664_525).wrapping_add(1_013_904_223) % ENTRIES;
    (0..ENTRIES).map(next).collect()
}

fn walk(table: &[u32], mut place: u32) -> u32 {
    for _ in 0..STEPS {
        place = table[place as usize];
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_one_cycle_through_all_entries() {
        let table = one_cycle();
        let (mut place, mut steps) = (0, 0);
        loop {
            place = table[place as usize];
            steps += 1;
            if place == 0 {
                break;
            }
        }
        assert_eq!(steps, ENTRIES);
    }
}
