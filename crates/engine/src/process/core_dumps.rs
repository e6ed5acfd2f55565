//! Suppresses core files of processes that are expected to crash.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Runs `work`. Processes that it starts write no core files.
pub fn without_core_dumps<T>(work: impl FnOnce() -> T) -> T {
    let before = getrlimit(Resource::Core);
    // If this fails, a core file may be written, which does no harm.
    let _ = setrlimit(
        Resource::Core,
        Rlimit {
            current: Some(0),
            maximum: before.maximum,
        },
    );
    let done = work();
    let _ = setrlimit(Resource::Core, before);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_nothing_for_as_long_as_the_work_lasts() {
        let before = getrlimit(Resource::Core);
        let within = without_core_dumps(|| getrlimit(Resource::Core).current);
        assert_eq!(within, Some(0));
        assert_eq!(getrlimit(Resource::Core), before);
    }
}
