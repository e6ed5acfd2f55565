//! The cache that both sides share: when sampling begins, it holds the data of neither.
//!
//! The side that was set up last has its data in the cache, and the other side has not. With large data that makes a side a tenth to a third faster
//! for a whole round. So where the data of both sides do not fit in together, memory of ours fills the cache after set-up.

use crate::host;
use crate::process::private_memory;

/// Both sides together have large data if they take more than this share of the cache, which other programs use, too.
const LARGE_SHARE: f64 = 0.75;
/// Times that the memory is written: a cache does not replace its oldest line first.
const PASSES: usize = 4;
/// Memory over the size of the cache: pages do not spread evenly over it.
const OVER_SIZE: u64 = 2;
/// Memory at most.
const MOST_BYTES: u64 = 256 << 20;
/// Bytes that a cache loads at once.
const LINE: usize = 64;

/// The last cache before memory.
pub(super) struct SharedCache {
    /// Its size; `None` where the system does not tell.
    bytes: Option<u64>,
    /// What it is filled with: made when it is first needed, and kept.
    filling: Vec<u8>,
}

impl SharedCache {
    /// That of this machine.
    pub(super) fn of_host() -> Self {
        Self {
            bytes: host::last_level_cache(&host::RealFiles),
            filling: Vec::new(),
        }
    }

    /// Fills it, if the data of these processes together are large for it.
    pub(super) fn level(&mut self, processes: impl Iterator<Item = u32>) {
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
