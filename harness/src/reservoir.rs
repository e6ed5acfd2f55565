//! A random choice of single times, each with the same chance, from a stream of unknown length (Vitter 1985, algorithm R). The generator is
//! seeded, so the same times give the same choice.

/// The number of times kept.
const PLACES: usize = 10_000;

/// The times kept so far.
#[derive(Debug)]
pub(crate) struct Reservoir {
    kept_ns: Vec<u64>,
    seen: u64,
    draws: SplitMix,
}

/// `SplitMix64` (Steele, Lea and Flood 2014).
#[derive(Debug, Clone, Copy)]
struct SplitMix {
    state: u64,
}

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `bound`. The high half of the product favors no number by more than `bound` / 2^64 (Lemire 2019).
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

impl Reservoir {
    /// Makes an empty reservoir and touches all its memory.
    pub(crate) fn new() -> Self {
        let mut kept_ns = Vec::new();
        kept_ns.resize(PLACES, std::hint::black_box(0));
        kept_ns.clear();
        Self {
            kept_ns,
            seen: 0,
            draws: SplitMix { state: 0 },
        }
    }

    /// Restarts the generator with this seed.
    pub(crate) fn seed(&mut self, seed: u64) {
        self.draws = SplitMix { state: seed };
    }

    /// Returns the seed for a benchmark in a process.
    pub(crate) fn derive_seed(id: &str, launch: u64) -> u64 {
        // FNV-1a.
        let hash = id.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        });
        SplitMix {
            state: hash ^ launch.rotate_left(32),
        }
        .next()
    }

    /// Offers a time. The first `PLACES` times are kept; the n-th replaces a random one with probability `PLACES` / n.
    pub(crate) fn offer(&mut self, ns: u64) {
        self.seen += 1;
        if self.kept_ns.len() < PLACES {
            self.kept_ns.push(ns);
            return;
        }
        let place = self.draws.below(self.seen) as usize;
        if let Some(kept) = self.kept_ns.get_mut(place) {
            *kept = ns;
        }
    }

    /// Returns at most `wanted` of the kept times; each subset of that size has the same chance (Knuth 1997, algorithm 3.4.2 S). Taking the first
    /// ones instead would favor the oldest times.
    pub(crate) fn draw_sample(&self, wanted: usize) -> Vec<u64> {
        let mut draws = self.draws;
        let mut needed = wanted.min(self.kept_ns.len()) as u64;
        let mut left = self.kept_ns.len() as u64;
        let mut chosen = Vec::with_capacity(needed as usize);
        for &ns in &self.kept_ns {
            if draws.below(left) < needed {
                chosen.push(ns);
                needed -= 1;
            }
            left -= 1;
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeded(id: &str, launch: u64) -> Reservoir {
        let mut reservoir = Reservoir::new();
        reservoir.seed(Reservoir::derive_seed(id, launch));
        reservoir
    }

    /// Returns the chi-square statistic of the kept values against a uniform choice of 0..n, over 100 bins.
    fn chi_square(kept: &[u64], n: u64) -> f64 {
        let mut bins = [0_u32; 100];
        for &value in kept {
            bins[(value * 100 / n) as usize] += 1;
        }
        let expected = kept.len() as f64 / 100.0;
        bins.iter()
            .map(|&count| (f64::from(count) - expected).powi(2) / expected)
            .sum()
    }

    #[test]
    fn b9_the_first_ten_thousand_are_kept_and_no_more() {
        let mut reservoir = seeded("read", 1);
        (0..10_000).for_each(|ns| reservoir.offer(ns));
        assert_eq!(
            reservoir.draw_sample(20_000),
            (0..10_000).collect::<Vec<_>>()
        );
        reservoir.offer(10_000);
        assert_eq!(reservoir.kept_ns.len(), 10_000);
    }

    /// The 99.9 % quantile of chi-square with 99 degrees of freedom is 148.23. If half of the places stayed with the first ten thousand, the
    /// statistic would be 100,000.
    #[test]
    fn b9_every_time_has_the_same_chance() {
        for launch in 0..5 {
            let mut reservoir = seeded("read", launch);
            (0..1_000_000).for_each(|ns| reservoir.offer(ns));
            let all = reservoir.draw_sample(PLACES);
            assert_eq!(all.len(), PLACES);
            assert!(chi_square(&all, 1_000_000) < 148.23);
            let some = reservoir.draw_sample(1000);
            assert_eq!(some.len(), 1000);
            assert!(chi_square(&some, 1_000_000) < 148.23);
        }
    }

    #[test]
    fn b9_the_choice_follows_from_id_and_launch() {
        let kept = |id, launch| {
            let mut reservoir = seeded(id, launch);
            (0..20_000).for_each(|ns| reservoir.offer(ns));
            reservoir.draw_sample(100)
        };
        assert_eq!(kept("a", 3), kept("a", 3));
        assert_ne!(kept("a", 3), kept("a", 4));
        assert_ne!(kept("a", 3), kept("b", 3));
    }
}
