//! Code that waits for memory.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::hint::black_box;

use arena_subject::slow::percent;
use arena_subject::workloads::mix;

/// A breadth-first search through a graph of 300 KB.
pub struct Graph {
    /// Four edges a node.
    edges: Vec<[u32; 4]>,
    seen: Vec<bool>,
    queue: Vec<u32>,
    /// Nodes that are visited.
    most: usize,
}

impl Graph {
    const NODES: usize = 18_000;

    pub fn set_up() -> Self {
        let node = |i: u64| (mix(i) % Self::NODES as u64) as u32;
        let edges = (0..Self::NODES as u64)
            .map(|i| {
                [
                    node(4 * i),
                    node(4 * i + 1),
                    node(4 * i + 2),
                    node(4 * i + 3),
                ]
            })
            .collect();
        Self {
            edges,
            seen: vec![false; Self::NODES],
            queue: Vec::with_capacity(Self::NODES),
            most: percent() * 100,
        }
    }

    pub fn run(&mut self) -> u64 {
        self.seen.fill(false);
        self.queue.clear();
        self.queue.push(0);
        let (mut next, mut sum) = (0, 0_u64);
        while next < self.queue.len().min(black_box(self.most)) {
            let node = self.queue[next];
            next += 1;
            for to in self.edges[node as usize] {
                if !self.seen[to as usize] {
                    self.seen[to as usize] = true;
                    self.queue.push(to);
                }
            }
            sum = sum.wrapping_add(u64::from(node));
        }
        sum
    }
}

/// Look-ups in a table of the standard library that takes 64 MB and more.
pub struct Table {
    table: HashMap<u64, u64, BuildHasherDefault<DefaultHasher>>,
    look_ups: usize,
    at: u64,
}

impl Table {
    const ENTRIES: u64 = 3_600_000;

    pub fn set_up() -> Self {
        let mut table = HashMap::with_capacity_and_hasher(
            Self::ENTRIES as usize,
            BuildHasherDefault::default(),
        );
        table.extend((0..Self::ENTRIES).map(|i| (i, mix(i))));
        Self {
            table,
            look_ups: percent() * 10,
            at: 0,
        }
    }

    pub fn run(&mut self) -> u64 {
        let mut sum = 0_u64;
        for _ in 0..black_box(self.look_ups) {
            self.at = self.at.wrapping_add(1);
            let key = mix(self.at) % Self::ENTRIES;
            sum = sum.wrapping_add(self.table[&key]);
        }
        sum
    }
}

/// One cache line after the other, in one cycle through all of them that no prefetcher knows.
pub struct Chase {
    lines: Vec<Line>,
    hops: usize,
    at: u32,
}

#[derive(Clone)]
#[repr(align(64))]
struct Line(u32);

impl Chase {
    pub fn set_up(megabytes: usize) -> Self {
        let count = megabytes << 14;
        let mut order: Vec<u32> = (0..count as u32).collect();
        // Sattolo's algorithm: a permutation of one cycle.
        for i in (1..count).rev() {
            order.swap(i, (mix(i as u64) % i as u64) as usize);
        }
        Self {
            lines: order.into_iter().map(Line).collect(),
            hops: percent() * 20,
            at: 0,
        }
    }

    pub fn run(&mut self) -> u64 {
        for _ in 0..black_box(self.hops) {
            self.at = self.lines[self.at as usize].0;
        }
        u64::from(self.at)
    }
}
