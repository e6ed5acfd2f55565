//! Counts of instructions in the timed code of a bench. Finds the functions that delimit the timed code, parses the files that callgrind writes, and
//! selects the timed parts from them.
//!
//! A file says how many instructions each function has executed. If callgrind counts by stack, it says so for each function together with its
//! callers.

use object::{Object, ObjectSymbol, SymbolKind};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;

use perfcheck_code::readable_name;

/// The number of instructions that each function has executed itself, without the functions that it calls. If callgrind counts by stack, a function
/// has an entry for each chain of callers. If it counts by line, source lines have entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    counts: BTreeMap<ProfileEntry, u64>,
}

/// The code whose instructions an entry of a profile counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProfileEntry {
    /// A function, by its linker symbol. If callgrind counts by stack, the names of the callers follow it.
    Function(String),
    /// A source line of the workspace.
    Line {
        /// Path relative to the directory of the sources.
        file: String,
        line: u32,
    },
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
        self.counts.values().sum()
    }

    /// Iterates over the functions with the number of instructions of each. A name is a linker symbol. If callgrind counts by stack, the names of the
    /// callers follow it.
    pub fn functions(&self) -> impl Iterator<Item = (&str, u64)> {
        self.counts.iter().filter_map(|(entry, count)| match entry {
            ProfileEntry::Function(name) => Some((&**name, *count)),
            ProfileEntry::Line { .. } => None,
        })
    }

    /// Returns the number of instructions of each source line, by file.
    pub fn lines(&self) -> BTreeMap<&str, BTreeMap<u32, u64>> {
        let mut found: BTreeMap<&str, BTreeMap<u32, u64>> = BTreeMap::new();
        for (entry, count) in &self.counts {
            if let ProfileEntry::Line { file, line } = entry {
                found.entry(file).or_default().insert(*line, *count);
            }
        }
        found
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
        for (entry, count) in other.counts {
            self.add_count(entry, count);
        }
    }

    /// Subtracts the counts of `other`, and drops the entries that are left without instructions.
    #[must_use]
    pub fn subtract(mut self, other: &Self) -> Self {
        for (entry, count) in &mut self.counts {
            *count = count.saturating_sub(other.counts.get(entry).copied().unwrap_or(0));
        }
        self.counts.retain(|_, count| *count > 0);
        self
    }

    pub(super) fn add_count(&mut self, entry: ProfileEntry, count: u64) {
        let sum = self.counts.entry(entry).or_default();
        *sum = sum.saturating_add(count);
    }
}

impl ProfilePart {
    /// Parses a file of callgrind, whose format valgrind's manual describes under "Callgrind Format Specification". Only the first event is read.
    /// Returns `None` if the text has another format or if the first event is not `Ir`, instructions read.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut profile = Profile::default();
        let trigger = read_costs(text, &mut |cost: Cost<'_>| {
            // The inclusive instructions of calls are skipped, because the lines of the callee count them already.
            if cost.callee.is_none() {
                let function = ProfileEntry::Function(cost.function.to_owned());
                profile.add_count(function, cost.instructions);
            }
        })?;
        Some(Self {
            trigger: trigger.to_owned(),
            profile,
        })
    }
}

/// The instructions that a function has executed on one source line, itself or in calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost<'t> {
    /// The linker symbol of the function.
    pub(super) function: &'t str,
    /// The file of the source line. It is not that of the function for code that was inlined.
    pub(super) file: &'t str,
    /// The number of the line. 0 if it is unknown, or if callgrind did not count by line.
    pub(super) line: u32,
    /// If these are the inclusive instructions of calls, the function that was called.
    pub(super) callee: Option<&'t str>,
    pub(super) instructions: u64,
}

/// Passes each count of a file of callgrind to `visit`, in the order of the file. Returns the event that caused callgrind to write the file, or `None`
/// if the text has another format or if the first event is not `Ir`.
pub(super) fn read_costs<'t>(text: &'t str, visit: &mut dyn FnMut(Cost<'t>)) -> Option<&'t str> {
    let mut trigger = "";
    let mut positions = 1;
    let mut counts_instructions = false;
    let mut functions: HashMap<&str, &str> = HashMap::new();
    let mut files: HashMap<&str, &str> = HashMap::new();
    let mut cost = Cost {
        function: "",
        file: "",
        line: 0,
        callee: None,
        instructions: 0,
    };
    let mut callee = "";
    for line in text.lines() {
        if let Some(why) = line.strip_prefix("desc: Trigger: ") {
            trigger = why.trim();
        } else if let Some(named) = line.strip_prefix("positions: ") {
            positions = named.split_whitespace().count();
        } else if let Some(events) = line.strip_prefix("events: ") {
            counts_instructions = events.split_whitespace().next() == Some("Ir");
        } else if let Some(name) = line.strip_prefix("fn=") {
            cost.function = resolve_name(name, &mut functions)?;
        } else if let Some(name) = line.strip_prefix("cfn=") {
            callee = resolve_name(name, &mut functions)?;
        } else if let Some(name) =
            (["fl=", "fi=", "fe="].into_iter()).find_map(|key| line.strip_prefix(key))
        {
            cost.file = resolve_name(name, &mut files)?;
        } else if let Some(name) = line
            .strip_prefix("cfi=")
            .or_else(|| line.strip_prefix("cfl="))
        {
            resolve_name(name, &mut files)?;
        } else if line.starts_with("calls=") {
            cost.callee = Some(callee);
        } else if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
            let mut words = line.split_whitespace();
            let position = words.clone().nth(positions.saturating_sub(1));
            cost.line = resolve_line(position.unwrap_or_default(), cost.line);
            let count = words.nth(positions);
            cost.instructions = count.map_or(Some(0), |count| count.parse().ok())?;
            visit(cost);
            cost.callee = None;
        }
    }
    counts_instructions.then_some(trigger)
}

/// Returns the number of a line, which callgrind writes as a number or as a difference from the line before: `+3`, `-2`, or `*` for none.
fn resolve_line(text: &str, before: u32) -> u32 {
    let number = |text: &str| text.parse().unwrap_or(0);
    match text.split_at_checked(1) {
        Some(("+", more)) => before.saturating_add(number(more)),
        Some(("-", less)) => before.saturating_sub(number(less)),
        Some(("*", _)) => before,
        _ => number(text),
    }
}

/// Resolves callgrind's name compression: a name is written out once with a number, `(7) main`, and later as `(7)`.
fn resolve_name<'t>(text: &'t str, names: &mut HashMap<&'t str, &'t str>) -> Option<&'t str> {
    let Some((number, name)) = text.strip_prefix('(').and_then(|text| text.split_once(')')) else {
        return Some(text);
    };
    if name.is_empty() {
        return names.get(number).copied();
    }
    let name = name.trim_start();
    names.insert(number, name);
    Some(name)
}

/// The functions that mark where the timed code of a bench begins and ends. They depend on the harness.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TimedWindows {
    /// The crate `perfcheck` calls one function before the timed code and another one after it.
    Own {
        /// The linker symbols of the function that is called before the timed code.
        open: BTreeSet<String>,
        /// The linker symbols of the function that is called after the timed code.
        close: BTreeSet<String>,
    },
    /// Criterion reads the clock before and after the timed code, within its methods `iter*`.
    Criterion {
        /// The linker symbols of the methods `iter*`. A generic method has a symbol for each of its instances.
        methods: BTreeSet<String>,
    },
    /// divan calls one function before and after the timed code, on each of its threads.
    Divan {
        /// The linker symbols of the function that divan calls before and after the timed code.
        meetings: BTreeSet<String>,
    },
    /// All code of a process is timed, as in a program that is measured by running it.
    Whole,
}

/// The reason why the delimiting functions of an executable are unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TimedWindowsError {
    /// The file is not a readable executable.
    #[error("its executable cannot be read: {0}")]
    Unreadable(String),
    /// The functions have no symbols, or were optimized away.
    #[error("its executable has no symbols for the timing functions (`strip = true` removes them)")]
    NoNames,
}

/// The function that reads the clock on Linux.
const CLOCK: &str = "clock_gettime";
/// The methods of Criterion's bencher that read the clock. All other methods `iter*` call one of these.
const METHODS: [&str; 4] = ["iter", "iter_batched", "iter_batched_ref", "iter_custom"];

impl TimedWindows {
    /// Finds the windows of a bench that uses the crate `perfcheck`.
    pub fn find_perfcheck(executable: &[u8]) -> Result<Self, TimedWindowsError> {
        let names = functions(executable)?;
        let called = |end: &str| -> BTreeSet<String> {
            let of = |readable: &str| {
                readable.contains("perfcheck")
                    && readable.contains("Window")
                    && readable.ends_with(end)
            };
            let found = names.iter().filter(|(_, readable)| of(readable));
            found.map(|(symbol, _)| symbol.clone()).collect()
        };
        let (open, close) = (called("::open"), called("::close"));
        if open.is_empty() || close.is_empty() {
            return Err(TimedWindowsError::NoNames);
        }
        Ok(Self::Own { open, close })
    }

    /// Finds the windows of a Criterion bench.
    pub fn find_criterion(executable: &[u8]) -> Result<Self, TimedWindowsError> {
        let names = functions(executable)?.into_iter();
        let methods: BTreeSet<String> = names
            .filter(|(_, readable)| method(readable).is_some_and(|name| METHODS.contains(&name)))
            .map(|(symbol, _)| symbol)
            .collect();
        if methods.is_empty() {
            return Err(TimedWindowsError::NoNames);
        }
        Ok(Self::Criterion { methods })
    }

    /// Finds the windows of a divan bench.
    pub fn find_divan(executable: &[u8]) -> Result<Self, TimedWindowsError> {
        let names = functions(executable)?.into_iter();
        let meetings: BTreeSet<String> = names
            .filter(|(_, readable)| is_divan_sync(readable))
            .map(|(symbol, _)| symbol)
            .collect();
        if meetings.is_empty() {
            return Err(TimedWindowsError::NoNames);
        }
        Ok(Self::Divan { meetings })
    }

    /// Returns the options that make callgrind write a file at each delimiting function.
    pub(super) fn dump_options(&self) -> Vec<OsString> {
        let option = |when: &str, name: &str| OsString::from(format!("--dump-{when}={name}"));
        match self {
            Self::Own { open, close } => {
                let opened = open.iter().map(|name| option("after", name));
                let closed = close.iter().map(|name| option("before", name));
                opened.chain(closed).collect()
            }
            Self::Criterion { methods: names } | Self::Divan { meetings: names } => {
                // Each function needs both options, but callgrind honors only one of two options for the same name. It honors both if one of them is
                // a pattern, all patterns come first, and no pattern shares its first characters with a name.
                let after = names.iter().map(|name| option("after", &pattern(name)));
                let before = names.iter().map(|name| option("before", name));
                let has_clock = matches!(self, Self::Criterion { .. });
                let clock = has_clock.then(|| option("before", &format!("*{CLOCK}*")));
                after.chain(before).chain(clock).collect()
            }
            Self::Whole => Vec::new(),
        }
    }

    /// Removes the complete windows from `parts`. Returns a profile for each of these windows, in the order of execution, that counts only the timed
    /// code. The parts of an incomplete window stay in `parts`. The first window of a Criterion bench sets `readings`.
    pub(super) fn take_timed(
        &self,
        parts: &mut Vec<ProfilePart>,
        readings: &mut Option<ClockReadings>,
    ) -> Vec<Profile> {
        match self {
            Self::Own { close, .. } => {
                let is_closed = |part: &ProfilePart| {
                    bounding_function(part, "before").is_some_and(|name| close.contains(name))
                };
                let parts = std::mem::take(parts).into_iter();
                parts.filter(is_closed).map(|part| part.profile).collect()
            }
            Self::Criterion { methods } => {
                let mut windows = Vec::new();
                while let Some(end) = parts.iter().position(|part| {
                    bounding_function(part, "after").is_some_and(|name| methods.contains(name))
                }) {
                    let whole: Vec<ProfilePart> = parts.drain(..=end).collect();
                    windows.push(timed_by_criterion(whole, methods, readings));
                }
                windows
            }
            Self::Divan { meetings } => {
                std::iter::from_fn(|| take_divan_sample(parts, meetings)).collect()
            }
            Self::Whole => parts.drain(..).map(|part| part.profile).collect(),
        }
    }
}

/// Says whose code reads the clock while one of Criterion's timing methods runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClockReadings {
    /// Only Criterion reads the clock.
    OfCriterion,
    /// The benchmark reads the clock too, so the readings that delimit the timed code are unknown.
    Mixed,
}

/// The number of files that callgrind writes during a call of `iter_batched` with a single iteration, if only Criterion reads the clock.
const PARTS_OF_ONE_BATCH: usize = 5;

/// Returns the profile of the timed code in one call of a Criterion method. The last of `parts` was written at the end of that call.
///
/// A method reads the clock when it begins and when it ends. In between it reads the clock before and after the timed
/// code of each batch of inputs. If the benchmark reads the clock too, everything that the method does is counted.
fn timed_by_criterion(
    mut parts: Vec<ProfilePart>,
    methods: &BTreeSet<String>,
    readings: &mut Option<ClockReadings>,
) -> Profile {
    let is_begin = |part: &ProfilePart| {
        bounding_function(part, "before").is_some_and(|name| methods.contains(name))
    };
    let begin = parts
        .iter()
        .rposition(is_begin)
        .map_or(0, |place| place + 1);
    let inside = parts.split_off(begin);
    let count = inside.len();
    let readings = *readings.get_or_insert(if count == PARTS_OF_ONE_BATCH {
        ClockReadings::OfCriterion
    } else {
        ClockReadings::Mixed
    });
    let is_batched = inside
        .last()
        .and_then(|part| bounding_function(part, "after"))
        .is_some_and(|name| {
            method(&readable_name(name)).is_some_and(|method| method.starts_with("iter_batched"))
        });
    let in_batches =
        is_batched && readings == ClockReadings::OfCriterion && !count.is_multiple_of(2);
    let mut timed = Profile::default();
    for (place, part) in inside.into_iter().enumerate() {
        // The parts are: begin | inputs | timed | drop, inputs | timed | ... | drop | end. Each `|` is a reading of the clock. The timed parts have
        // the even indices from 2 on, without the last one.
        let is_between = place >= 2 && place.is_multiple_of(2) && place + 2 < count;
        if !in_batches || is_between {
            timed.add(part.profile);
        }
    }
    timed
}

/// Removes the first complete sample from `parts` and returns the profile of its timed code. Returns `None` if no sample is complete.
///
/// The threads synchronize before and after the timed code, and no thread leaves a synchronization before all have entered it. The timed code of all
/// threads is therefore between the first exit from the first synchronization and the last entry into the second.
fn take_divan_sample(parts: &mut Vec<ProfilePart>, meetings: &BTreeSet<String>) -> Option<Profile> {
    let is_at = |part: &ProfilePart, when: &str| {
        bounding_function(part, when).is_some_and(|name| meetings.contains(name))
    };
    let left = parts.iter().position(|part| is_at(part, "after"))?;
    let entered = |parts: &[ProfilePart]| parts.iter().filter(|part| is_at(part, "before")).count();
    let threads = entered(&parts[..left]);
    let ends = |when| {
        let places = parts.iter().enumerate();
        let mut places = places.filter(move |(_, part)| is_at(part, when));
        places.nth((2 * threads).checked_sub(1)?)
    };
    let (last, _) = ends("before")?;
    let (end, _) = ends("after")?;
    let mut timed = Profile::default();
    for part in parts.drain(..=end).take(last + 1).skip(left + 1) {
        timed.add(part.profile);
    }
    Some(timed)
}

/// Reports whether a demangled name is that of the function in which divan synchronizes its threads:
/// `divan::benchmark::BenchContext::sample_recorder::{{closure}}::{{closure}}::sync_impl`.
fn is_divan_sync(readable: &str) -> bool {
    readable
        .split_once("divan::")
        .is_some_and(|(_, rest)| rest.contains("sample_recorder"))
        && readable.ends_with("::sync_impl")
}

/// Returns the function whose entry (`when` is "before") or exit (`when` is "after") caused callgrind to write the part. Returns `None` if callgrind
/// had another cause.
fn bounding_function<'p>(part: &'p ProfilePart, when: &str) -> Option<&'p str> {
    let rest = part.trigger.strip_prefix("--dump-")?;
    rest.strip_prefix(when)?.strip_prefix('=')
}

/// Returns the symbol as a pattern for callgrind, with `?` in place of the first character. No other symbol is expected to match the pattern.
fn pattern(symbol: &str) -> String {
    let mut rest = symbol.chars();
    rest.next();
    format!("?{}", rest.as_str())
}

/// Returns the name of the method if the demangled name is a method of one of Criterion's benchers:
/// `criterion::bencher::Bencher<M>::iter`, or
/// `<criterion::bencher::Bencher<criterion::measurement::WallTime>>::iter::<u8, ..>`. Closures within a method do not
/// count.
fn method(readable: &str) -> Option<&str> {
    let (_, rest) = readable.split_once("criterion::bencher::")?;
    let (_, rest) = rest.split_once("Bencher<")?;
    let mut depth = 1;
    let end = rest.find(|c| {
        depth += match c {
            '<' => 1,
            '>' => -1,
            _ => 0,
        };
        depth == 0
    })?;
    let rest = rest[end..].trim_start_matches('>').strip_prefix("::")?;
    let (name, rest) = rest.split_at(rest.find(':').unwrap_or(rest.len()));
    (rest.is_empty() || rest.starts_with("::<") && !rest.ends_with('}')).then_some(name)
}

/// Lists the functions of an executable, each with its linker symbol and its demangled name.
fn functions(executable: &[u8]) -> Result<Vec<(String, String)>, TimedWindowsError> {
    let file = object::File::parse(executable)
        .map_err(|error| TimedWindowsError::Unreadable(error.to_string()))?;
    let symbols = file
        .symbols()
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition());
    let named = symbols.filter_map(|symbol| symbol.name().ok());
    Ok(named
        .map(|name| (name.to_owned(), readable_name(name)))
        .collect())
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

    fn parts(written: &[(&str, u64)]) -> Vec<ProfilePart> {
        let part = |(trigger, count): &(&str, u64)| {
            let text = format!(
                "desc: Trigger: --dump-{trigger}\npositions: line\nevents: Ir\nfn=(1) f\n0 {count}\n"
            );
            ProfilePart::parse(&text).expect("a part")
        };
        written.iter().map(part).collect()
    }

    fn totals(windows: &TimedWindows, parts: &mut Vec<ProfilePart>) -> Vec<u64> {
        let known = &mut Some(ClockReadings::OfCriterion);
        windows
            .take_timed(parts, known)
            .iter()
            .map(Profile::total)
            .collect()
    }

    #[test]
    fn of_a_bench_of_ours_what_stands_between_open_and_close_is_timed() {
        let own = TimedWindows::Own {
            open: ["o".to_owned()].into(),
            close: ["c".to_owned()].into(),
        };
        let mut written = parts(&[
            ("after=o", 1_000),
            ("before=c", 30),
            ("after=o", 2_000),
            ("before=c", 4),
        ]);
        assert_eq!(totals(&own, &mut written), [30, 4]);
        assert_eq!(own.dump_options(), ["--dump-after=o", "--dump-before=c"]);
    }

    /// Symbols as compilers emit them.
    const ITER: &str = "_ZN9criterion7bencher16Bencher$LT$M$GT$4iter17h0bb6b9d67658ef16E";
    const BATCHED: &str =
        "_ZN9criterion7bencher16Bencher$LT$M$GT$12iter_batched17h635fcada04e8714eE";

    #[test]
    fn of_a_batch_in_criterion_what_stands_between_two_readings_of_the_clock_is_timed() {
        let windows = TimedWindows::Criterion {
            methods: [ITER.to_owned(), BATCHED.to_owned()].into(),
        };
        let clock = "before=clock_gettime@@GLIBC_2.17";
        let (begin, end) = (format!("before={BATCHED}"), format!("after={BATCHED}"));
        // Two batches: inputs cost 500, 100 and 90 are timed, and dropping outputs costs 7.
        let mut written = parts(&[
            (&begin, 9_999),
            (clock, 3),
            (clock, 500),
            (clock, 100),
            (clock, 507),
            (clock, 90),
            (clock, 7),
            (&end, 2),
        ]);
        // The next call has begun.
        written.extend(parts(&[(&begin, 9_999), (clock, 3)]));
        assert_eq!(totals(&windows, &mut written), [190]);
        assert_eq!(written.len(), 2);

        // The first window has one iteration. The benchmark reads the clock twice in it, so Criterion's readings
        // cannot be told from the benchmark's.
        let one = [(&*begin, 9_999), (clock, 3), (clock, 500), (clock, 10)];
        let rest = [(clock, 20), (clock, 30), (clock, 7), (&*end, 2)];
        let mut readings = None;
        let mut written = parts(&[&one[..], &rest[..]].concat());
        let found = windows.take_timed(&mut written, &mut readings);
        assert_eq!(
            (found[0].total(), readings),
            (572, Some(ClockReadings::Mixed))
        );
        let whole = || {
            parts(&[
                (&begin, 9),
                (clock, 3),
                (clock, 500),
                (clock, 100),
                (clock, 7),
                (&end, 2),
            ])
        };
        assert_eq!(
            windows.take_timed(&mut whole(), &mut readings)[0].total(),
            612
        );
        assert_eq!(windows.take_timed(&mut whole(), &mut None)[0].total(), 100);

        let (begin, end) = (format!("before={ITER}"), format!("after={ITER}"));
        let mut written = parts(&[
            (&begin, 9_999),
            (clock, 3),
            (clock, 4),
            (clock, 100),
            (clock, 5),
            (&end, 2),
        ]);
        assert_eq!(totals(&windows, &mut written), [114]);
    }

    /// The symbol as compilers emit it.
    const MEETING: &str = "_ZN5divan9benchmark12BenchContext15sample_recorder28_$u7b$$u7b$closure$u7d$$u7d$28_$u7b$$u7b$closure$u7d$$u7d$9sync_impl17h0bb6b9d67658ef16E";

    #[test]
    fn of_a_sample_of_divan_what_stands_between_two_meetings_of_its_threads_is_timed() {
        assert!(
            is_divan_sync(&readable_name(MEETING)),
            "{}",
            readable_name(MEETING)
        );
        let windows = TimedWindows::Divan {
            meetings: [MEETING.to_owned()].into(),
        };
        let (enters, leaves) = (format!("before={MEETING}"), format!("after={MEETING}"));
        let rest = MEETING.strip_prefix('_').expect("its beginning");
        let bounds = [format!("--dump-after=?{rest}"), format!("--dump-{enters}")];
        assert_eq!(windows.dump_options(), bounds.map(OsString::from));
        // One thread: the input costs 9,000, the output 800.
        let sample = |timed| {
            [
                (&*enters, 9_000),
                (&*leaves, 30),
                (&*enters, timed),
                (&*leaves, 40),
            ]
        };
        let mut written = parts(&[&sample(100)[..], &[("", 800)], &sample(200)].concat());
        // A third sample has not ended.
        written.extend(parts(&sample(300)[..3]));
        assert_eq!(totals(&windows, &mut written), [100, 200]);
        assert_eq!(written.len(), 3);
        // Two threads; one finishes before the other has begun.
        let mut written = parts(&[
            (&enters, 9_000),
            (&enters, 9_000),
            (&leaves, 30),
            (&enters, 100),
            (&leaves, 5),
            (&enters, 100),
            (&leaves, 40),
            (&leaves, 40),
        ]);
        assert_eq!(totals(&windows, &mut written), [205]);
        assert!(written.is_empty());
    }

    #[test]
    fn a_pattern_and_a_name_are_two_options_for_one_function() {
        let windows = TimedWindows::Criterion {
            methods: [ITER.to_owned()].into(),
        };
        let rest = ITER.strip_prefix('_').expect("its beginning");
        assert_eq!(
            windows.dump_options(),
            [
                format!("--dump-after=?{rest}"),
                format!("--dump-before={ITER}"),
                "--dump-before=*clock_gettime*".to_owned()
            ]
            .map(OsString::from)
        );
    }

    #[test]
    fn methods_that_time_are_told_from_what_is_within_them() {
        for (name, found) in [
            ("criterion::bencher::Bencher<M>::iter", Some("iter")),
            (
                "criterion::bencher::AsyncBencher<A,M>::iter_batched",
                Some("iter_batched"),
            ),
            (
                "<criterion::bencher::Bencher<criterion::measurement::WallTime>>::iter_custom::<work::{closure#0}>",
                Some("iter_custom"),
            ),
            ("criterion::bencher::Bencher<M>::iter::{{closure}}", None),
            (
                "<criterion::bencher::Bencher<M>>::iter::<u8, f>::{closure#0}",
                None,
            ),
            (
                "criterion::bencher::Bencher<M>::iter_with_setup",
                Some("iter_with_setup"),
            ),
            ("work::bencher::Bencher<M>::iter", None),
            ("criterion::bencher::Bencher<M", None),
        ] {
            assert_eq!(method(name), found, "{name}");
        }
    }

    #[test]
    #[cfg_attr(not(target_os = "linux"), ignore = "callgrind reads ELF alone")]
    fn an_executable_without_the_functions_says_so() {
        let executable = std::fs::read(std::env::current_exe().expect("a path")).expect("readable");
        assert_eq!(
            TimedWindows::find_perfcheck(&executable),
            Err(TimedWindowsError::NoNames)
        );
        assert_eq!(
            TimedWindows::find_criterion(&executable),
            Err(TimedWindowsError::NoNames)
        );
        assert_eq!(
            TimedWindows::find_divan(&executable),
            Err(TimedWindowsError::NoNames)
        );
        assert!(matches!(
            TimedWindows::find_perfcheck(b"no executable"),
            Err(TimedWindowsError::Unreadable(_))
        ));
    }
}
