//! The cache that both sides share: when sampling begins, it must not favor the side whose data it holds.
//!
//! After setup, the cache holds the data of the side that was set up last. With large data that makes this side a tenth to a third faster for a whole
//! round. So if the data of both sides do not fit into the cache together, memory of our own fills it after setup.

use crate::host;
use crate::process::private_memory;

/// The data of both sides are large if they take more than this share of the cache, which other programs use too.
const LARGE_SHARE: f64 = 0.75;
/// Number of times that the memory is written, because a cache does not replace its oldest line first.
const PASSES: usize = 4;
/// Ratio of the memory to the size of the cache, because pages do not spread evenly over it.
const OVER_SIZE: u64 = 2;
/// Maximum size of the memory, in bytes.
const MOST_BYTES: u64 = 256 << 20;
/// Size of a cache line, in bytes.
const LINE: usize = 64;

/// The last cache before memory.
pub(super) struct SharedCache {
    /// Its size in bytes; `None` if the system does not report it.
    bytes: Option<u64>,
    /// The memory that fills it: allocated when it is first needed, and kept.
    filling: Vec<u8>,
}

impl SharedCache {
    /// Returns the cache of this machine.
    pub(super) fn of_host() -> Self {
        Self {
            bytes: host::last_level_cache(&host::RealFiles),
            filling: Vec::new(),
        }
    }

    /// Fills the cache, if the data of these processes together are large for it.
    pub(super) fn fill_if_large(&mut self, processes: impl Iterator<Item = u32>) {
        let data = processes.filter_map(private_memory).sum();
        if let Some(bytes) = self.bytes.filter(|bytes| is_large(data, *bytes)) {
            self.fill(bytes);
        }
    }

    fn fill(&mut self, bytes: u64) {
        let wanted = bytes.saturating_mul(OVER_SIZE).min(MOST_BYTES);
        self.filling.resize(usize::try_from(wanted).unwrap_or(0), 0);
        for _ in 0..PASSES {
            for line in self.filling.chunks_mut(LINE) {
                line[0] = line[0].wrapping_add(1);
            }
        }
    }
}

fn is_large(data: u64, cache: u64) -> bool {
    data as f64 > cache as f64 * LARGE_SHARE
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn data_that_fit_in_together_stay_where_they_are() {
        assert!(!is_large(2 * 8 * MIB, 32 * MIB));
        assert!(is_large(2 * 16 * MIB, 32 * MIB));
        assert!(!is_large(0, 32 * MIB), "what is not known is not large");
    }

    #[test]
    fn all_of_the_memory_is_written_and_it_has_a_limit() {
        let filled = |bytes| {
            let mut cache = SharedCache {
                bytes: Some(bytes),
                filling: Vec::new(),
            };
            cache.fill(bytes);
            cache.filling
        };
        let filling = filled(MIB);
        assert_eq!(filling.len() as u64, OVER_SIZE * MIB);
        let lines = filling.chunks(LINE);
        assert!(lines.into_iter().all(|line| usize::from(line[0]) == PASSES));
        assert_eq!(filled(1 << 40).len() as u64, MOST_BYTES);
    }
}
