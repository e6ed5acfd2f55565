//! Merges the calls of a benchmark in two builds into one tree. It shows how many instructions each function executes on each side, separately for
//! each chain of callers.

use std::cmp::Ordering;

use crate::model::{BySide, Side, StackCounts};

/// A difference counts as none if it is at most this share of all instructions of the tree.
const SAME_WITHIN: f64 = 0.0005;

/// The functions that an iteration of a benchmark calls, and the instructions that they execute in both builds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CallTree {
    /// The number of all instructions of an iteration on each side.
    pub instructions: BySide<f64>,
    /// The functions that nothing else in the tree calls, sorted by name.
    pub frames: Vec<CallFrame>,
}

/// A function in the call tree. If several chains of callers reach a function, it has an entry for each of them.
#[derive(Debug, Clone, PartialEq)]
pub struct CallFrame {
    /// The readable name of the function. Several instances of a generic function may have the same name.
    pub name: String,
    /// The instructions of this function and of everything that it calls. The number is 0 for a side that does not reach the function by this chain
    /// of callers.
    pub whole: BySide<f64>,
    /// The instructions of this function alone, without those of the functions that it calls.
    pub own: BySide<f64>,
    /// The functions that this function calls, sorted by name.
    pub callees: Vec<CallFrame>,
}

impl CallTree {
    /// Merges the call stacks that were counted in both builds into one tree, with counts per iteration.
    pub fn from_stacks(counted: &BySide<StackCounts>) -> Self {
        let mut tree = Self::default();
        for side in Side::BOTH {
            let counts = counted.get(side);
            for (stack, count) in &counts.instructions {
                tree.add(side, stack, *count as f64);
            }
            // Divide only at the end: sums of whole numbers have no rounding errors.
            let iterations = counts.iterations as f64;
            *tree.instructions.get_mut(side) /= iterations;
            for frame in &mut tree.frames {
                frame.divide(side, iterations);
            }
        }
        tree
    }

    /// Compares the candidate's number of instructions with the base's. The result is `Equal` if they differ by very little relative to the whole
    /// tree.
    pub fn compare_instructions(&self, instructions: &BySide<f64>) -> Ordering {
        let all = self.instructions.base.max(self.instructions.candidate);
        let more = instructions.candidate - instructions.base;
        if more.abs() <= all * SAME_WITHIN {
            Ordering::Equal
        } else {
            more.total_cmp(&0.0)
        }
    }

    fn add(&mut self, side: Side, stack: &[String], count: f64) {
        *self.instructions.get_mut(side) += count;
        let mut frames = &mut self.frames;
        for (depth, name) in stack.iter().enumerate() {
            let place = match frames.binary_search_by(|frame| frame.name.cmp(name)) {
                Ok(place) => place,
                Err(place) => {
                    frames.insert(place, CallFrame::new(name));
                    place
                }
            };
            let frame = &mut frames[place];
            *frame.whole.get_mut(side) += count;
            if depth + 1 == stack.len() {
                *frame.own.get_mut(side) += count;
            }
            frames = &mut frame.callees;
        }
    }
}

impl CallFrame {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            whole: BySide::default(),
            own: BySide::default(),
            callees: Vec::new(),
        }
    }

    fn divide(&mut self, side: Side, iterations: f64) {
        *self.whole.get_mut(side) /= iterations;
        *self.own.get_mut(side) /= iterations;
        for callee in &mut self.callees {
            callee.divide(side, iterations);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Parses lines such as `iter;work 12`: the functions of a call stack and the number of instructions.
    fn counted(iterations: u64, stacks: &[&str]) -> StackCounts {
        let stack = |line: &&str| {
            let (frames, count) = line.rsplit_once(' ').expect("a count");
            let frames = frames.split(';').map(str::to_owned).collect();
            (frames, count.parse().expect("a number"))
        };
        StackCounts {
            iterations,
            instructions: stacks.iter().map(stack).collect(),
        }
    }

    /// Formats a line for each frame: its depth, its name, and for both sides its instructions with and without its callees.
    fn lines(tree: &CallTree) -> Vec<String> {
        fn put(frames: &[CallFrame], depth: usize, lines: &mut Vec<String>) {
            for frame in frames {
                let CallFrame { whole, own, .. } = frame;
                lines.push(format!(
                    "{}{} {}/{} {}/{}",
                    "-".repeat(depth),
                    frame.name,
                    whole.base,
                    whole.candidate,
                    own.base,
                    own.candidate
                ));
                put(&frame.callees, depth + 1, lines);
            }
        }
        let mut all = Vec::new();
        put(&tree.frames, 0, &mut all);
        all
    }

    #[test]
    fn both_sides_are_one_tree() {
        let tree = CallTree::from_stacks(&BySide {
            base: counted(10, &["iter 20", "iter;b 500", "iter;a;leaf 30"]),
            candidate: counted(100, &["iter 200", "iter;b 5000", "iter;b;new 700"]),
        });
        assert_eq!(
            lines(&tree),
            [
                "iter 55/59 2/2",
                "-a 3/0 0/0",
                "--leaf 3/0 3/0",
                "-b 50/57 50/50",
                "--new 0/7 0/7"
            ]
        );
        assert_eq!(
            tree.instructions,
            BySide {
                base: 55.0,
                candidate: 59.0
            }
        );
    }

    #[test]
    fn few_instructions_of_many_are_no_difference() {
        let tree = CallTree {
            instructions: BySide {
                base: 10_000.0,
                candidate: 9_000.0,
            },
            frames: Vec::new(),
        };
        let compared = |base, candidate| tree.compare_instructions(&BySide { base, candidate });
        assert_eq!(compared(100.0, 105.0), Ordering::Equal);
        assert_eq!(compared(100.0, 106.0), Ordering::Greater);
        assert_eq!(compared(106.0, 100.0), Ordering::Less);
        assert_eq!(compared(0.0, 0.0), Ordering::Equal);
    }

    proptest! {
        /// A function's instructions are its own plus those of its callees, and no counted instruction is lost.
        #[test]
        fn instructions_add_up(
            base in stacks(),
            candidate in stacks(),
        ) {
            let sum = |counts: &StackCounts| counts.instructions.values().sum::<u64>() as f64;
            let sums = BySide { base: sum(&base), candidate: sum(&candidate) };
            let tree = CallTree::from_stacks(&BySide { base, candidate });
            prop_assert_eq!(tree.instructions, sums);
            for side in Side::BOTH {
                let all: f64 = tree.frames.iter().map(|frame| frame.whole.get(side)).sum();
                prop_assert_eq!(all, *sums.get(side));
            }
            let mut open: Vec<&CallFrame> = tree.frames.iter().collect();
            while let Some(frame) = open.pop() {
                for side in Side::BOTH {
                    let called: f64 = frame.callees.iter().map(|one| one.whole.get(side)).sum();
                    prop_assert_eq!(*frame.whole.get(side), frame.own.get(side) + called);
                }
                prop_assert!(frame.callees.is_sorted_by(|one, other| one.name < other.name));
                open.extend(&frame.callees);
            }
        }
    }

    fn stacks() -> impl Strategy<Value = StackCounts> {
        let stack = proptest::collection::vec("[a-c]", 1..6);
        proptest::collection::btree_map(stack, 1..1000_u64, 1..20).prop_map(|instructions| {
            StackCounts {
                iterations: 1,
                instructions,
            }
        })
    }
}
