//! Moves the stack for each sample. The position of the stack decides which addresses of a routine collide in the caches, and it stays the same
//! for the life of a process, so without this a process would see one case of many. The padding of the environment likewise moves the stack from
//! process to process.

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::time::Duration;

use crate::sampler::Sampler;

/// The number of positions. It is prime, so that samples at any regular interval, such as every second or third one, reach all positions.
const PLACES: usize = 17;

/// The distance between positions: a multiple of a cache line plus sixteen bytes, so that positions differ in their offsets within a page and
/// within a cache line.
const STEP: usize = 272;

type Shifted = fn(&mut Sampler<'_>, u64) -> Duration;

const SHIFTED: [Shifted; PLACES] = [
    sample_below::<0>,
    sample_below::<STEP>,
    sample_below::<{ 2 * STEP }>,
    sample_below::<{ 3 * STEP }>,
    sample_below::<{ 4 * STEP }>,
    sample_below::<{ 5 * STEP }>,
    sample_below::<{ 6 * STEP }>,
    sample_below::<{ 7 * STEP }>,
    sample_below::<{ 8 * STEP }>,
    sample_below::<{ 9 * STEP }>,
    sample_below::<{ 10 * STEP }>,
    sample_below::<{ 11 * STEP }>,
    sample_below::<{ 12 * STEP }>,
    sample_below::<{ 13 * STEP }>,
    sample_below::<{ 14 * STEP }>,
    sample_below::<{ 15 * STEP }>,
    sample_below::<{ 16 * STEP }>,
];

/// Takes the sample with this index at its position on the stack.
pub(crate) fn sample_at_position(
    index: usize,
    sampler: &mut Sampler<'_>,
    iterations: u64,
) -> Duration {
    // Successive samples are far apart, so a ramp of iterations is not also a ramp of positions.
    SHIFTED[index * 7 % PLACES](sampler, iterations)
}

/// Takes a sample below an unused block of `BYTES` on the stack.
#[inline(never)]
fn sample_below<const BYTES: usize>(sampler: &mut Sampler<'_>, iterations: u64) -> Duration {
    let room = [MaybeUninit::<u8>::uninit(); BYTES];
    black_box(room.as_ptr());
    let elapsed = sampler(iterations);
    black_box(room.as_ptr());
    elapsed
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn c_x10_samples_meet_every_place_on_the_stack() {
        let places_of = |indices: &mut dyn Iterator<Item = usize>| {
            let mut places = BTreeSet::new();
            for index in indices {
                let mut sampler = |iterations| {
                    let local = black_box(0_u8);
                    let address = black_box(&raw const local).addr();
                    places.insert((address % 4096, iterations));
                    Duration::ZERO
                };
                sample_at_position(index, &mut sampler, 3);
            }
            places
        };
        let all = places_of(&mut (0..PLACES));
        assert_eq!(all.len(), PLACES);
        let phases: BTreeSet<_> = all.iter().map(|(address, _)| address % 64).collect();
        assert_eq!(phases.len(), 4, "every place in a cache line");
        assert_eq!(places_of(&mut (1..100).step_by(2)), all);
        assert_eq!(places_of(&mut [0, PLACES].into_iter()).len(), 1);
    }
}
