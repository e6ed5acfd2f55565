//! Draws random indices that depend only on a seed, the name of their stream and a block number.
//!
//! The generator is xoshiro256++ (Blackman and Vigna 2019). Block b of stream s under base seed z starts from the state that `SplitMix64` (Steele,
//! Lea and Flood 2014) fills from mix(mix(z ^ mix(fnv1a(s))) + b). Blocks share no state, so any number of threads can process them in any order.
//! Results depend on these rules: never change them silently.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Increment of `SplitMix64`: 2^64 divided by the golden ratio.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;

/// Returns the output of `SplitMix64` for the state `value`.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(GOLDEN);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// Returns the 64-bit FNV-1a hash of `text`.
fn fnv1a(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

/// Derives a seed for `name`, such as a benchmark's, from the seed `base`. Different names have unrelated seeds.
pub fn derived_seed(base: u64, name: &str) -> u64 {
    mix(base ^ mix(fnv1a(name)))
}

/// A named stream of random numbers, divided into numbered, independent blocks, so that results are the same for any number of threads.
///
/// The generator is xoshiro256++ (Blackman and Vigna 2019). `SplitMix64` (Steele, Lea and Flood 2014) fills its state for block b of the stream
/// named s under the seed z from mix(mix(z ^ mix(fnv1a(s))) + b). Results depend on these rules.
#[derive(Debug, Clone, Copy)]
pub struct Stream<'a> {
    /// Base seed.
    pub seed: u64,
    /// Purpose of the random numbers. Streams with different names are independent.
    pub name: &'a str,
}

/// Uniform random indices, drawn one after the other from one block of a [`Stream`].
#[derive(Debug, Clone)]
pub struct Draws {
    generator: Xoshiro256PlusPlus,
    spare: Option<u32>,
}

impl Draws {
    /// Starts at the first index of `block`.
    pub fn new(stream: Stream<'_>, block: u64) -> Self {
        let mut state = mix(derived_seed(stream.seed, stream.name).wrapping_add(block));
        let mut seed = [0; 32];
        for word in seed.chunks_exact_mut(8) {
            word.copy_from_slice(&mix(state).to_le_bytes());
            state = state.wrapping_add(GOLDEN);
        }
        Self {
            generator: Xoshiro256PlusPlus::from_seed(seed),
            spare: None,
        }
    }

    /// Draws an index below `count`, which must be at least 1.
    ///
    /// Multiplies and shifts without rejection (Lemire 2019). The relative error of an index's probability is therefore at most `count` / 2^32.
    pub fn index(&mut self, count: u32) -> usize {
        let bits = if let Some(bits) = self.spare.take() {
            bits
        } else {
            let both = self.generator.next_u64();
            self.spare = Some(both as u32);
            (both >> 32) as u32
        };
        scale_to_index(bits, count)
    }

    /// Draws two indices below `count`. The result is that of two calls of [`Self::index`], but faster.
    pub fn index_pair(&mut self, count: u32) -> (usize, usize) {
        self.unequal_pair(count, count)
    }

    /// Draws an index below `first` and one below `second`. The result is that of two calls of [`Self::index`], but faster.
    pub(super) fn unequal_pair(&mut self, first: u32, second: u32) -> (usize, usize) {
        if self.spare.is_some() {
            return (self.index(first), self.index(second));
        }
        let both = self.generator.next_u64();
        (
            scale_to_index((both >> 32) as u32, first),
            scale_to_index(both as u32, second),
        )
    }

    /// Shuffles `items` by the method of Fisher and Yates, so that every order is equally likely. There must be fewer than 2^32 items.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last as u32 + 1));
        }
    }
}

/// Maps 32 uniform bits to an index below `count`.
fn scale_to_index(bits: u32, count: u32) -> usize {
    ((u64::from(bits) * u64::from(count)) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, name: &str, block: u64) -> Vec<usize> {
        let mut draws = Draws::new(Stream { seed, name }, block);
        (0..8).map(|_| draws.index(1000)).collect()
    }

    #[test]
    fn splitmix_gives_its_reference_output() {
        // SplitMix64 seeded with 0: first and second output of the reference implementation.
        assert_eq!(mix(0), 0xE220_A839_7B1D_CDAF);
        assert_eq!(mix(GOLDEN), 0x6E78_9E6A_A1B9_65F4);
    }

    #[test]
    fn fnv_gives_its_reference_output() {
        assert_eq!(fnv1a(""), 0xCBF2_9CE4_8422_2325);
        assert_eq!(fnv1a("a"), 0xAF63_DC4C_8601_EC8C);
    }

    #[test]
    fn seed_name_and_block_each_change_the_sequence() {
        let reference = first(1, "t", 0);
        assert_eq!(first(1, "t", 0), reference);
        assert_ne!(first(2, "t", 0), reference);
        assert_ne!(first(1, "u", 0), reference);
        assert_ne!(first(1, "t", 1), reference);
    }

    #[test]
    fn pairs_are_the_indices_one_by_one() {
        let stream = Stream {
            seed: 3,
            name: "pairs",
        };
        let (mut singly, mut paired) = (Draws::new(stream, 0), Draws::new(stream, 0));
        for lead in [0, 1, 0] {
            for _ in 0..lead {
                assert_eq!(singly.index(50), paired.index(50));
            }
            for _ in 0..4 {
                let expected = (singly.index(50), singly.index(50));
                assert_eq!(paired.index_pair(50), expected);
                let expected = (singly.index(9), singly.index(70));
                assert_eq!(paired.unequal_pair(9, 70), expected);
            }
        }
    }

    #[test]
    fn indices_are_uniform() {
        let mut draws = Draws::new(
            Stream {
                seed: 7,
                name: "uniform",
            },
            0,
        );
        let mut counts = [0_u32; 5];
        for _ in 0..50_000 {
            counts[draws.index(5)] += 1;
        }
        // Chi-square with 4 degrees of freedom: 18.5 is its .999 quantile.
        let chi: f64 = counts
            .iter()
            .map(|n| (f64::from(*n) - 1e4).powi(2) / 1e4)
            .sum();
        assert!(chi < 18.5, "{counts:?}");
    }
}
