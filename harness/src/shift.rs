//! Another place on the stack for each sample. Where the stack lies decides which addresses of a routine collide in the caches, for as long as
//! a process lives; so a launch would see one case of many. The environment's padding moves the stack from launch to launch.

use std::hint::black_box;
use std::mem::MaybeUninit;
use std::time::Duration;

use crate::sampler::Sampler;

/// A prime number, so that whoever takes every second or third sample sees all places.
const PLACES: usize = 17;

/// Sixteen bytes beside a multiple of a cache line: neither pages nor lines have the same offset twice.
const STEP: usize = 272;

type Shifted = fn(&mut Sampler<'_>, u64) -> Duration;

const SHIFTED: [Shifted; PLACES] = [
    lower::<0>,
    lower::<STEP>,
    lower::<{ 2 * STEP }>,
    lower::<{ 3 * STEP }>,
    lower::<{ 4 * STEP }>,
    lower::<{ 5 * STEP }>,
    lower::<{ 6 * STEP }>,
    lower::<{ 7 * STEP }>,
    lower::<{ 8 * STEP }>,
    lower::<{ 9 * STEP }>,
    lower::<{ 10 * STEP }>,
    lower::<{ 11 * STEP }>,
    lower::<{ 12 * STEP }>,
    lower::<{ 13 * STEP }>,
    lower::<{ 14 * STEP }>,
    lower::<{ 15 * STEP }>,
    lower::<{ 16 * STEP }>,
];

/// Takes the sample of this index, wherever on the stack its turn is.
pub(crate) fn sample(index: usize, sampler: &mut Sampler<'_>, iterations: u64) -> Duration {
    // Neighbours are far from one another, and a ramp of iterations is no ramp of places.
    SHIFTED[index * 7 % PLACES](sampler, iterations)
}

/// Takes a sample below so many bytes that nobody touches.
#[inline(never)]
fn lower<const BYTES: usize>(sampler: &mut Sampler<'_>, iterations: u64) -> Duration {
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
                sample(index, &mut sampler, 3);
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
