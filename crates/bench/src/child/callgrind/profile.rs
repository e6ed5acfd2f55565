//! Parses the files that callgrind writes. Such a file says how many instructions each function has executed. If callgrind counts by stack, it says
//! so for each function together with its callers.

use std::collections::{BTreeMap, HashMap};

/// The number of instructions that each function has executed itself, without the functions that it calls. If callgrind counts by stack, a function
/// has an entry for each chain of callers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    functions: BTreeMap<String, u64>,
}

/// One file written by callgrind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProfilePart {
    /// The event that caused callgrind to write the file, such as `--dump-after=name`. Empty for the last file.
    pub(super) trigger: String,
    pub(super) profile: Profile,
}

impl Profile {
    /// Returns the total number of instructions.
    pub fn total(&self) -> u64 {
        self.functions.values().sum()
    }

    /// Iterates over the functions with the number of instructions of each. A name is a linker symbol. If callgrind counts by stack, the names of the
    /// callers follow it.
    pub fn functions(&self) -> impl Iterator<Item = (&str, u64)> {
        self.functions.iter().map(|(name, count)| (&**name, *count))
    }

    /// Iterates over the call stacks with the number of instructions that the innermost function of each has executed. A stack begins with its
    /// outermost caller. Callgrind separates a function from its caller by an apostrophe, which cannot occur in a Rust symbol.
    pub fn stacks(&self) -> impl Iterator<Item = (Vec<&str>, u64)> {
        self.functions().map(|(name, count)| {
            let mut stack: Vec<&str> = name.split('\'').collect();
            stack.reverse();
            (stack, count)
        })
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: Self) {
        for (name, count) in other.functions {
            self.add_count(name, count);
        }
    }

    /// Subtracts the counts of `other`, and drops the functions that are left without instructions.
    #[must_use]
    pub fn subtract(mut self, other: &Self) -> Self {
        for (name, count) in &mut self.functions {
            *count = count.saturating_sub(other.functions.get(name).copied().unwrap_or(0));
        }
        self.functions.retain(|_, count| *count > 0);
        self
    }

    fn add_count(&mut self, name: String, count: u64) {
        let sum = self.functions.entry(name).or_default();
        *sum = sum.saturating_add(count);
    }
}

impl ProfilePart {
    /// Parses a file of callgrind, whose format valgrind's manual describes under "Callgrind Format Specification". Only the first event is read.
    /// Returns `None` if the text has another format or if the first event is not `Ir`, instructions read.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut trigger = String::new();
        let mut positions = 1;
        let mut counts_instructions = false;
        let mut names: HashMap<String, String> = HashMap::new();
        let mut profile = Profile::default();
        let mut function = String::new();
        let mut is_call = false;
        for line in text.lines() {
            if let Some(why) = line.strip_prefix("desc: Trigger: ") {
                why.trim().clone_into(&mut trigger);
            } else if let Some(named) = line.strip_prefix("positions: ") {
                positions = named.split_whitespace().count();
            } else if let Some(events) = line.strip_prefix("events: ") {
                counts_instructions = events.split_whitespace().next() == Some("Ir");
            } else if let Some(name) = line.strip_prefix("fn=") {
                function = resolve_name(name, &mut names)?;
            } else if let Some(name) = line.strip_prefix("cfn=") {
                resolve_name(name, &mut names)?;
            } else if line.starts_with("calls=") {
                is_call = true;
            } else if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
                // The line after `calls=` has the inclusive cost of the call. It is skipped, because the callee's own lines count it already.
                if !std::mem::take(&mut is_call) {
                    let count = line.split_whitespace().nth(positions);
                    let count = count.map_or(Some(0), |count| count.parse().ok())?;
                    profile.add_count(function.clone(), count);
                }
            }
        }
        counts_instructions.then_some(Self { trigger, profile })
    }
}

/// Resolves callgrind's name compression: a name is written out once with a number, `(7) main`, and later as `(7)`.
fn resolve_name(text: &str, names: &mut HashMap<String, String>) -> Option<String> {
    let Some((number, name)) = text.strip_prefix('(').and_then(|text| text.split_once(')')) else {
        return Some(text.to_owned());
    };
    if name.is_empty() {
        return names.get(number).cloned();
    }
    let name = name.trim_start().to_owned();
    names.insert(number.to_owned(), name.clone());
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: &str = "version: 1\ncreator: callgrind-3.19.0\npid: 7\ncmd:  bench\npart: 2\n\n\ndesc: I1 cache: \n\ndesc: Timerange: Basic block 3 - 9\n\
        desc: Trigger: --dump-before=close\n\npositions: line\nevents: Ir\nsummary: 1234\n\n\nob=(1) /bench\nfl=(1) ???\nfn=(1) outer\n0 4\ncfn=(2) inner\ncalls=3 0\n0 1200\n\
        +3 30\n\nfn=(2)\n0 1000\n* 200\n\ntotals: 1234\n";

    fn functions(profile: &Profile) -> Vec<(&str, u64)> {
        profile.functions().collect()
    }

    #[test]
    fn what_a_function_does_itself_counts_and_what_it_calls_does_not() {
        let part = ProfilePart::parse(PART).expect("a part");
        assert_eq!(part.trigger, "--dump-before=close");
        assert_eq!(functions(&part.profile), [("inner", 1_200), ("outer", 34)]);
        assert_eq!(part.profile.total(), 1_234);
    }

    #[test]
    fn instructions_are_the_first_event_behind_all_positions() {
        let text = PART
            .replace("positions: line", "positions: instr line")
            .replace("events: Ir", "events: Ir Dr")
            .replace("\n0 ", "\n0x10 0 ")
            .replace("+3 30", "+3 +1 30 9")
            .replace("* 200", "* * 200");
        assert_eq!(
            ProfilePart::parse(&text).map(|part| part.profile.total()),
            Some(1_234)
        );
        assert_eq!(
            ProfilePart::parse(&PART.replace("events: Ir", "events: Bc")),
            None
        );
        assert_eq!(ProfilePart::parse("no such file"), None);
        // The file refers to a name by a number that was never defined.
        assert_eq!(
            ProfilePart::parse(&PART.replace("fn=(2)\n", "fn=(9)\n")),
            None
        );
    }

    #[test]
    fn a_function_is_told_apart_by_its_callers_where_callgrind_names_them() {
        let text = "desc: Trigger: --dump-before=close\n\npositions: line\nevents: Ir\n\nfn=(1) leaf'inner'outer\n0 5\n\nfn=(2) outer\n0 7\ncfn=(3) inner'outer\ncalls=1 0\n0 35\n\n\
            fn=(4) leaf'outer\n0 9\n\nfn=(3)\n0 10\n+1 20\ncfn=(1)\ncalls=2 0\n0 5\n\ntotals: 51\n";
        let part = ProfilePart::parse(text).expect("a part");
        // The trigger names the function without its callers.
        assert_eq!(part.trigger, "--dump-before=close");
        let stacks: Vec<(Vec<&str>, u64)> = part.profile.stacks().collect();
        let known: [(&[&str], u64); 4] = [
            (&["outer", "inner"], 30),
            (&["outer", "inner", "leaf"], 5),
            (&["outer", "leaf"], 9),
            (&["outer"], 7),
        ];
        assert_eq!(stacks, known.map(|(stack, count)| (stack.to_vec(), count)));
        assert_eq!(part.profile.total(), 51);
    }

    #[test]
    fn what_one_has_beyond_another_is_never_negative() {
        let of = |text: &str| ProfilePart::parse(text).expect("a part").profile;
        let more = PART.replace("* 200", "* 450").replace("0 4", "0 3");
        assert_eq!(functions(&of(&more).subtract(&of(PART))), [("inner", 250)]);
        let mut sum = of(PART);
        sum.add(of(&more));
        assert_eq!(sum.total(), 1_234 + 1_483);
    }

    #[test]
    fn a_damaged_part_is_read_or_refused() {
        perfcheck_mutations::attack("callgrind", &[PART.as_bytes().to_vec()], |bytes| {
            drop(ProfilePart::parse(&String::from_utf8_lossy(bytes)));
        });
    }
}
