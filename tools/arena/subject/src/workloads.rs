//! Six workloads of different natures. The blocks between rulers may stand in any order.

use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::hint::black_box;

use crate::slow::percent;

// ---- random numbers for inputs

/// A counter through a mixing function.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0)
    }
}

/// The finalizer of MurmurHash3 (Appleby 2011), 64 bits.
pub fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}

// ---- alu: a chain of integer operations, each waiting for the one before

pub struct Alu {
    rounds: usize,
    x: u64,
}

impl Alu {
    pub fn set_up() -> Self {
        Self {
            rounds: percent(),
            x: mix(1),
        }
    }

    /// Each call begins with the result of the one before, so that what surrounds the chain hides behind it.
    pub fn run(&mut self) -> u64 {
        self.x = chain(self.rounds, self.x);
        self.x
    }
}

/// Two cycles a round on most machines.
#[inline(never)]
pub fn chain(rounds: usize, mut x: u64) -> u64 {
    let mut left = rounds;
    while left != 0 {
        x = x.rotate_left(7).wrapping_add(0x51ed_270b);
        left -= 1;
        // The compiler does not see the count, so it does not unroll: rounds all cost the same.
        // SAFETY: a comment, not an instruction.
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) left, options(nomem, nostack, preserves_flags))
        };
    }
    x
}

// ---- sort: a copy and an unstable sort, then small ones, whose number carries the slowdown

/// A longer main part would have other pivots, and another cost by luck.
const MAIN_LENGTH: usize = 1700;
/// So many that two blocks cost a hundredth of the whole.
const BLOCK_LENGTH: usize = 23;
/// Hundredths of the whole that are not blocks.
const MAIN_PERCENT: usize = 90;
/// The copy is of one length, whatever is sorted of it.
const MOST_BLOCKS: usize = 60;

pub struct Sort {
    source: Vec<u32>,
    buffer: Vec<u32>,
    blocks: usize,
}

impl Sort {
    pub fn set_up() -> Self {
        let mut numbers = Numbers(2 << 32);
        let length = MAIN_LENGTH + MOST_BLOCKS * BLOCK_LENGTH;
        let source: Vec<u32> = (0..length).map(|_| numbers.next() as u32).collect();
        Self {
            buffer: Vec::with_capacity(length),
            source,
            blocks: (percent() - MAIN_PERCENT) * 2,
        }
    }

    pub fn run(&mut self) -> u64 {
        sort(black_box(&self.source), &mut self.buffer, self.blocks)
    }
}

#[inline(never)]
pub fn sort(source: &[u32], buffer: &mut Vec<u32>, blocks: usize) -> u64 {
    buffer.clear();
    buffer.extend_from_slice(source);
    let (main, rest) = buffer.split_at_mut(MAIN_LENGTH);
    main.sort_unstable();
    for block in rest.chunks_exact_mut(BLOCK_LENGTH).take(blocks) {
        block.sort_unstable();
    }
    u64::from(main[MAIN_LENGTH / 2]) + u64::from(rest[0])
}

// ---- alloc: texts and a tree, built and dropped; the number of texts carries the slowdown

const TEXTS_PER_PERCENT: usize = 3;
/// As many texts as cost what the tree costs.
const TEXTS_FOR_TREE: usize = 78;
const ENTRIES: u32 = 65;

pub struct Alloc {
    texts: Vec<String>,
}

impl Alloc {
    pub fn set_up() -> Self {
        let texts = (0..percent() * TEXTS_PER_PERCENT - TEXTS_FOR_TREE)
            .map(|i| "x".repeat(4 + i * 7 % 40))
            .collect();
        Self { texts }
    }

    pub fn run(&mut self) -> u64 {
        alloc(black_box(&self.texts))
    }
}

#[inline(never)]
pub fn alloc(texts: &[String]) -> u64 {
    let mut copies = Vec::new();
    let mut tree = BTreeMap::new();
    for text in texts {
        copies.push(text.clone());
    }
    for i in 0..ENTRIES {
        tree.insert(i.wrapping_mul(2_654_435_761), copies[i as usize].len());
    }
    let last = *black_box(&tree)
        .values()
        .next_back()
        .expect("a tree with entries");
    (black_box(copies).len() + last) as u64
}

// ---- mem: hops through 16 MiB in an order that no prefetcher knows

/// 64 bytes apart: every hop is another cache line.
const LINE: usize = 16;
const LINES: usize = (16 << 20) / 64;

pub struct Mem {
    next: Vec<u32>,
    at: usize,
    hops: usize,
}

impl Mem {
    /// One cycle through all lines (Sattolo 1986).
    pub fn set_up() -> Self {
        let mut numbers = Numbers(3 << 32);
        let mut order: Vec<u32> = (0..LINES as u32).collect();
        for i in (1..LINES).rev() {
            order.swap(i, (numbers.next() % i as u64) as usize);
        }
        let mut next = vec![0; LINES * LINE];
        for (line, to) in order.into_iter().enumerate() {
            next[line * LINE] = to * LINE as u32;
        }
        Self {
            next,
            at: 0,
            hops: percent(),
        }
    }

    pub fn run(&mut self) -> u64 {
        self.at = hop(&self.next, self.at, self.hops);
        self.at as u64
    }
}

#[inline(never)]
pub fn hop(next: &[u32], mut at: usize, hops: usize) -> usize {
    for _ in 0..hops {
        at = next[at] as usize;
    }
    at
}

// ---- hash: look-ups in a table of the standard library

const LOOK_UPS_PER_PERCENT: usize = 2;

type Table = HashMap<u64, u64, BuildHasherDefault<DefaultHasher>>;

pub struct Hash {
    table: Table,
    keys: Vec<u64>,
}

impl Hash {
    pub fn set_up() -> Self {
        let mut numbers = Numbers(4 << 32);
        let keys: Vec<u64> = (0..1000).map(|_| numbers.next()).collect();
        let table = keys.iter().map(|&key| (key, key >> 7)).collect();
        let wanted = percent() * LOOK_UPS_PER_PERCENT;
        Self {
            table,
            keys: keys.into_iter().take(wanted).collect(),
        }
    }

    pub fn run(&mut self) -> u64 {
        look_up(&self.table, black_box(&self.keys))
    }
}

#[inline(never)]
pub fn look_up(table: &Table, keys: &[u64]) -> u64 {
    keys.iter()
        .filter_map(|key| table.get(key))
        .fold(0, |sum, value| sum.wrapping_add(*value))
}

// ---- parse: lines of text into numbers

pub struct Parse {
    text: String,
}

impl Parse {
    pub fn set_up() -> Self {
        let mut numbers = Numbers(5 << 32);
        let line = |_| {
            let n = numbers.next();
            let (whole, part) = (1000 + n % 9000, 100 + (n >> 20) % 900);
            format!("name={:05};value={whole}.{part}\n", (n >> 40) % 100_000)
        };
        Self {
            text: (0..percent()).map(line).collect(),
        }
    }

    pub fn run(&mut self) -> u64 {
        parse(black_box(&self.text))
    }
}

#[inline(never)]
pub fn parse(text: &str) -> u64 {
    let mut sum = 0.0;
    for line in text.lines() {
        for field in line.split(';') {
            let (_, number) = field.split_once('=').expect("name=number");
            sum += number.parse::<f64>().expect("a number");
        }
    }
    sum as u64
}
