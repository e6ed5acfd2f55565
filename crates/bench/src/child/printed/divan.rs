//! Parses the output of divan: lists of names, and the tree of names beside a table of times.

use super::value::PrintedTime;

/// The column headings of the table, which divan prints in the first line of a run.
const HEADS: [&str; 6] = ["fastest", "slowest", "median", "mean", "samples", "iters"];
/// The separator of columns.
const BETWEEN: &str = " │ ";
/// divan prints four significant digits of a time of a microsecond or more, so such a time is at least this many units of its last digit.
const DIGITS: f64 = 1000.0;
/// The largest number of decimals that divan prints for a time in nanoseconds.
const DECIMALS: u32 = 3;

/// Reports whether this is the first line of divan's standard output: the name of a crate, then the heads of the
/// table.
pub(super) fn is_first_line(line: &str) -> bool {
    let mut columns = line.rsplitn(HEADS.len(), BETWEEN).map(str::trim);
    let rest = HEADS.iter().skip(1).rev();
    rest.zip(columns.by_ref())
        .filter(|(head, column)| *head == column)
        .count()
        == HEADS.len() - 1
        && columns
            .next()
            .is_some_and(|column| column.ends_with(HEADS[0]))
}

/// Parses a list in the format that divan prints for nextest. Each benchmark has its full path, including its arguments.
pub(super) fn parse_list(list: &str) -> impl Iterator<Item = &str> {
    list.lines()
        .filter_map(|line| line.strip_suffix(": benchmark"))
}

/// A node in the tree of names that divan prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Node {
    /// Names from the root to this node.
    pub(super) path: Vec<String>,
    /// Whether the benchmark is marked as ignored.
    pub(super) is_ignored: bool,
}

impl Node {
    /// Returns the path as divan prints it.
    pub(super) fn name(&self) -> String {
        self.path.join("::")
    }
}

/// Parses the tree that divan prints when it lists its benchmarks or runs each of them once. Benchmarks may print lines in between, so `is_root`
/// tells which names are roots of the tree.
pub(super) fn parse_tree(text: &str, is_root: &dyn Fn(&str) -> bool) -> Vec<Node> {
    let mut path: Vec<String> = Vec::new();
    let mut nodes = Vec::new();
    for line in text.lines() {
        let Some((depth, name)) = name_in_tree(line) else {
            continue;
        };
        let (name, is_ignored) = match name.strip_suffix("(ignored)") {
            Some(name) => (name.trim_end(), true),
            None => (name, false),
        };
        if name.is_empty() || (depth == 0 && !is_root(name)) || depth > path.len() {
            continue;
        }
        path.truncate(depth);
        path.push(name.to_owned());
        nodes.push(Node {
            path: path.clone(),
            is_ignored,
        });
    }
    nodes
}

/// Returns the depth of a name in the tree, and the name.
fn name_in_tree(line: &str) -> Option<(usize, &str)> {
    let mut rest = line;
    let mut depth = 0;
    loop {
        if let Some(name) = ["├─ ", "╰─ "].iter().find_map(|it| rest.strip_prefix(it)) {
            return Some((depth + 1, name));
        }
        match ["│  ", "   "].iter().find_map(|it| rest.strip_prefix(it)) {
            Some(deeper) => {
                depth += 1;
                rest = deeper;
            }
            None => return (depth == 0).then_some((0, rest)),
        }
    }
}

/// The result of one benchmark in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DivanRow {
    /// The time per iteration. This is the median of the samples.
    pub(super) median: PrintedTime,
    /// Total number of iterations of all samples and threads.
    pub(super) iterations: u64,
}

/// Parses the rows of benchmarks. Further rows of a benchmark, about throughput and allocations, have no number of samples and are skipped.
pub(super) fn parse_rows(table: &str) -> Vec<DivanRow> {
    let row = |line: &str| {
        // Split from the end, because names and lines that benchmarks print can contain anything.
        let mut columns = line.rsplitn(HEADS.len(), BETWEEN).map(str::trim);
        let [iterations, samples] = [columns.next()?, columns.next()?];
        let count = |text: &str| text.parse::<u64>().ok();
        let mut times = columns.map(parse_time);
        let [_mean, median, _slowest] = [times.next()??, times.next()??, times.next()??];
        let (iterations, _) = (count(iterations)?, count(samples)?);
        Some(DivanRow { median, iterations })
    };
    table.lines().filter_map(row).collect()
}

/// Returns the time in units of the last digit that divan prints. A time of only a few such units is too coarse to be compared.
pub(super) fn printed_steps(time: PrintedTime) -> f64 {
    let steps = time.steps_at(DECIMALS);
    if time.unit_ns() == 1 {
        steps
    } else {
        steps.max(DIGITS)
    }
}

/// Parses a time such as `1.323 µs`.
fn parse_time(text: &str) -> Option<PrintedTime> {
    let (number, unit) = text.split_once(' ')?;
    let unit_ns = match unit {
        "ns" => 1,
        // The micro sign and the Greek letter mu.
        "\u{b5}s" | "\u{3bc}s" | "us" => 1000,
        "ms" => 1_000_000,
        "s" => 1_000_000_000,
        "m" => 60_000_000_000,
        "h" => 3_600_000_000_000,
        "d" => 86_400_000_000_000,
        _ => return None,
    };
    PrintedTime::parse(number, unit_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn medians(table: &str) -> Vec<PrintedTime> {
        parse_rows(table).iter().map(|row| row.median).collect()
    }

    /// Output of divan 0.1.21.
    const TABLE: &str = "\
div             fastest       │ slowest       │ median        │ mean          │ samples │ iters
├─ a name       12.79 ns      │ 125.8 µs      │ 14.57 ns      │ 47.96 ns      │ 3909    │ 250176
│               max alloc:    │               │               │               │         │
│                 1           │ 1             │ 1             │ 1             │         │
│                 100 B       │ 100 B         │ 100 B         │ 100 B         │         │
├─ ignored      (ignored)     │               │               │               │         │
├─ threaded                   │               │               │               │         │
│  ├─ t=1       16.29 ns      │ 63.32 µs      │ 17.95 ns      │ 63.13 ns      │ 11497   │ 735808
│  ╰─ t=2       16.37 ns      │ 697.9 ns      │ 47.32 ns      │ 44.45 ns      │ 2546    │ 162944
╰─ grp                        │               │               │               │         │
   ├─ bytes     593.9 ns      │ 1.29 ms       │ 1.651 µs      │ 1.323 µs      │ 9531    │ 38124
   │            6.896 GB/s    │ 3.174 MB/s    │ 6.29 GB/s     │ 3.093 GB/s    │         │
   ╰─ deep                    │               │               │               │         │
      ╰─ empty  

";

    #[test]
    fn the_median_of_each_row_is_read_and_no_other_line() {
        let expected = ["14.57", "17.95", "47.32"].map(|number| PrintedTime::parse(number, 1));
        let expected: Vec<PrintedTime> = expected
            .into_iter()
            .chain([PrintedTime::parse("1.651", 1000)])
            .flatten()
            .collect();
        assert_eq!(medians(TABLE), expected);
        let iterations: Vec<u64> = parse_rows(TABLE).iter().map(|row| row.iterations).collect();
        assert_eq!(iterations, [250_176, 735_808, 162_944, 38_124]);
    }

    #[test]
    fn a_row_is_found_behind_what_the_benchmark_prints() {
        let row = "╰─ a    hello │ you 1 ns │ 4 ns │ 2.5 ms │ 3 ns │ 100 │ 51200";
        assert_eq!(
            medians(row),
            [PrintedTime::parse("2.5", 1_000_000).expect("a time")]
        );
    }

    #[test]
    fn its_first_line_is_known_from_others() {
        assert!(is_first_line(TABLE.lines().next().expect("a line")));
        assert!(is_first_line(
            "d fastest │ slowest │ median │ mean │ samples │ iters"
        ));
        assert!(!is_first_line(TABLE.lines().nth(1).expect("a line")));
        assert!(!is_first_line("fastest first"));
    }

    #[test]
    fn a_tree_becomes_paths_whatever_benchmarks_print_between() {
        let text = "div\n├─ a name\nhello\n├─ skipped      (ignored)\n├─ grp\n│  ├─ deep\n│  │  ╰─ empty\n│  ╰─ konst\n│     ╰─ 1\n╰─ last\n\nother\n╰─ x\n";
        let nodes = parse_tree(text, &|name| ["div", "other"].contains(&name));
        let names: Vec<String> = nodes.iter().map(Node::name).collect();
        let expected = [
            "div",
            "div::a name",
            "div::skipped",
            "div::grp",
            "div::grp::deep",
            "div::grp::deep::empty",
            "div::grp::konst",
            "div::grp::konst::1",
            "div::last",
            "other",
            "other::x",
        ];
        assert_eq!(names, expected);
        let ignored: Vec<String> = nodes
            .iter()
            .filter(|node| node.is_ignored)
            .map(Node::name)
            .collect();
        assert_eq!(ignored, ["div::skipped"]);
    }

    #[test]
    fn a_time_of_few_steps_is_told_from_one_that_only_ends_in_zeros() {
        let steps = |text: &str| printed_steps(parse_time(text).expect("a time"));
        assert!(steps("0.003 ns") < 100.0);
        assert!(steps("4.9 ns") >= 1000.0);
        assert!(steps("1 µs") >= 1000.0);
    }

    #[test]
    fn a_damaged_output_of_divan_is_read_or_refused() {
        let corpus = [
            "Timer precision: 20 ns\ncosts          fastest       │ slowest       │ median        │ mean          │ samples │ iters\n├─ fold                      │               │               │               │         │\n│  ├─ 10       1.323 µs      │ 2.51 µs       │ 1.4 µs        │ 1.41 µs       │ 100     │ 3200\n│  │           826 MB/s      │ 400 MB/s      │ 714 MB/s      │ 709 MB/s      │         │\n╰─ idle       (ignored)\n",
            "costs::fold::10: benchmark\ncosts::idle: benchmark\n",
        ];
        let corpus = corpus.map(|text| text.as_bytes().to_vec());
        perfcheck_mutations::attack("divan", &corpus, |bytes| {
            let text = String::from_utf8_lossy(bytes);
            let _ = (is_first_line(&text), parse_list(&text).count());
            let nodes = parse_tree(&text, &|root| root == "costs");
            let names: Vec<String> = nodes.iter().map(Node::name).collect();
            let of_times: Vec<f64> = medians(&text).into_iter().map(printed_steps).collect();
            drop((names, of_times));
        });
    }
}
