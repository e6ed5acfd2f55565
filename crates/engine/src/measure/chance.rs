//! All random choices of a run, drawn from its seed: the order of benchmarks and of sides, the processor, the size of the environment.

use crate::cargo::BenchTarget;
use perfcheck_analysis::model::Side;
use perfcheck_stats::{Draws, Stream};

/// Upper bound of the padding, in bytes: a page, so that every alignment of the stack within a page can occur.
const LARGEST_PADDING: u32 = 4096;

/// Returns the random numbers for `purpose` in `block` of a target.
pub(super) fn stream(seed: u64, purpose: &str, target: &BenchTarget, block: u64) -> Draws {
    let name = format!("{purpose}/{}/{}", target.package, target.target);
    Draws::new(Stream { seed, name: &name }, block)
}

/// Draws the number of bytes of padding in the environment of a process.
pub(super) fn draw_padding(seed: u64, target: &BenchTarget, block: u64) -> u32 {
    stream(seed, "padding", target, block).index(LARGEST_PADDING) as u32
}

/// Draws the order of the two sides.
pub(super) fn draw_order(coin: &mut Draws) -> [Side; 2] {
    if coin.index(2) == 0 {
        [Side::Base, Side::Candidate]
    } else {
        [Side::Candidate, Side::Base]
    }
}

/// Draws the side that is sampled first in each quad of a round. Each draw decides two quads: the second one begins with the other side, so that the
/// two are ABBA and BAAB.
pub(super) fn draw_leaders(coin: &mut Draws, quads: usize) -> Vec<Side> {
    let pairs = std::iter::repeat_with(|| draw_order(coin));
    pairs.flatten().take(quads).collect()
}

/// Returns the order of the two sides in a round whose processes run one after the other. Each draw decides two rounds: the second one has the
/// reverse order, so that the two make ABBA or BAAB.
pub(super) fn order_of_round(
    seed: u64,
    purpose: &str,
    target: &BenchTarget,
    round: u32,
) -> [Side; 2] {
    let [first, second] = draw_order(&mut stream(seed, purpose, target, u64::from(round / 2)));
    if round.is_multiple_of(2) {
        [first, second]
    } else {
        [second, first]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::model::{SkipSupport, TargetFacts};
    use std::collections::BTreeMap;

    #[test]
    fn of_two_rounds_the_second_turns_the_order_of_the_first_around() {
        let target = BenchTarget {
            package: "p".into(),
            target: "t".into(),
            program: "/p".into(),
            first_arguments: Vec::new(),
            directory: "/".into(),
            variables: BTreeMap::new(),
            facts: TargetFacts::default(),
            skipping: SkipSupport::Works,
        };
        let of = |round| order_of_round(7, "sides", &target, round);
        for pair in 0..20 {
            let [first, second] = of(2 * pair);
            assert_ne!(first, second);
            assert_eq!(of(2 * pair + 1), [second, first]);
        }
        let firsts: Vec<Side> = (0..20).map(|pair| of(2 * pair)[0]).collect();
        for side in Side::BOTH {
            assert!(firsts.contains(&side), "{side} is never the first");
        }
    }

    #[test]
    fn of_two_quads_each_side_leads_one_and_a_coin_says_which() {
        let stream = Stream {
            seed: 7,
            name: "quads",
        };
        let of = |quads| draw_leaders(&mut Draws::new(stream, 0), quads);
        let all = of(40);
        assert_eq!(all.len(), 40);
        let firsts: Vec<Side> = all.chunks(2).map(|two| two[0]).collect();
        assert!(all.chunks(2).all(|two| two[0] != two[1]), "{all:?}");
        for side in Side::BOTH {
            assert!(firsts.contains(&side), "{side} never leads the first");
        }
        assert_eq!(of(1), all[..1]);
        assert_eq!(of(0), []);
    }
}
