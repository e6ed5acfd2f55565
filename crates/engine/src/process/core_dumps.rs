//! Processes whose death is expected leave no core file.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Does `work`; the processes that it starts write no core file, wherever they die.
pub fn without_core_dumps<T>(work: impl FnOnce() -> T) -> T {
    let before = getrlimit(Resource::Core);
    // Where that is refused there is a core file at worst.
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
