//! Call stacks with the instructions of the innermost function, beginning at the benchmark.

use std::collections::BTreeMap;

use crate::child::{MOST_CALLERS, Profile};
use perfcheck_analysis::model::limits;
use perfcheck_code::readable_name;

/// Replaces further callers on a stack that is deeper than callgrind records.
const FURTHER_CALLERS: &str = "(further callers)";
/// Name of functions without a symbol.
const NO_SYMBOL: &str = "(no symbol)";

/// Instructions by call stack: readable names, the outermost caller first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stacks(BTreeMap<Vec<String>, u64>);

impl Stacks {
    /// Returns the stacks of one sample.
    pub(super) fn from_profile(sample: &Profile) -> Self {
        Self::from_symbols(sample.stacks()).without_common_callers()
    }

    fn from_symbols<'s>(symbols: impl Iterator<Item = (Vec<&'s str>, u64)>) -> Self {
        let mut stacks = BTreeMap::new();
        for (symbols, count) in symbols {
            let cut = (symbols.len() > MOST_CALLERS).then(|| FURTHER_CALLERS.to_owned());
            let names = symbols.into_iter().map(frame_name);
            *stacks
                .entry(cut.into_iter().chain(names).collect())
                .or_default() += count;
        }
        Self(stacks)
    }

    /// Returns the instructions that this has in excess of `other`; stacks with no excess are omitted. Each sample is called by another instance of a
    /// generic function, so outer callers must have been removed.
    pub(super) fn subtract(mut self, other: &Self) -> BTreeMap<Vec<String>, u64> {
        for (stack, count) in &mut self.0 {
            *count = count.saturating_sub(other.0.get(stack).copied().unwrap_or(0));
        }
        self.0.retain(|_, count| *count > 0);
        // Stacks of the harness alone are gone, so the others may have more callers in common.
        self.without_common_callers().0
    }

    /// Removes the callers that all stacks have in common, except the innermost: they call the harness, which calls the code it times. Each thread
    /// begins in a function of its own, so this is done for each thread separately.
    fn without_common_callers(self) -> Self {
        let stacks: Vec<(Vec<String>, u64)> = self.0.into_iter().collect();
        let mut inner = BTreeMap::new();
        for of_thread in stacks.chunk_by(|(one, _), (other, _)| one.first() == other.first()) {
            let outer = count_common_callers(of_thread).saturating_sub(1);
            for (stack, count) in of_thread {
                *inner.entry(stack[outer..].to_vec()).or_default() += count;
            }
        }
        Self(inner)
    }
}

/// Returns the number of callers that all of these stacks have in common. The stacks are sorted, so the first and the last have the least in common.
fn count_common_callers(stacks: &[(Vec<String>, u64)]) -> usize {
    let (Some((first, _)), Some((last, _))) = (stacks.first(), stacks.last()) else {
        return 0;
    };
    if first
        .first()
        .is_some_and(|outermost| outermost == FURTHER_CALLERS)
    {
        return 1;
    }
    let both = first.iter().zip(last);
    both.take_while(|(one, other)| one == other).count()
}

/// Returns the name of a function on a stack.
fn frame_name(symbol: &str) -> String {
    if symbol.starts_with("0x") {
        // The symbol is an address, which is different in another build.
        NO_SYMBOL.to_owned()
    } else {
        limits::cut_name(readable_name(symbol))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses lines such as `main;iter;work 12`.
    fn stacks(lines: &[&str]) -> Stacks {
        let stack = |line: &&str| {
            let (frames, count) = line.rsplit_once(' ').expect("a count");
            let frames = frames.split(';').map(str::to_owned).collect();
            (frames, count.parse().expect("a number"))
        };
        Stacks(lines.iter().map(stack).collect())
    }

    #[test]
    fn stacks_begin_with_what_all_of_them_have_in_common_last() {
        let sample = stacks(&[
            "main;run;iter 20",
            "main;run;iter;b 500",
            "main;run;iter;b;leaf 3",
        ]);
        let begun = stacks(&["iter 20", "iter;b 500", "iter;b;leaf 3"]);
        assert_eq!(sample.without_common_callers(), begun);
        assert_eq!(begun.clone().without_common_callers(), begun);
        // Everything is in one function.
        assert_eq!(
            stacks(&["main;run;iter 20"]).without_common_callers(),
            stacks(&["iter 20"])
        );
    }

    #[test]
    fn each_thread_begins_with_what_its_own_stacks_have_in_common() {
        let sample = stacks(&[
            "clone;thread;worker 5",
            "clone;thread;worker;job 40",
            "main;iter 1",
            "main;iter;join 2",
        ]);
        let begun = stacks(&["worker 5", "worker;job 40", "iter 1", "iter;join 2"]);
        assert_eq!(sample.without_common_callers(), begun);
    }

    #[test]
    fn samples_that_are_called_in_different_ways_have_the_same_stacks() {
        let less = stacks(&[
            "main;lower::<1>;iter 5",
            "main;lower::<1>;iter;now 9",
            "main;lower::<1>;iter;rare 3",
            "main;lower::<1>;iter;work 100",
        ]);
        let more = stacks(&[
            "main;lower::<2>;iter 9",
            "main;lower::<2>;iter;now 9",
            "main;lower::<2>;iter;work 200",
        ]);
        let beyond = more
            .without_common_callers()
            .subtract(&less.without_common_callers());
        assert_eq!(beyond, stacks(&["iter 4", "iter;work 100"]).0);
    }

    #[test]
    fn a_stack_whose_callers_are_not_all_known_says_so() {
        let symbols: Vec<String> = (0..=MOST_CALLERS).map(|at| format!("f{at}")).collect();
        let deep: Vec<&str> = symbols.iter().map(String::as_str).collect();
        let shallow = vec!["main", "iter", "0x00000000000012d0"];
        let found =
            Stacks::from_symbols([(deep, 4), (shallow, 3)].into_iter()).without_common_callers();
        let mut known = vec![FURTHER_CALLERS.to_owned()];
        known.extend(symbols);
        let expected = [(known, 4), (vec![NO_SYMBOL.to_owned()], 3)];
        assert_eq!(found, Stacks(expected.into()));
        assert_eq!(found.clone().without_common_callers(), found);
    }
}
