#!/usr/bin/env python3
"""Measures how much the times of benchmarks depend on where their data lie in the heap, and whether drawing the place anew for each round helps.

Linux draws the first page of the heap anew for each process, but the places within pages are always the same. So without a draw, all processes of an
executable see one arrangement of their data in cache lines and sets, and an executable that allocates something else before may see another one. Makes a
bench executable that moves its heap before it declares its benchmarks, and runs it in rounds: two processes, bound to one processor, take samples in turn,
as those of `cargo perfcheck` do. The rounds come in a random order. The two processes of a round measure the same benchmark; those of a few pairs measure
two that differ in the number of texts that they sort.

    fixed    neither process moves its heap
    moved    both move it to the same place: they keep blocks of drawn sizes
    holes    the same, and both free every second one of 400 small blocks of drawn sizes, so later blocks fill the holes

In more rounds of the kinds `fixed` and `moved`, the second process has another history: it also keeps blocks that the first does not.

    tools/heap_places.py OUT.jsonl [--rounds 48] [--histories 12] [--history-rounds 12] [--only ID,ID] [--seed 1] [--scratch DIRECTORY]

Appends a line for each round to OUT.jsonl, then prints tables of everything in it (`--rounds 0 --histories 0` only prints). `spread` is the standard
deviation of a normal distribution with the same quartiles. A history is beyond 1 % if a sign test says so (one-sided p below 1 %).
`CARGO_TARGET_DIR` is respected.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile

from criterion_suite import write

HERE = pathlib.Path(__file__).resolve().parent
WARM_UP_NS, SAMPLE_NS, ROUND_NS = 2_000_000, 250_000, 20_000_000
KINDS = ("fixed", "moved", "holes")
# The number of sizes of kept blocks: 16 bytes, 32 bytes and so on.
CLASSES = 8
# The size of a change that counts, as a logarithm, and the level of the test for it.
THRESHOLD, LEVEL = math.log(1.01), 0.01
# The benchmarks of the package below. In the pairs, the second one sorts fewer or more texts than the first.
ALONE = """alu sort_numbers alloc hash parse tree graph format words sort/1000 sort_unstable/1000 boxes texts btree hashmap rows copy halves nested""".split()
PAIRS = [(f"{name}/1000", f"{name}/{length}") for name in ("sort", "sort_unstable") for length in (950, 1050)]

BENCH = r'''
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasherDefault;
use std::process::ExitCode;

use arena_subject::code::{Format, Graph, Tree, Words};
use arena_subject::workloads::{Alloc, Alu, Hash, Parse, Sort, mix};
use perfcheck::{BenchFunction, Suite, black_box};

fn number(name: &str) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn leak(bytes: usize) {
    std::mem::forget(black_box(Vec::<u8>::with_capacity(bytes)));
}

/// Leaks blocks. Digit i of the place, to the base 4, is the number of blocks of 16 << i bytes.
fn move_heap() {
    let place = number("HEAP_PLACE");
    for class in 0..8 {
        for _ in 0..place >> (2 * class) & 3 {
            leak(16 << class);
        }
    }
    if number("HEAP_HOLES") == 1 {
        let blocks: Vec<Vec<u8>> = (0..400)
            .map(|at| black_box(Vec::with_capacity(16 + mix(place * 1000 + at) as usize % 400)))
            .collect();
        for (at, block) in blocks.into_iter().enumerate() {
            if at % 2 == 0 {
                std::mem::forget(block);
            }
        }
    }
}

fn digits(count: u64) -> Vec<String> {
    (0..count).map(|i| format!("{:016x}", mix(i + 77))).collect()
}

struct Node {
    value: u64,
    next: Option<Box<Node>>,
}

fn arena(suite: &mut Suite) {
    suite.bench("alu", |b| { let mut work = Alu::set_up(); b.iter(|| work.run()); });
    suite.bench("sort_numbers", |b| { let mut work = Sort::set_up(); b.iter(|| work.run()); });
    suite.bench("alloc", |b| { let mut work = Alloc::set_up(); b.iter(|| work.run()); });
    suite.bench("hash", |b| { let mut work = Hash::set_up(); b.iter(|| work.run()); });
    suite.bench("parse", |b| { let mut work = Parse::set_up(); b.iter(|| work.run()); });
    suite.bench("tree", |b| { let work = Tree::set_up(); b.iter(|| work.run()); });
    suite.bench("graph", |b| { let mut work = Graph::set_up(); b.iter(|| work.run()); });
    suite.bench("format", |b| { let mut work = Format::set_up(); b.iter(|| work.run()); });
    suite.bench("words", |b| { let work = Words::set_up(); b.iter(|| work.run()); });
}

fn heap(suite: &mut Suite) {
    for count in [950, 1000, 1050] {
        suite.bench(format!("sort/{count}"), |b| {
            let texts = digits(count);
            b.iter(|| {
                let mut copies = black_box(&texts).clone();
                copies.sort();
                copies.join(",")
            });
        });
        suite.bench(format!("sort_unstable/{count}"), |b| {
            let texts = digits(count);
            b.iter(|| {
                let mut copies = black_box(&texts).clone();
                copies.sort_unstable();
                copies.join(",")
            });
        });
    }
    suite.bench("boxes", |b| b.iter(|| {
        let mut list = None;
        for value in 0..black_box(400) {
            list = Some(Box::new(Node { value, next: list }));
        }
        let mut sum = 0;
        while let Some(node) = list {
            sum += node.value;
            list = node.next;
        }
        sum
    }));
    suite.bench("texts", |b| {
        let texts = digits(300);
        b.iter(|| black_box(&texts).iter().map(|text| text.repeat(1 + text.len() % 5)).collect::<Vec<_>>());
    });
    suite.bench("btree", |b| {
        let texts = digits(200);
        b.iter(|| black_box(&texts).iter().cloned().zip(0..).collect::<BTreeMap<String, u64>>());
    });
    suite.bench("hashmap", |b| {
        let texts = digits(200);
        b.iter(|| {
            let mut seen = HashMap::<String, usize, BuildHasherDefault<DefaultHasher>>::default();
            for text in black_box(&texts) {
                *seen.entry(text[..3].to_owned()).or_default() += 1;
            }
            seen.len()
        });
    });
    // The columns of a matrix of separate rows: the elements of a column may collide in the sets of the cache.
    suite.bench("rows", |b| {
        let rows: Vec<Vec<f64>> = (0..96).map(|row| vec![f64::from(row); 60]).collect();
        b.iter(|| (0..60).map(|at| black_box(&rows).iter().map(|row| row[at]).sum::<f64>()).sum::<f64>());
    });
    // Copies between two blocks of the heap, and between the heap and the stack.
    suite.bench("copy", |b| {
        let source = vec![1_u8; 1000];
        let mut target = vec![0_u8; 1000];
        b.iter(|| {
            black_box(&mut target).copy_from_slice(&black_box(&source)[..]);
            let mut local = [0_u8; 1000];
            black_box(&mut local).copy_from_slice(&black_box(&target)[..]);
            local[999]
        });
    });
    // Reads that begin anywhere in a cache line.
    suite.bench("halves", |b| {
        let bytes = vec![3_u8; 4000];
        b.iter(|| {
            let pairs = black_box(&bytes).chunks_exact(40);
            pairs.map(|pair| usize::from(pair[..20] == pair[20..])).sum::<usize>()
        });
    });
    suite.bench("nested", |b| {
        b.iter(|| (0..black_box(60_usize)).map(|row| vec![row; 20 + row % 13]).collect::<Vec<_>>());
    });
}

fn main() -> ExitCode {
    move_heap();
    perfcheck::run(&[BenchFunction::new("arena", arena), BenchFunction::new("heap", heap)])
}
'''


def build(top):
    """Makes the package in `top` and returns its bench executable."""
    files = {
        "Cargo.toml": '[workspace]\n\n[package]\nname = "heap-places"\nversion = "0.0.0"\nedition = "2024"\npublish = false\n\n[[bench]]\nname = "heap"\nharness = false\n\n'
        f'[dev-dependencies]\nperfcheck = {{ path = "{HERE.parent / "harness"}" }}\narena-subject = {{ path = "{HERE / "arena/subject"}" }}\n',
        "src/lib.rs": "",
        "benches/heap.rs": BENCH,
    }
    write(top, files)
    words = ["cargo", "bench", "--no-run", "--quiet", "--message-format", "json", "--bench", "heap"]
    built = subprocess.run(words, cwd=top, check=True, text=True, stdout=subprocess.PIPE).stdout
    return [found for line in built.splitlines() if (found := json.loads(line).get("executable"))][-1]


class Child:
    """A bench process in which one benchmark is started and warmed up."""

    def __init__(self, executable, benchmark, variables, processor):
        self.process = subprocess.Popen(
            [executable, "--bench"], env=dict(os.environ, PERFCHECK_PROTOCOL="1", **variables),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, bufsize=1)
        os.sched_setaffinity(self.process.pid, {processor})
        self.ask(f"start {benchmark}", "started")
        warm_up = self.ask(f"warm-up {WARM_UP_NS}", "warmed-up")
        self.iteration_ns = warm_up["elapsed_ns"] / warm_up["iterations"]

    def ask(self, request, answer):
        self.process.stdin.write(request + "\n")
        for line in self.process.stdout:
            frame = json.loads(line) if line.startswith("{") else {}
            if frame.get("type") == answer:
                return frame
            if frame.get("type") == "error":
                break
        sys.exit(f"{request}: {line}")

    def sample(self, iterations):
        """Returns the nanoseconds of an iteration in one sample."""
        return self.ask(f"sample {iterations}", "samples")["elapsed_ns"][0] / iterations

    def end(self):
        self.ask("finish", "finished")
        self.ask("bye", "bye")
        self.process.communicate()


def measure(executable, benchmarks, places, holes, rng):
    """Runs a round. Returns the median difference of the sides, as logarithm, and the tenth percentile of the samples of each side, in nanoseconds."""
    processor = rng.choice(sorted(os.sched_getaffinity(0)))
    # Without `PERFCHECK_PADDING`, the harness does not move the heap itself.
    variables = {"HEAP_HOLES": str(int(holes))}
    sides = [Child(executable, id, variables | {"HEAP_PLACE": str(place)}, processor) for id, place in zip(benchmarks, places)]
    iterations = max(1, round(SAMPLE_NS / sides[0].iteration_ns))
    differences, samples = [], ([], [])
    for _ in range(max(1, round(ROUND_NS / (8 * iterations * sides[0].iteration_ns)))):
        first = rng.randrange(2)
        order = [first, 1 - first, 1 - first, first]
        found = ([], [])
        for side in order + [1 - side for side in order]:
            found[side].append(sides[side].sample(iterations))
        differences.append(math.log(min(found[1]) / min(found[0])))
        for all_samples, more in zip(samples, found):
            all_samples += more
    for side in sides:
        side.end()
    return statistics.median(differences), [sorted(one)[len(one) // 10] for one in samples]


def draw_place(rng, least=0):
    """Draws whether a block of each size is kept. Two places can be added: a size then has up to two blocks."""
    bits = rng.randrange(least, 2**CLASSES)
    return sum(1 << (2 * at) for at in range(CLASSES) if bits >> at & 1)


def plan(options, rng):
    """Returns all rounds in a random order: benchmarks, kind, the place of the first process, and what the second process keeps in addition."""
    place = lambda kind: 0 if kind == "fixed" else draw_place(rng)
    rounds = []
    for benchmarks in [(id, id) for id in ALONE] + PAIRS:
        if options.only and benchmarks[1] not in options.only.split(","):
            continue
        rounds += [(benchmarks, kind, place(kind), 0) for kind in KINDS for _ in range(options.rounds)]
        if benchmarks[0] == benchmarks[1]:
            histories = [draw_place(rng, least=1) for _ in range(options.histories)]
            rounds += [(benchmarks, kind, place(kind), history) for kind in KINDS[:2] for history in histories for _ in range(options.history_rounds)]
    rng.shuffle(rounds)
    return rounds


def spread(values):
    low, _, high = statistics.quantiles(values, n=4)
    return (high - low) / 1.349


def is_beyond(values):
    """Reports whether a sign test finds a change beyond the threshold in either direction."""
    most = max(sum(value > THRESHOLD for value in values), sum(value < -THRESHOLD for value in values))
    return sum(math.comb(len(values), k) for k in range(most, len(values) + 1)) < LEVEL * 2 ** len(values)


def percent(value):
    return f"{100 * value:.2f} %"


def show_histories(by_history):
    """Returns the cells about one kind of rounds: the median and the largest size of a history's median difference, and how many are beyond 1 %."""
    if not by_history:
        return ["-"] * 3
    sizes = [abs(statistics.median(values)) for values in by_history.values()]
    return [percent(statistics.median(sizes)), percent(max(sizes)), f"{sum(map(is_beyond, by_history.values()))} of {len(sizes)}"]


def show(path):
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    histories = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in path.read_text().splitlines():
        one = json.loads(line)
        benchmarks = tuple(one["benchmarks"])
        if one["history"]:
            histories[benchmarks[0], one["kind"]][one["history"]].append(one["difference"])
        else:
            found[benchmarks][one["kind"]].append(one)
    print("| benchmark | ns | spread of a round's difference: " + " | ".join(KINDS) + " | spread of processes: " + " | ".join(KINDS)
          + " | another history, fixed: median | largest | beyond 1 % | moved: median | largest | beyond 1 % |")
    print("|---|---:|" + "---:|" * (2 * len(KINDS) + 6))
    for (base, candidate), kinds in sorted(found.items()):
        if base != candidate:
            continue
        level = statistics.median(time for one in kinds["fixed"] for time in one["times"])
        rounds = [percent(spread([one["difference"] for one in kinds[kind]])) for kind in KINDS]
        processes = [percent(spread([math.log(time) for one in kinds[kind] for time in one["times"]])) for kind in KINDS]
        others = [cell for kind in KINDS[:2] for cell in show_histories(histories[base, kind])]
        print(f"| `{base}` | {level:.0f} | " + " | ".join([*rounds, *processes, *others]) + " |")
    print("\n| pair | kind | median difference | lowest and highest tenth of the rounds | rounds in which the second is slower |")
    print("|---|---|---:|---|---:|")
    for (base, candidate), kinds in sorted(found.items()):
        if base == candidate:
            continue
        for kind in KINDS:
            values = sorted(one["difference"] for one in kinds[kind])
            tenths = statistics.quantiles(values, n=10)
            print(f"| `{base}`, `{candidate}` | {kind} | {percent(statistics.median(values))} | {percent(tenths[0])}, {percent(tenths[-1])} "
                  f"| {sum(value > 0 for value in values)} of {len(values)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=48)
    parser.add_argument("--histories", type=int, default=12)
    parser.add_argument("--history-rounds", type=int, default=12)
    parser.add_argument("--only", help="benchmarks, or second benchmarks of pairs")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scratch", type=pathlib.Path)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    rounds = plan(options, rng)
    if rounds:
        with tempfile.TemporaryDirectory() as scratch, options.out.open("a") as out:
            executable = build(options.scratch or pathlib.Path(scratch))
            for benchmarks, kind, place, history in rounds:
                difference, times = measure(executable, benchmarks, [place, place + history], kind == "holes", rng)
                out.write(json.dumps({"benchmarks": benchmarks, "kind": kind, "history": history, "difference": difference, "times": times}) + "\n")
                out.flush()
    show(options.out)


if __name__ == "__main__":
    main()
