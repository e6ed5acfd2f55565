//! One to fifty milliseconds a call, with a heap that grows and shrinks.

use std::collections::BTreeMap;
use std::hint::black_box;

use arena_subject::slow::percent;
use arena_subject::workloads::mix;

/// Texts are made, sorted and gathered by their lengths, and dropped.
pub struct Texts {
    count: usize,
}

impl Texts {
    /// So many texts in the base.
    pub fn set_up(count: usize) -> Self {
        let count = count * percent() / 100;
        Self { count }
    }

    pub fn run(&mut self) -> u64 {
        let mut texts: Vec<String> = (0..black_box(self.count) as u64)
            .map(|i| {
                let number = mix(i);
                format!("{number:x}/{}", "y".repeat((number % 40) as usize))
            })
            .collect();
        texts.sort_unstable();
        let mut by_length: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for text in &texts {
            by_length.entry(text.len()).or_default().push(text);
        }
        by_length.values().map(|of_it| of_it.len() as u64).sum()
    }
}

/// Blocks of numbers, each of its own allocation, sorted and summed.
pub struct Blocks {
    count: usize,
}

impl Blocks {
    const LENGTH: u64 = 4_000;

    /// So many blocks in the base, at least 50.
    pub fn set_up(count: usize) -> Self {
        let count = count * percent() / 100;
        Self { count }
    }

    pub fn run(&mut self) -> u64 {
        let mut kept = Vec::new();
        for block in 0..black_box(self.count) as u64 {
            let mut numbers: Vec<u64> = (0..Self::LENGTH)
                .map(|i| mix(block * Self::LENGTH + i))
                .collect();
            numbers.sort_unstable();
            kept.push(numbers);
        }
        kept.iter()
            .map(|block| block[block.len() / 2])
            .fold(0, u64::wrapping_add)
    }
}
