//! Finds the line that names a benchmark in the source of its bench target.
//!
//! Benches of every harness spell the parts of an id as string literals or function names, so the source alone suffices.

/// Returns the number of the line that names the benchmark `id`, for annotations; 1 if no line does.
///
/// Searches the parts of the id in order, each from the line of the previous part on: a name may occur in several groups. Skips parts that are not in
/// the source, such as inputs.
pub(super) fn find_line(source: &str, id: &str) -> usize {
    let lines: Vec<&str> = source.lines().collect();
    let mut place = None;
    for part in id.split('/').flat_map(|part| part.split("::")) {
        let from = place.unwrap_or(0);
        let after = lines[from..].iter().position(|line| line_names(line, part));
        place = after.map(|after| from + after).or(place);
    }
    place.map_or(1, |place| place + 1)
}

/// Reports whether the line's code contains the name as a string literal or declares a function with it.
fn line_names(line: &str, name: &str) -> bool {
    let code = line.trim_start();
    if name.is_empty() || code.starts_with("//") {
        return false;
    }
    let declares = |declared: &str| {
        let rest = declared.strip_prefix(name);
        rest.is_some_and(|rest| rest.trim_start().starts_with(['(', '<']))
    };
    code.contains(&format!("\"{name}\"")) || code.split("fn ").skip(1).any(declares)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = r#"// "stable" is named here, too.
fn sorts(suite: &mut Suite) {
    let mut group = suite.group("sort");
    group.bench_inputs("stable", [10, 1000], |b, n| b.iter(|| sort(n)));
    suite.group("search").bench("stable", |b| b.iter(|| search()));
}
#[divan::bench(args = [1, 2])]
fn fibonacci<const N: usize>(n: u64) -> u64 { fib(n) }
"#;

    #[test]
    fn a_benchmark_is_where_its_names_are_one_after_the_other() {
        for (id, line) in [
            ("sort/stable/1000", 4),
            ("search/stable", 5),
            ("fibonacci/2", 8),
            ("module::fibonacci", 8),
            ("fib", 1),
            ("nowhere", 1),
            ("", 1),
        ] {
            assert_eq!(find_line(SOURCE, id), line, "{id}");
        }
        assert_eq!(find_line("", "a"), 1);
    }
}
