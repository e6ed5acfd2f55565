//! Upper limits on all input from outside, in one table. Input comes from benches, tables of Cargo.toml, the command line, imported files and the
//! store.
//!
//! The code that reads the input rejects larger values and names the limit. Messages are cut instead, because they are only shown.

use std::fmt::Write;
use std::ops::RangeInclusive;
use std::time::Duration;

/// All counts and times must be below this number, because the store and many JSON parsers use signed integers.
pub const BEYOND_NUMBERS: u64 = 1 << 63;
/// The allowed number of processes in a run.
pub const PROCESSES: RangeInclusive<u32> = 1..=10_000;
/// The allowed number of samples in a process. The upper limit also holds for one request (docs/internals/src/protocol.md, section 4).
pub const SAMPLES: RangeInclusive<u32> = 2..=1_000_000;
/// The allowed number of iterations of a warm-up that is given as a number of iterations. Each of them is one request.
pub const WARM_UP_ITERATIONS: RangeInclusive<u32> = 1..=1_000_000;
/// The allowed disk space for kept builds, in MiB.
pub const KEPT_BUILDS_MIB: RangeInclusive<u32> = 0..=1_048_576;
/// The allowed number of resamples of a bootstrap.
pub const RESAMPLES: RangeInclusive<u32> = 1_000..=100_000_000;
/// The longest warm-up and the longest measurement of a process.
pub const LONGEST_PHASE: Duration = Duration::from_secs(24 * 60 * 60);
/// The largest number of benchmarks in an executable.
pub const MOST_BENCHMARKS: usize = 100_000;
/// The largest size, in bytes, of an id, another name, a unit or an author's version.
pub const LONGEST_NAME_BYTES: usize = 1_000;
/// The largest number of characters in a message that a bench sends.
pub const LONGEST_MESSAGE: usize = 1_000;
/// The largest size, in bytes, of a frame, and of all frames of one answer together.
pub const LONGEST_ANSWER_BYTES: usize = 64 << 20;
/// If more functions than this differ between two builds of a bench target, only this many are stored with their names and sizes.
pub const MOST_CHANGED_FUNCTIONS: usize = 100;
/// The largest number of functions that are stored with a count of instructions or samples.
pub const MOST_COUNTED_FUNCTIONS: usize = 40;
/// The largest number of instruction counts of a benchmark in one run.
pub const MOST_COUNTS: usize = 1_000;
/// The largest number of entries to which stored data in run-length encoding may expand. Without a limit, a few damaged bytes could request all
/// memory.
pub const MOST_REPEATED: u64 = 1_000_000;

/// Returns `value` if it is in `range`. The error message names the allowed range.
pub fn check_range(range: &RangeInclusive<u32>, value: u64) -> Result<u32, String> {
    let found = u32::try_from(value).ok();
    found.filter(|found| range.contains(found)).ok_or_else(|| {
        let (least, most) = (range.start(), range.end());
        format!("{value} is not a whole number from {least} to {most}")
    })
}

/// Returns `time` if it is at most [`LONGEST_PHASE`]. The error message names this limit.
pub fn check_phase(time: Duration) -> Result<Duration, String> {
    if time <= LONGEST_PHASE {
        return Ok(time);
    }
    let hours = LONGEST_PHASE.as_secs() / 3600;
    Err(format!("must be at most {hours} hours"))
}

/// Cuts a message that is too long, and appends its whole length.
pub fn cut_message(mut text: String) -> String {
    if let Some((end, _)) = text.char_indices().nth(LONGEST_MESSAGE) {
        let all = text.len();
        text.truncate(end);
        let _ = write!(text, "… (truncated; {all} bytes in all)");
    }
    text
}

/// Cuts a name that is too long. This is only for names that people read, because a cut name identifies nothing.
pub fn cut_name(mut text: String) -> String {
    if text.len() > LONGEST_NAME_BYTES {
        let mut end = LONGEST_NAME_BYTES - '…'.len_utf8();
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Checks the length of a name. The error continues a sentence that begins with the kind of name, such as `its id`.
pub fn check_name(text: &str) -> Result<(), String> {
    if text.len() <= LONGEST_NAME_BYTES {
        return Ok(());
    }
    let length = text.len();
    Err(format!("has {length} bytes (limit: {LONGEST_NAME_BYTES})"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_a_range_are_within_and_their_neighbours_are_not() {
        for range in [PROCESSES, SAMPLES, WARM_UP_ITERATIONS, RESAMPLES] {
            let (least, most) = (*range.start(), *range.end());
            assert_eq!(check_range(&range, least.into()), Ok(least));
            assert_eq!(check_range(&range, most.into()), Ok(most));
            for beyond in [u64::from(least) - 1, u64::from(most) + 1, u64::MAX] {
                let message = check_range(&range, beyond).expect_err("beyond");
                assert!(
                    message.contains(&format!("from {least} to {most}")),
                    "{message}"
                );
            }
        }
        assert!(check_phase(LONGEST_PHASE).is_ok());
        assert!(check_phase(LONGEST_PHASE + Duration::from_nanos(1)).is_err());
    }

    #[test]
    fn a_message_is_cut_between_characters_and_a_name_is_refused() {
        let fits = "é".repeat(LONGEST_MESSAGE);
        assert_eq!(cut_message(fits.clone()), fits);
        let cut = cut_message(format!("{fits}é"));
        assert_eq!(cut, format!("{fits}… (truncated; 2002 bytes in all)"));
        assert!(check_name(&"x".repeat(LONGEST_NAME_BYTES)).is_ok());
        assert_eq!(cut_name("x".repeat(1000)), "x".repeat(1000));
        assert_eq!(cut_name("é".repeat(501)), "é".repeat(498) + "…");
        let message = check_name(&"x".repeat(LONGEST_NAME_BYTES + 1)).expect_err("too long");
        assert_eq!(message, "has 1001 bytes (limit: 1000)");
    }

    #[test]
    fn limits_are_the_numbers_that_the_documentation_tells() {
        assert_eq!(BEYOND_NUMBERS, 9_223_372_036_854_775_808);
        assert_eq!(LONGEST_ANSWER_BYTES, 67_108_864);
        let day = Duration::from_secs(86_400);
        assert_eq!(check_phase(day), Ok(day));
        let longer = check_phase(day + Duration::from_nanos(1));
        assert_eq!(longer, Err("must be at most 24 hours".to_owned()));
        let beyond = check_range(&PROCESSES, 0);
        let message = "0 is not a whole number from 1 to 10000";
        assert_eq!(beyond, Err(message.to_owned()));
    }
}
