//! Wall time for the record, and whether the machine slept.

#![expect(
    clippy::disallowed_methods,
    reason = "the place that reads the wall clock"
)]

use jiff::Timestamp as Instant;
use std::time::Duration;

use crate::model::Timestamp;

/// The time now, UTC.
pub fn now() -> Timestamp {
    let nanoseconds = Instant::now().as_nanosecond();
    Timestamp(i64::try_from(nanoseconds).unwrap_or(i64::MAX))
}

/// A stored time as people and machines read it, to the second, e.g. `2026-11-21T03:04:05Z`.
pub fn to_rfc3339(time: Timestamp) -> String {
    Instant::from_nanosecond(i128::from(time.0))
        .map_or_else(|_| time.0.to_string(), |instant| format!("{instant:.0}"))
}

/// How long the machine has been suspended since it was started; zero where the system does not tell.
///
/// A jump between two calls means that it slept in between.
pub fn suspended() -> Duration {
    #[cfg(target_os = "linux")]
    {
        use rustix::time::{ClockId, clock_gettime};
        let read = |clock| Duration::try_from(clock_gettime(clock)).unwrap_or_default();
        let monotonic = read(ClockId::Monotonic);
        read(ClockId::Boottime).saturating_sub(monotonic)
    }
    #[cfg(not(target_os = "linux"))]
    Duration::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_to_the_second_in_utc() {
        assert_eq!(to_rfc3339(Timestamp(1_000_000_000)), "1970-01-01T00:00:01Z");
        assert_eq!(to_rfc3339(Timestamp(1_999_999_999)), "1970-01-01T00:00:01Z");
    }
}
