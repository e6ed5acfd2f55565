//! Workloads whose time hangs on where their functions lie: many calls, branches and short loops.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::hint::black_box;

use crate::slow::percent;
use crate::workloads::mix;

/// How many hundredths of the work come again, by code that is not there in the base.
const AGAIN: usize = 0;

/// The first of `items` that come again.
fn again<T>(items: &[T]) -> &[T] {
    &items[..items.len() * AGAIN / 100]
}

// ---- tree: look-ups in a BTreeMap

pub struct Tree {
    map: BTreeMap<u64, u64>,
    keys: Vec<u64>,
}

impl Tree {
    pub fn set_up() -> Self {
        let keys: Vec<u64> = (0..2000).map(mix).collect();
        Self {
            map: keys.iter().map(|key| (*key, key >> 3)).collect(),
            keys: keys.into_iter().take(2 * percent()).collect(),
        }
    }

    pub fn run(&self) -> u64 {
        look_up(&self.map, &self.keys)
    }
}

#[inline(never)]
fn look_up(map: &BTreeMap<u64, u64>, keys: &[u64]) -> u64 {
    let keys = keys.iter().chain(again(keys));
    let found = keys.filter_map(|key| map.get(key));
    found.fold(0, |all, value| all ^ value)
}

// ---- dyn: calls of trait objects

pub trait Shape {
    fn area(&self) -> f64;
    fn grow(&mut self, by: f64);
}

struct Circle(f64);
struct Square(f64);
struct Triangle(f64, f64);
struct Oblong(f64, f64);

impl Shape for Circle {
    fn area(&self) -> f64 {
        self.0 * self.0 * 3.2
    }

    fn grow(&mut self, by: f64) {
        self.0 += by;
    }
}

impl Shape for Square {
    fn area(&self) -> f64 {
        self.0 * self.0
    }

    fn grow(&mut self, by: f64) {
        self.0 -= by;
    }
}

impl Shape for Triangle {
    fn area(&self) -> f64 {
        self.0 * self.1 * 0.5
    }

    fn grow(&mut self, by: f64) {
        self.0 += by;
        self.1 -= by;
    }
}

impl Shape for Oblong {
    fn area(&self) -> f64 {
        self.0 * self.1
    }

    fn grow(&mut self, by: f64) {
        self.1 += by;
    }
}

pub struct Shapes {
    all: Vec<Box<dyn Shape>>,
    count: usize,
}

impl Shapes {
    pub fn set_up() -> Self {
        let shape = |i: u64| -> Box<dyn Shape> {
            let size = i as f64;
            match mix(i) % 4 {
                0 => Box::new(Circle(size)),
                1 => Box::new(Square(size)),
                2 => Box::new(Triangle(size, 2.0)),
                _ => Box::new(Oblong(1.0, size)),
            }
        };
        Self {
            all: (0..256).map(shape).collect(),
            count: 10 * percent(),
        }
    }

    pub fn run(&mut self) -> f64 {
        let count = self.count;
        visit(&mut self.all, count)
    }
}

#[inline(never)]
fn visit(all: &mut [Box<dyn Shape>], count: usize) -> f64 {
    let mut sum = 0.0;
    for i in 0..count + count * AGAIN / 100 {
        let shape = &mut all[i & 255];
        sum += shape.area();
        shape.grow(0.001);
    }
    sum
}

// ---- graph: a breadth-first search

pub struct Graph {
    edges: Vec<[u32; 4]>,
    seen: Vec<bool>,
    most: usize,
}

impl Graph {
    pub fn set_up() -> Self {
        let nodes = 4096;
        let to = |from: u64| std::array::from_fn(|k| (mix(from * 4 + k as u64) % nodes) as u32);
        Self {
            edges: (0..nodes).map(to).collect(),
            seen: vec![false; nodes as usize],
            most: 20 * percent(),
        }
    }

    pub fn run(&mut self) -> usize {
        self.seen.fill(false);
        search(&self.edges, &mut self.seen, self.most)
    }
}

#[inline(never)]
fn search(edges: &[[u32; 4]], seen: &mut [bool], most: usize) -> usize {
    let mut queue = VecDeque::from([0_u32]);
    let mut count = 0;
    while let Some(at) = queue.pop_front() {
        count += 1;
        if count > most + most * AGAIN / 100 {
            break;
        }
        for next in edges[at as usize] {
            if !std::mem::replace(&mut seen[next as usize], true) {
                queue.push_back(next);
            }
        }
    }
    count
}

// ---- utf8: checking and reading text

pub struct Utf8 {
    bytes: Vec<u8>,
}

impl Utf8 {
    pub fn set_up() -> Self {
        let text = "größer und kleiner, ἀλλ᾽ οὐκ 日本語 plain words here; ";
        Self {
            bytes: text.repeat(percent() / 2).into_bytes(),
        }
    }

    pub fn run(&self) -> usize {
        let text = std::str::from_utf8(black_box(&self.bytes)).unwrap_or_default();
        let letters = |text: &str| text.chars().filter(|letter| letter.is_alphabetic()).count();
        letters(text) + letters(&text[..text.floor_char_boundary(text.len() * AGAIN / 100)])
    }
}

// ---- format: numbers into text

pub struct Format {
    numbers: Vec<u64>,
    out: String,
}

impl Format {
    pub fn set_up() -> Self {
        let number = |i: u64| mix(i) >> (i % 50);
        Self {
            numbers: (0..percent() as u64).map(number).collect(),
            out: String::with_capacity(10_000),
        }
    }

    pub fn run(&mut self) -> usize {
        self.out.clear();
        for number in self.numbers.iter().chain(again(&self.numbers)) {
            // A string takes everything.
            let _ = write!(self.out, "{number:>8} {:x};", number ^ 5);
        }
        self.out.len()
    }
}

// ---- hot: a loop of a few instructions

pub struct Hot {
    text: Vec<u8>,
}

impl Hot {
    pub fn set_up() -> Self {
        let letter = |i: u64| b"abc <>&\"' xyz"[(mix(i) % 40).min(12) as usize];
        Self {
            text: (0..80 * percent() as u64).map(letter).collect(),
        }
    }

    pub fn run(&self) -> usize {
        marks(black_box(&self.text)) + marks(black_box(again(&self.text)))
    }
}

#[inline(never)]
fn marks(text: &[u8]) -> usize {
    let is_mark = |byte: &u8| matches!(byte, b'<' | b'>' | b'&' | b'"' | b'\'');
    let (mut at, mut found) = (0, 0);
    while let Some(next) = text[at..].iter().position(is_mark) {
        at += next + 1;
        found += 1;
    }
    found
}

// ---- words: how often each word comes

pub struct Words {
    text: Vec<String>,
}

impl Words {
    pub fn set_up() -> Self {
        let word = |i: u64| format!("w{}", mix(i) % 97);
        Self {
            text: (0..5 * percent() as u64).map(word).collect(),
        }
    }

    pub fn run(&self) -> usize {
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for word in self.text.iter().chain(again(&self.text)) {
            *counts.entry(word).or_default() += 1;
        }
        counts.len()
    }
}
