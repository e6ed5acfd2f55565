//! Assigns the instructions that callgrind counted to lines of the counted source files, here called own lines. All other files are foreign, even if
//! they are below the workspace's directory, as those of vendored crates.
//!
//! Most instructions of a Rust function come from elsewhere: iterators and collections that were inlined into it, and functions of the standard library
//! that it calls. A change of the function changes them, too, so they count for an own line:
//!
//! - An instruction of a foreign file, inlined into own code, counts for the nearest own line before it in the same function.
//! - What a foreign function executes counts for the lines that call it, in proportion to the inclusive instructions of their calls. If its caller is
//!   foreign, too, the share goes on to the callers of that one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::profile::{Cost, Profile, ProfileEntry, ProfilePart, read_costs};

/// A chain of foreign callers is followed for at most this many steps. Only recursion is longer.
const LONGEST_CHAIN: usize = 64;

/// The source files whose lines are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedSources {
    /// The directory of the sources, as debug information names it.
    pub directory: PathBuf,
    /// The paths of the files, relative to the directory.
    pub files: BTreeSet<String>,
}

/// An own line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct SourceLine<'t> {
    /// Path relative to the directory of the sources.
    file: &'t str,
    line: u32,
}

impl<'t> SourceLine<'t> {
    /// Returns the line of `cost` if its file is counted.
    fn from_cost(cost: &Cost<'t>, sources: &CountedSources) -> Option<Self> {
        let file = Path::new(cost.file).strip_prefix(&sources.directory).ok()?;
        let file = file.to_str().filter(|file| sources.files.contains(*file))?;
        (cost.line > 0).then_some(Self {
            file,
            line: cost.line,
        })
    }
}

/// An own line that calls a function, or a foreign function that calls it.
struct Caller<'t> {
    function: &'t str,
    place: Option<SourceLine<'t>>,
    /// The inclusive instructions of the calls.
    instructions: u64,
}

/// Parses a file of callgrind like [`ProfilePart::parse`], but the entries of the profile are own lines. Foreign instructions that no own line has caused
/// count for their function.
pub(super) fn attribute_lines(text: &str, sources: &CountedSources) -> Option<ProfilePart> {
    let mut functions: BTreeMap<&str, Vec<Cost<'_>>> = BTreeMap::new();
    let trigger = read_costs(text, &mut |cost| {
        functions.entry(cost.function).or_default().push(cost);
    })?;
    let mut lines: BTreeMap<SourceLine<'_>, f64> = BTreeMap::new();
    // The instructions of foreign functions, to be assigned to their callers.
    let mut foreign: BTreeMap<&str, f64> = BTreeMap::new();
    let mut callers: BTreeMap<&str, Vec<Caller<'_>>> = BTreeMap::new();
    for (&function, costs) in &functions {
        // Code before the first own line counts for that line.
        let mut places = costs
            .iter()
            .filter_map(|cost| SourceLine::from_cost(cost, sources));
        let mut place = places.next();
        for cost in costs {
            place = SourceLine::from_cost(cost, sources).or(place);
            match (cost.callee, place) {
                (Some(callee), _) => callers.entry(callee).or_default().push(Caller {
                    function,
                    place,
                    instructions: cost.instructions,
                }),
                (None, Some(place)) => {
                    *lines.entry(place).or_default() += cost.instructions as f64;
                }
                (None, None) => {
                    *foreign.entry(function).or_default() += cost.instructions as f64;
                }
            }
        }
    }
    let unassigned = assign_to_callers(foreign, &callers, &mut lines);
    let mut profile = Profile::default();
    let lines = lines.into_iter().map(|(SourceLine { file, line }, count)| {
        let file = file.to_owned();
        (ProfileEntry::Line { file, line }, count)
    });
    let unassigned = unassigned
        .into_iter()
        .map(|(function, count)| (ProfileEntry::Function(function.to_owned()), count));
    for (entry, count) in lines.chain(unassigned) {
        let count = count.round() as u64;
        if count > 0 {
            profile.add_count(entry, count);
        }
    }
    Some(ProfilePart {
        trigger: trigger.to_owned(),
        profile,
    })
}

/// Assigns the instructions of foreign functions to the `lines` that have caused them. Returns the instructions without such a line.
fn assign_to_callers<'t>(
    mut foreign: BTreeMap<&'t str, f64>,
    callers: &BTreeMap<&'t str, Vec<Caller<'t>>>,
    lines: &mut BTreeMap<SourceLine<'t>, f64>,
) -> BTreeMap<&'t str, f64> {
    let mut unassigned: BTreeMap<&str, f64> = BTreeMap::new();
    for _ in 0..LONGEST_CHAIN {
        let mut outer: BTreeMap<&str, f64> = BTreeMap::new();
        for (function, count) in foreign {
            let calls = callers.get(function).map_or(&[][..], Vec::as_slice);
            // Recursive calls count for the callers that began the recursion.
            let calls = calls.iter().filter(|caller| caller.function != function);
            let total: u64 = calls.clone().map(|caller| caller.instructions).sum();
            if total == 0 {
                *unassigned.entry(function).or_default() += count;
            }
            for caller in calls.filter(|_| total > 0) {
                let share = count * caller.instructions as f64 / total as f64;
                match caller.place {
                    Some(place) => *lines.entry(place).or_default() += share,
                    None => *outer.entry(caller.function).or_default() += share,
                }
            }
        }
        foreign = outer;
    }
    for (function, count) in foreign {
        *unassigned.entry(function).or_default() += count;
    }
    unassigned
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the entries of a file of callgrind with this body: functions, then lines such as `src/lib.rs:12`.
    fn lines(body: &str) -> Vec<(String, u64)> {
        let text =
            format!("desc: Trigger: --dump-before=close\npositions: line\nevents: Ir\n{body}");
        let sources = CountedSources {
            directory: PathBuf::from("/w"),
            files: ["src/lib.rs", "src/a.rs", "c.rs"].map(str::to_owned).into(),
        };
        let part = attribute_lines(&text, &sources).expect("a part");
        assert_eq!(part.trigger, "--dump-before=close");
        let functions = part.profile.functions();
        let functions = functions.map(|(name, count)| (name.to_owned(), count));
        let files = part.profile.lines().into_iter();
        let lines = files.flat_map(|(file, lines)| {
            let named = move |(line, count)| (format!("{file}:{line}"), count);
            lines.into_iter().map(named)
        });
        functions.chain(lines).collect()
    }

    #[track_caller]
    fn check(body: &str, expected: &[(&str, u64)]) {
        let expected: Vec<(String, u64)> = expected
            .iter()
            .map(|(name, count)| ((*name).to_owned(), *count))
            .collect();
        assert_eq!(lines(body), expected, "{body}");
    }

    #[test]
    fn inlined_code_counts_for_the_line_before_it() {
        let body = "fl=(1) /w/src/lib.rs\nfn=(1) f\nfi=(2) /std/iter.rs\n7 1\nfe=(1)\n3 10\nfi=(2)\n+70 200\nfe=(1)\n4 5\n0 2\n\
             fi=(3) /w/src/a.rs\n9 30\nfi=(2)\n80 4\n";
        check(
            body,
            &[
                ("src/a.rs:9", 34),
                ("src/lib.rs:3", 211),
                ("src/lib.rs:4", 7),
            ],
        );
        // A directory whose name begins in the same way is another one.
        check("fl=(1) /wide/src/lib.rs\nfn=(1) f\n3 10\n", &[("f", 10)]);
    }

    #[test]
    fn foreign_functions_count_for_their_callers_in_proportion() {
        // `sort` calls the closure, whose 60 instructions are its own, and `swap`, which only `sort` calls.
        let body = "fl=(1) /w/src/lib.rs\nfn=(1) f\n1 10\ncfi=(2) /std/sort.rs\ncfn=(2) sort\ncalls=3 5\n2 300\n\
             fn=(4) g\n20 1\ncfi=(2)\ncfn=(2)\ncalls=1 5\n21 100\n\
             fl=(2)\nfn=(2)\n5 140\ncfi=(1)\ncfn=(3) closure\ncalls=9 3\n5 60\ncfn=(5) swap\ncalls=9 9\n6 200\ncfn=(2)\ncalls=1 5\n7 50\n\
             fn=(5)\n9 200\n\
             fl=(1)\nfn=(3)\n3 60\n\
             fl=(2)\nfn=(6) main\n8 4\ncfn=(1)\ncalls=1 1\n8 310\n";
        check(
            body,
            &[
                ("main", 4),
                ("src/lib.rs:1", 10),
                ("src/lib.rs:2", 255),
                ("src/lib.rs:3", 60),
                ("src/lib.rs:20", 1),
                ("src/lib.rs:21", 85),
            ],
        );
    }

    #[test]
    fn a_vendored_crate_counts_for_its_callers() {
        let body = "fl=(1) /w/src/lib.rs\nfn=(1) f\n1 10\ncfi=(2) /w/vendor/x/src/lib.rs\ncfn=(2) x\ncalls=1 5\n2 100\n\
             fl=(2)\nfn=(2)\n5 100\n";
        check(body, &[("src/lib.rs:1", 10), ("src/lib.rs:2", 100)]);
    }

    #[test]
    fn mutual_recursion_of_foreign_functions_ends() {
        let body = "fl=(1) /std/a.rs\nfn=(1) a\n1 10\ncfn=(2) b\ncalls=1 1\n1 50\nfn=(2)\n2 20\ncfn=(1)\ncalls=1 1\n2 50\n\
             fl=(2) /w/c.rs\nfn=(3) c\n3 1\ncfn=(1)\ncalls=1 1\n3 50\n";
        check(body, &[("c.rs:3", 31)]);
        // Nobody else calls them.
        let entries = lines(
            "fl=(1) /std/a.rs\nfn=(1) a\n1 10\ncfn=(2) b\ncalls=1 1\n1 50\nfn=(2)\n2 20\ncfn=(1)\ncalls=1 1\n2 50\n",
        );
        assert_eq!(entries.iter().map(|(_, count)| count).sum::<u64>(), 30);
    }
}
