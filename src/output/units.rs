//! Names and numbers formatted for people. Machine-readable output uses the exact numbers instead.

use std::io::stdout;

use crate::output::terminal::Charset;
use crate::sanitize;
use perfcheck_analysis::compare::{Estimate, HostControls, Steadiness};
use perfcheck_analysis::model::{
    Benchmark, HostFacts, Metric, Nanos, SystemFeature, Throughput, as_in_cells,
};

/// A blank at which the text of a table cell is never broken into lines. It is printed as an ordinary blank.
pub(super) const NO_BREAK: char = '\u{a0}';

/// Maximum width of a name. Longer names are shortened in the middle, because their ends are more informative.
const LONGEST_NAME: usize = 60;

/// Shortens `text` in its middle if it is wider than `columns`.
pub(super) fn shorten_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let tail = take_columns(text.chars().rev(), room / 3);
    let tail: String = tail.chars().rev().collect();
    let head = take_columns(text.chars(), room - room / 3);
    format!("{head}…{tail}")
}

/// Returns the text, or a dash if there is none.
pub(super) fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

/// Formats a complete benchmark id on one line, without characters that control a terminal. Ids of imported benchmarks look as they did in the
/// imported file.
pub(super) fn escape_id(id: &str) -> String {
    as_in_cells(id).escape_debug().to_string()
}

/// Formats a benchmark id for a sentence in lines of `columns`. If lines are not broken (`usize::MAX`), the id is complete, so that a search in the
/// output finds it. Otherwise it is shortened.
pub(super) fn id_in_prose(id: &str, columns: usize) -> String {
    match columns {
        usize::MAX => escape_id(id),
        // Leave room for the indentation and a colon.
        _ => shorten_middle(&escape_id(id), LONGEST_NAME.min(columns.saturating_sub(4))),
    }
}

/// Formats a benchmark id on one line, shortened if it is long.
pub(super) fn short_id(id: &str) -> String {
    shorten_middle(&escape_id(id), LONGEST_NAME)
}

/// Returns the width of a text in columns, as stdout prints it, not counting color codes.
pub(super) fn width(text: &str) -> usize {
    let charset = Charset::global();
    anstream::adapter::strip_str(text)
        .map(|plain| charset.width(plain))
        .sum()
}

/// Breaks `text` into lines of at most `columns`, even within words.
pub(super) fn wrap_anywhere(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    let charset = Charset::global();
    for c in text.chars() {
        let width = charset.width_of_char(c);
        if used > 0 && used + width > columns {
            lines.push(String::new());
            used = 0;
        }
        used += width;
        if let Some(line) = lines.last_mut() {
            line.push(c);
        }
    }
    lines
}

/// Escapes everything that would control a terminal, line ends included.
pub(super) fn escape_line(text: &str) -> String {
    sanitize::one_line(text)
}

/// Minimum credible width of a terminal, in columns. A smaller width means that the terminal does not know its width.
const NARROWEST: usize = 20;

/// Returns the width of stdout in columns; `usize::MAX` for a file or a pipe.
pub fn terminal_width() -> usize {
    terminal_size().0
}

/// Returns the numbers of columns and of lines of the terminal on stdout. Both are `usize::MAX` if stdout is a file or a pipe.
pub(super) fn terminal_size() -> (usize, usize) {
    // The terminal is only asked; nothing is written.
    match terminal_size::terminal_size_of(stdout()) {
        Some((columns, lines)) if usize::from(columns.0) >= NARROWEST => {
            (columns.0.into(), lines.0.into())
        }
        _ => (usize::MAX, usize::MAX),
    }
}

/// Formats a value that is already in the unit of its metric: nanoseconds, units per second, or an amount.
pub(super) fn format_reading(metric: &Metric, value: f64) -> String {
    match metric {
        Metric::Time => time(value),
        Metric::Rate { unit } if unit == "bytes" => rate(value, "B/s"),
        Metric::Rate { unit } => rate(value, &format!("{}/s", sanitize::one_line(unit))),
        // Smaller numbers of bytes are as short without a prefix.
        Metric::Amount { unit } if unit == "bytes" && value >= 1e4 => bytes(value),
        Metric::Amount { unit } => format!("{} {}", four_digits(value), sanitize::one_line(unit)),
    }
}

/// Returns the leading characters of a text that fit into `columns`.
pub(super) fn take_columns(text: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    let charset = Charset::global();
    text.take_while(|c| {
        used += charset.width_of_char(*c);
        used <= columns
    })
    .collect()
}

/// Breaks `text` between words into lines of at most `columns`. A longer word gets a line of its own. Existing line ends are kept.
pub(super) fn wrap_words(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        for phrase in split_phrases(paragraph) {
            // Break a phrase only if no line can hold it.
            let words = if width(&phrase) > columns {
                phrase.split(' ').collect()
            } else {
                vec![phrase.as_str()]
            };
            for word in words {
                if !line.is_empty() && width(&line) + 1 + width(word) > columns {
                    lines.push(std::mem::take(&mut line));
                }
                if !line.is_empty() {
                    line.push(' ');
                }
                line.push_str(word);
            }
        }
        lines.push(line);
    }
    lines
}

/// Returns `text` as one line if it fits into `columns`. Otherwise breaks it between words, as [`wrap_words`] does.
pub(super) fn wrap_if_needed(text: &str, columns: usize) -> Vec<String> {
    if width(text) <= columns {
        vec![text.to_owned()]
    } else {
        wrap_words(text, columns)
    }
}

/// Splits a line into phrases, which should not be broken into lines. A phrase has one or more words: a number stays with its unit or noun (`2.5 %`,
/// `2 of 13 regressed`), and a number at the end of the line stays with the word before it.
fn split_phrases(line: &str) -> Vec<String> {
    // Do not split at a no-break space, whose purpose is to keep its words together.
    let words = line.split(|c: char| c.is_whitespace() && c != NO_BREAK);
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let mut phrases: Vec<String> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |at| words[at]);
        let of_what = at.checked_sub(2).map_or("", |at| words[at]);
        let is_noun = is_number(before) && !starts_with_digit(word);
        let is_total = before == "of" && is_number(of_what);
        let is_last = at + 1 == words.len() && is_number(word.trim_end_matches(['.', ')', ';']));
        match phrases.last_mut() {
            Some(phrase) if is_noun || is_total || is_last => {
                phrase.push(' ');
                phrase.push_str(word);
            }
            _ => phrases.push((*word).to_owned()),
        }
    }
    phrases
}

/// Reports whether a word is a number, with no punctuation after it: `13`, `−2.5`.
fn is_number(word: &str) -> bool {
    let word = word.trim_start_matches(['+', '-', '−', '(', '[']);
    starts_with_digit(word)
        && word.ends_with(|c: char| c.is_ascii_digit())
        && word
            .chars()
            .all(|c| c.is_ascii_digit() || c == '.' || c == ',')
}

fn starts_with_digit(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// Formats nanoseconds with four significant digits and a suitable unit: `123.4 ns`, `1.234 µs`.
pub(super) fn time(nanoseconds: f64) -> String {
    let magnitude = nanoseconds.abs();
    let (value, unit) = if magnitude < 1.0 {
        (nanoseconds * 1e3, "ps")
    } else if magnitude < 1e3 {
        (nanoseconds, "ns")
    } else if magnitude < 1e6 {
        (nanoseconds / 1e3, "µs")
    } else if magnitude < 1e9 {
        (nanoseconds / 1e6, "ms")
    } else {
        (nanoseconds / 1e9, "s")
    };
    format!("{} {unit}", four_digits(value))
}

/// Formats a relative change in percent with its sign, and with two decimals if it is below 10 %: `+2.31 %`, `+23.1 %`, `+231 %`.
pub fn change(fraction: f64) -> String {
    let percent = fraction * 100.0;
    let decimals = match percent.abs() {
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        _ => 0,
    };
    let text = format!("{percent:+.decimals$} %");
    if text == "-0.00 %" {
        // A change that rounds to 0 is no improvement, so it has no minus sign.
        return "+0.00 %".to_owned();
    }
    text.replace('-', "−")
}

/// Formats a change with its interval: `+2.31 % [+1.90 %, ?]`. The question mark stands for an unknown bound.
pub(super) fn change_with_interval(found: &Estimate) -> String {
    let interval = change_interval(found.lower, found.upper);
    format!("{} {interval}", change(found.estimate))
}

/// Formats the interval of a change: `[+1.90 %, ?]`. The question mark stands for an unknown bound.
pub(super) fn change_interval(lower: f64, upper: f64) -> String {
    let bound = |value: f64| {
        if value.is_finite() {
            change(value)
        } else {
            "?".to_owned()
        }
    };
    format!("[{}, {}]", bound(lower), bound(upper))
}

/// Formats a p-value with four decimals.
pub(super) fn p_value(p: f64) -> String {
    if p < 0.0001 {
        "<.0001".to_owned()
    } else {
        format!("{p:.4}")
    }
}

/// Formats an effect size with its sign: `−0.250`.
pub(super) fn effect(size: f64) -> String {
    format!("{size:+.3}").replace('-', "−")
}

/// Formats an unsigned percentage: `1 %`, `0.5 %`.
pub fn percent(fraction: f64) -> String {
    let rounded = (fraction * 1e6).round() / 1e4;
    format!("{rounded} %")
}

/// Formats a percentage as one word, for command lines: `1%`, `0.5%`.
pub(super) fn percent_argument(fraction: f64) -> String {
    percent(fraction).replace(' ', "")
}

/// Formats the level of one of several intervals that share a confidence level: `98.33 %`. With many intervals it is close to 100 %, so its distance
/// from 100 % keeps three significant digits.
pub(super) fn shared_level(level: f64) -> String {
    let missing = 1.0 - level;
    if missing <= 0.0 {
        return percent(level);
    }
    let decimals = (2.0 - (missing * 100.0).log10().floor()).clamp(2.0, 12.0) as usize;
    let digits = format!("{:.decimals$}", level * 100.0);
    format!("{} %", digits.trim_end_matches('0').trim_end_matches('.'))
}

/// Formats a share that is only an estimate, in percent, with one decimal if it is below 10 %: `45 %`, `1.3 %`.
pub(super) fn rounded_percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent == 0.0 || percent >= 9.95 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// Formats the step of a bench's clock: `Timer resolution: 1000000000 ticks/s (1 ns per tick)`.
pub(super) fn timer_resolution(step: Nanos) -> String {
    format!("Timer resolution: {}", clock_rate(step))
}

/// Formats the step of a clock: `1000000000 ticks/s (1 ns per tick)`.
pub(super) fn clock_rate(step: Nanos) -> String {
    let ticks = 1e9 / step.as_f64();
    format!("{ticks:.0} ticks/s ({} ns per tick)", step.0)
}

/// Formats the largest rounding error of a latency histogram, with two significant digits: `0.098 %`, `6.2 %`.
pub(super) fn rounding(fraction: f64) -> String {
    let percent = fraction * 100.0;
    let decimals = (1.0 - percent.log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{percent:.decimals$} %")
}

/// Returns a noun as needed after a number: `process` after 1, `processes` after any other.
pub(super) fn plural(count: usize, noun: &str) -> String {
    match count {
        1 => noun.to_owned(),
        _ if noun.ends_with("ch") || noun.ends_with("ss") => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// Formats a number with its noun: `1 process`, `5 processes`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {}", plural(count, noun))
}

/// Lists each count that is not 0 with its word: `3 low mild, 4 high severe`.
pub(super) fn counts(kinds: &[(usize, &str)]) -> String {
    let there = kinds.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = there
        .map(|(count, kind)| format!("{count} {kind}"))
        .collect();
    words.join(", ")
}

/// Formats an average count: `12`, `0.500`, `12345`.
pub(super) fn count(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        four_digits(value)
    }
}

/// Formats a difference of counts: `+12`, `-0.500`.
pub(super) fn signed_count(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "+" };
    format!("{sign}{}", count(value.abs()))
}

/// Formats a difference of times: `+1.234 µs`.
pub(super) fn signed_time(nanoseconds: f64) -> String {
    let sign = if nanoseconds < 0.0 { "-" } else { "+" };
    format!("{sign}{}", time(nanoseconds.abs()))
}

/// Formats bytes: `640 B`, `1.536 MB`. Whole numbers below 10,000 are exact, others have four digits.
pub(super) fn bytes(value: f64) -> String {
    if value < 1e4 && value.fract() == 0.0 {
        return format!("{value:.0} B");
    }
    rate(value, "B")
}

/// Formats bytes per second: `1.23 GB/s`.
fn byte_rate(bytes: u64, nanoseconds: f64) -> String {
    rate(bytes as f64 * 1e9 / nanoseconds, "B/s")
}

/// Formats elements per second: `1.23 Melem/s`.
fn element_rate(elements: u64, nanoseconds: f64) -> String {
    rate(elements as f64 * 1e9 / nanoseconds, "elem/s")
}

/// Formats the throughput of a benchmark whose iterations take `median` nanoseconds. Returns `None` if the benchmark declares no throughput. A
/// throughput that is neither in bytes nor in elements is returned in the words of the benchmark's author.
pub(super) fn throughput(benchmark: &Benchmark, median: f64) -> Option<String> {
    let Throughput { bytes, elements } = benchmark.throughput;
    let rates = [
        bytes.map(|bytes| byte_rate(bytes, median)),
        elements.map(|elements| element_rate(elements, median)),
    ];
    let rates: Vec<String> = rates.into_iter().flatten().collect();
    if rates.is_empty() {
        return benchmark.other_throughput.clone();
    }
    Some(rates.join(", "))
}

/// Formats operations per second: `1.23 M/s`.
pub(super) fn per_second(operations: f64) -> String {
    rate(operations, "/s")
}

/// Formats what one iteration costs: a time or an amount. If the metric is a rate, this is the time of one unit, not the number of units per second.
pub(super) fn format_cost(metric: &Metric, per_iteration: f64) -> String {
    match metric {
        Metric::Time | Metric::Rate { .. } => time(per_iteration),
        Metric::Amount { .. } => value(metric, per_iteration),
    }
}

/// Formats a value per iteration as its metric demands: a time, an amount, or units per second. For a rate, `per_iteration` is the time of one unit
/// in nanoseconds.
pub(super) fn value(metric: &Metric, per_iteration: f64) -> String {
    match metric {
        Metric::Rate { .. } => format_reading(metric, 1e9 / per_iteration),
        Metric::Time | Metric::Amount { .. } => format_reading(metric, per_iteration),
    }
}

/// Formats an interval of values per iteration, the smaller number first. For a rate, the bounds change places, because a longer time is a lower
/// rate.
pub(super) fn interval(metric: &Metric, lower: f64, upper: f64) -> String {
    let (first, last) = match metric {
        Metric::Rate { .. } => (upper, lower),
        Metric::Time | Metric::Amount { .. } => (lower, upper),
    };
    format!("[{}, {}]", value(metric, first), value(metric, last))
}

fn rate(per_second: f64, unit: &str) -> String {
    let (value, prefix) = if per_second < 1e3 {
        (per_second, "")
    } else if per_second < 1e6 {
        (per_second / 1e3, "k")
    } else if per_second < 1e9 {
        (per_second / 1e6, "M")
    } else {
        (per_second / 1e9, "G")
    };
    format!("{} {prefix}{unit}", four_digits(value))
}

fn four_digits(value: f64) -> String {
    let decimals = match value.abs() {
        size if size < 9.9995 => 3,
        size if size < 99.995 => 2,
        size if size < 999.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}").replace('-', "−")
}

/// Describes the host of a measurement: processor, number of cores, operating system, and whether others use it too.
pub(super) fn host(host: &HostFacts) -> String {
    let shared = if host.shared == Some(true) {
        ", shared or virtual"
    } else {
        ""
    };
    format!(
        "{}, {} cores, {} {}{shared}",
        host.cpu, host.cores, host.os, host.kernel
    )
}

/// Says in one line what the tool cannot do on an operating system; `None` if it can do everything, or if nothing is known about the system.
pub fn missing_features(os: &str) -> Option<String> {
    let missing = SystemFeature::missing_on(os).iter();
    let words: Vec<&str> = missing
        .map(|feature| match feature {
            SystemFeature::FunctionOrder => "a common function order of both builds",
            SystemFeature::MachineCode => {
                "comparing single functions of programs made with Microsoft's linker"
            }
            SystemFeature::ProcessorBinding => "binding to a processor",
            SystemFeature::InstructionCounts => "instruction counts",
            SystemFeature::FunctionTimes => "times of functions",
        })
        .collect();
    let name = match os {
        "macos" => "macOS",
        "windows" => "Windows",
        other => other,
    };
    (!words.is_empty()).then(|| format!("not supported on {name}: {}", words.join(", ")))
}

/// Formats the jitter of the control workload: `jitter up to 0.3 % (quiet)`.
pub(super) fn jitter(signs: &HostControls) -> Option<String> {
    let jitter = signs.jitter?;
    let word = Steadiness::from_jitter(jitter).word();
    Some(format!("jitter up to {:.1} % ({word})", jitter * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_system_lacks_is_one_line() {
        assert_eq!(missing_features("linux"), None);
        assert_eq!(missing_features(""), None, "an import that does not say");
        let windows = missing_features("windows").expect("it lacks something");
        assert!(
            windows
                .starts_with("not supported on Windows: a common function order of both builds, "),
            "{windows}"
        );
        assert!(!windows.contains('\n') && !windows.contains("binding"));
        let macos = missing_features("macos").expect("it lacks something");
        assert!(
            macos.ends_with("binding to a processor, instruction counts, times of functions"),
            "{macos}"
        );
    }

    #[test]
    fn times_have_four_digits_and_the_unit_that_fits() {
        for (nanoseconds, text) in [
            (0.25, "250.0 ps"),
            (1.0, "1.000 ns"),
            (123.44, "123.4 ns"),
            (1234.0, "1.234 µs"),
            (30e6, "30.00 ms"),
            (1.2e9, "1.200 s"),
            (120e9, "120.0 s"),
            (12_345e9, "12345 s"),
        ] {
            assert_eq!(time(nanoseconds), text);
        }
    }

    #[test]
    fn a_name_stays_on_one_short_line() {
        assert_eq!(short_id("sort/10"), "sort/10");
        assert_eq!(short_id("a\nb\u{1b}"), "a\\nb\\u{1b}");
        let id = format!("{}{}", "a".repeat(200), "z".repeat(200));
        assert_eq!(id_in_prose(&id, usize::MAX), id);
        let long = short_id(&id);
        assert_eq!(long, format!("{}…{}", "a".repeat(40), "z".repeat(19)));
        let wide = short_id(&"長".repeat(100));
        assert_eq!(wide, format!("{}…{}", "長".repeat(20), "長".repeat(9)));
    }

    #[test]
    fn changes_are_signed_percentages_with_a_true_minus() {
        assert_eq!(change(0.0231), "+2.31 %");
        assert_eq!(change(-0.105), "−10.5 %");
        assert_eq!(change(1.0), "+100 %");
        assert_eq!(change(0.0), "+0.00 %");
        assert_eq!(change(-1e-6), "+0.00 %");
    }

    #[test]
    fn percentages_have_no_more_digits_than_they_need() {
        assert_eq!(percent(0.01), "1 %");
        assert_eq!(percent(0.005), "0.5 %");
        assert_eq!(percent(0.98), "98 %");
        assert_eq!(shared_level(1.0 - 0.05 / 3.0), "98.33 %");
        assert_eq!(shared_level(1.0 - 0.05 / 50.0), "99.9 %");
        assert_eq!(shared_level(1.0 - 0.05 / 7000.0), "99.999286 %");
        assert_eq!(shared_level(0.95), "95 %");
    }

    #[test]
    fn text_is_broken_between_words_and_no_number_loses_its_unit_or_noun() {
        let text = "A change of 2.5 % is more than what is seen.\nNext.";
        assert_eq!(
            wrap_words(text, 14),
            [
                "A change of",
                "2.5 % is more",
                "than what is",
                "seen.",
                "Next."
            ]
        );
        assert_eq!(
            wrap_words("1 limit exceeded; 2 of 13 regressed, 11 unchanged", 22),
            ["1 limit exceeded;", "2 of 13 regressed,", "11 unchanged"]
        );
        let coloured = format!("it has 1 {}", "\u{1b}[33mincomparable\u{1b}[0m");
        assert_eq!(wrap_words(&coloured, 15)[0], "it has");
        assert_eq!(
            wrap_words("the len is 3 but the index is 7", 29),
            ["the len is 3 but the index", "is 7"]
        );
        assert_eq!(wrap_words("11 unchanged", 9), ["11", "unchanged"]);
        assert_eq!(
            wrap_words("1 2 3 4 of them", 3),
            ["1 2", "3 4", "of", "them"]
        );
        assert_eq!(
            wrap_words("longer-than-that a", 5),
            ["longer-than-that", "a"]
        );
        assert_eq!(wrap_words("", 5), [""]);
    }

    #[test]
    fn names_that_are_too_long_are_broken_and_nothing_of_them_is_lost() {
        assert_eq!(wrap_anywhere("abcdef", 4), ["abcd", "ef"]);
        assert_eq!(wrap_anywhere("長い名前", 5), ["長い", "名前"]);
        assert_eq!(wrap_anywhere("abc", usize::MAX), ["abc"]);
        assert_eq!(wrap_anywhere("", 4), [""]);
        assert_eq!(wrap_anywhere("長", 1), ["長"]);
    }

    #[test]
    fn rates_are_per_second() {
        assert_eq!(byte_rate(1000, 1000.0), "1.000 GB/s");
        assert_eq!(element_rate(3, 2e9), "1.500 elem/s");
    }

    #[test]
    fn values_are_shown_in_the_terms_of_their_metric() {
        let rate = Metric::Rate { unit: "ops".into() };
        let bytes = Metric::Amount {
            unit: "bytes".into(),
        };
        assert_eq!(value(&Metric::Time, 500.0), "500.0 ns");
        assert_eq!(value(&rate, 500.0), "2.000 Mops/s");
        assert_eq!(value(&bytes, 1500.0), "1500 bytes");
        assert_eq!(value(&bytes, 15_300.0), "15.30 kB");
        // The longer time is the lower rate.
        assert_eq!(
            interval(&rate, 400.0, 500.0),
            "[2.000 Mops/s, 2.500 Mops/s]"
        );
        assert_eq!(format_cost(&rate, 500.0), "500.0 ns");
        assert_eq!(format_cost(&bytes, 12.0), "12.00 bytes");
    }

    #[test]
    fn bounds_of_a_change_that_are_not_known_are_question_marks() {
        assert_eq!(
            change_with_interval(&Estimate {
                estimate: 0.1,
                lower: f64::NEG_INFINITY,
                upper: f64::INFINITY,
            }),
            "+10.0 % [?, ?]"
        );
    }

    #[test]
    fn what_fits_stays_as_it_is_and_what_does_not_is_broken_between_words() {
        assert_eq!(wrap_if_needed("a   b", 5), ["a   b"]);
        assert_eq!(wrap_if_needed("größe  ist", 5), ["größe", "ist"]);
        assert_eq!(
            wrap_if_needed("indivisible it is", 5),
            ["indivisible", "it is"]
        );
    }
}
