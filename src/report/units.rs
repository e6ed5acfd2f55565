//! Names and numbers as people read them. Machines get exact ones, never these.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::escape;
use perfcheck_analysis::compare::{Estimate, HostSigns, Steadiness};
use perfcheck_analysis::model::{Benchmark, HostFacts, Metric, Nanos, Throughput, as_in_cells};

/// Keeps words of a table's cell on one line; readers get a blank.
pub(super) const NO_BREAK: char = '\u{a0}';

/// A name that takes more columns than this is shortened in the middle, to these: its ends tell most.
const LONGEST_NAME: usize = 60;

/// `text`, shortened in its middle where it takes more than so many columns.
pub(super) fn in_the_middle(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let tail = fitting(text.chars().rev(), room / 3);
    let tail: String = tail.chars().rev().collect();
    let head = fitting(text.chars(), room - room / 3);
    format!("{head}…{tail}")
}

/// What there is to tell; a dash where there is nothing.
pub(super) fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

/// An id on one line, whole and without anything that a terminal would obey; of an imported one the cells as they were.
pub(super) fn whole_name(id: &str) -> String {
    as_in_cells(id).escape_debug().to_string()
}

/// An id in a sentence in lines of so many columns: whole where lines are endless, so that it can be searched for, and else not too long.
pub(super) fn name_in_prose(id: &str, columns: usize) -> String {
    match columns {
        usize::MAX => whole_name(id),
        // An indented line begins with it, and a colon may stand behind it.
        _ => in_the_middle(&whole_name(id), LONGEST_NAME.min(columns.saturating_sub(4))),
    }
}

/// An id where there is little room: on one line, not too long.
pub(super) fn short_name(id: &str) -> String {
    in_the_middle(&whole_name(id), LONGEST_NAME)
}

/// How many columns text takes; its colours take none.
pub(super) fn width(text: &str) -> usize {
    anstream::adapter::strip_str(text)
        .map(UnicodeWidthStr::width)
        .sum()
}

/// `text` in lines of at most so many columns, broken anywhere.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut used = 0;
    for c in text.chars() {
        let width = c.width().unwrap_or(0);
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

/// Text without anything that a terminal would obey, line ends included.
pub(super) fn on_one_line(text: &str) -> String {
    escape::one_line(text)
}

/// A terminal that says that it has fewer columns does not know its own: nobody reads a word a line.
const NARROWEST: usize = 20;

/// The columns that stdout has; a file or a pipe has as many as are wanted.
pub fn terminal_width() -> usize {
    terminal_size().0
}

/// The columns and lines that stdout has; a file or a pipe has as many as are wanted.
pub(super) fn terminal_size() -> (usize, usize) {
    match terminal_size::terminal_size_of(rustix::stdio::stdout()) {
        Some((columns, lines)) if usize::from(columns.0) >= NARROWEST => {
            (columns.0.into(), lines.0.into())
        }
        _ => (usize::MAX, usize::MAX),
    }
}

/// A value as its metric says: a time, units per second, an amount.
pub(super) fn reading(metric: &Metric, value: f64) -> String {
    match metric {
        Metric::Time => time(value),
        Metric::Rate { unit } if unit == "bytes" => rate(value, "B/s"),
        Metric::Rate { unit } => rate(value, &format!("{}/s", escape::one_line(unit))),
        Metric::Amount { unit } => format!("{} {}", four_digits(value), escape::one_line(unit)),
    }
}

/// The characters that fit into so many columns.
pub(super) fn fitting(text: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    text.take_while(|c| {
        used += c.width().unwrap_or(0);
        used <= columns
    })
    .collect()
}

/// `text` in lines of at most so many columns, broken between words; a longer word has a line of its own. Line ends stay.
pub(super) fn filled(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for paragraph in text.split('\n') {
        let mut line = String::new();
        for word in words(paragraph) {
            if !line.is_empty() && width(&line) + 1 + width(&word) > columns {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&word);
        }
        lines.push(line);
    }
    lines
}

/// `text` as it is where it fits into so many columns, else [`filled`].
pub(super) fn fitted(text: &str, columns: usize) -> Vec<String> {
    if width(text) <= columns {
        vec![text.to_owned()]
    } else {
        filled(text, columns)
    }
}

/// The words of a line; a number stays with its unit, and an interval together.
fn words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    // A blank that must not be broken keeps its words together.
    let pieces = line.split(|c: char| c.is_whitespace() && c != NO_BREAK);
    for piece in pieces.filter(|piece| !piece.is_empty()) {
        let is_unit = ["%", "ns", "µs", "ms", "s", "ps"]
            .iter()
            .any(|unit| piece.trim_end_matches([',', '.', ';', ':', ')', ']']) == *unit);
        match words.last_mut() {
            Some(number) if is_unit && number.ends_with(|c: char| c.is_ascii_digit()) => {
                number.push(' ');
                number.push_str(piece);
            }
            _ => words.push(piece.to_owned()),
        }
    }
    words
}

/// Nanoseconds with four significant digits and the unit that fits: `123.4 ns`, `1.234 µs`.
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

/// A relative change, signed, in percent with three significant digits: `+2.31 %`.
pub fn change(fraction: f64) -> String {
    let percent = fraction * 100.0;
    let decimals = match percent.abs() {
        size if size < 9.995 => 2,
        size if size < 99.95 => 1,
        _ => 0,
    };
    let text = format!("{percent:+.decimals$} %");
    if text == "-0.00 %" {
        // Nothing did not become better.
        return "+0.00 %".to_owned();
    }
    text.replace('-', "−")
}

/// A change with the bounds of its interval: `+2.31 % [+1.90 %, ?]`.
pub(super) fn change_with_interval(found: &Estimate) -> String {
    let interval = change_interval(found.lower, found.upper);
    format!("{} {interval}", change(found.estimate))
}

/// The bounds of a change; one that the data do not give is a question mark: `[+1.90 %, ?]`.
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

/// A p-value with four decimals.
pub(super) fn p_value(p: f64) -> String {
    if p < 0.0001 {
        "<.0001".to_owned()
    } else {
        format!("{p:.4}")
    }
}

/// The size of an effect with its sign: `−0.250`.
pub(super) fn effect(size: f64) -> String {
    format!("{size:+.3}").replace('-', "−")
}

/// An unsigned percentage: `1 %`, `0.5 %`.
pub fn percent(fraction: f64) -> String {
    let rounded = (fraction * 1e6).round() / 1e4;
    format!("{rounded} %")
}

/// A rate that was estimated, with as many digits as make sense: `45 %`, `1.3 %`.
pub(super) fn rounded_percent(fraction: f64) -> String {
    let percent = fraction * 100.0;
    if percent == 0.0 || percent >= 9.95 {
        format!("{percent:.0} %")
    } else {
        format!("{percent:.1} %")
    }
}

/// `Timer resolution: 1000000000 ticks/s (1 ns per tick)`.
pub(super) fn timer_resolution(step: Nanos) -> String {
    let ticks = 1e9 / step.as_f64();
    format!(
        "Timer resolution: {ticks:.0} ticks/s ({} ns per tick)",
        step.0
    )
}

/// How much a histogram rounds away: `0.098 %`, `6.2 %`.
pub(super) fn rounding(fraction: f64) -> String {
    let percent = fraction * 100.0;
    let decimals = (1.0 - percent.log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{percent:.decimals$} %")
}

/// A noun as it stands after a number: `launch` after 1, `launches` after any other.
pub(super) fn plural(count: usize, noun: &str) -> String {
    match count {
        1 => noun.to_owned(),
        _ if noun.ends_with("ch") || noun.ends_with("ss") => format!("{noun}es"),
        _ => format!("{noun}s"),
    }
}

/// A number with its noun: `1 launch`, `5 launches`.
pub fn counted(count: usize, noun: &str) -> String {
    format!("{count} {}", plural(count, noun))
}

/// Each kind that there is any of: `3 low mild, 4 high severe`.
pub(super) fn counts(kinds: &[(usize, &str)]) -> String {
    let there = kinds.iter().filter(|(count, _)| *count > 0);
    let words: Vec<String> = there
        .map(|(count, kind)| format!("{count} {kind}"))
        .collect();
    words.join(", ")
}

/// How many on average: `12`, `0.500`, `12345`.
pub(super) fn count(value: f64) -> String {
    if value.fract() == 0.0 {
        format!("{value:.0}")
    } else {
        four_digits(value)
    }
}

/// How many more or fewer: `+12`, `-0.500`.
pub(super) fn signed_count(value: f64) -> String {
    let sign = if value < 0.0 { "-" } else { "+" };
    format!("{sign}{}", count(value.abs()))
}

/// A difference of times: `+1.234 µs`.
pub(super) fn signed_time(nanoseconds: f64) -> String {
    let sign = if nanoseconds < 0.0 { "-" } else { "+" };
    format!("{sign}{}", time(nanoseconds.abs()))
}

/// Bytes, whole ones exact up to 9999: `640 B`, `1.536 MB`.
pub(super) fn bytes(value: f64) -> String {
    if value < 1e4 && value.fract() == 0.0 {
        return format!("{value:.0} B");
    }
    rate(value, "B")
}

/// Bytes per second: `1.23 GB/s`.
fn byte_rate(bytes: u64, nanoseconds: f64) -> String {
    rate(bytes as f64 * 1e9 / nanoseconds, "B/s")
}

/// Elements per second: `1.23 Melem/s`.
fn element_rate(elements: u64, nanoseconds: f64) -> String {
    rate(elements as f64 * 1e9 / nanoseconds, "elem/s")
}

/// What is worked off in a second at `median` nanoseconds per iteration; where that is neither bytes nor elements, the author's words.
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

/// Operations per second: `1.23 M/s`.
pub(super) fn per_second(operations: f64) -> String {
    rate(operations, "/s")
}

/// What an iteration, or a unit of a rate, takes: a time, or an amount.
pub(super) fn spent(metric: &Metric, per_iteration: f64) -> String {
    match metric {
        Metric::Time | Metric::Rate { .. } => time(per_iteration),
        Metric::Amount { .. } => value(metric, per_iteration),
    }
}

/// A value per iteration in the terms of its metric: a time, an amount, or units per second.
pub(super) fn value(metric: &Metric, per_iteration: f64) -> String {
    match metric {
        Metric::Rate { .. } => reading(metric, 1e9 / per_iteration),
        Metric::Time | Metric::Amount { .. } => reading(metric, per_iteration),
    }
}

/// An interval of values per iteration, the smaller number first: the longer time is the lower rate.
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

/// What people read of a machine.
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

/// `jitter up to 0.3 % (quiet)`, of the control workload.
pub(super) fn jitter(signs: &HostSigns) -> Option<String> {
    let jitter = signs.jitter?;
    let word = Steadiness::of(jitter).word();
    Some(format!("jitter up to {:.1} % ({word})", jitter * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(short_name("sort/10"), "sort/10");
        assert_eq!(short_name("a\nb\u{1b}"), "a\\nb\\u{1b}");
        let id = format!("{}{}", "a".repeat(200), "z".repeat(200));
        assert_eq!(name_in_prose(&id, usize::MAX), id);
        let long = short_name(&id);
        assert_eq!(long, format!("{}…{}", "a".repeat(40), "z".repeat(19)));
        let wide = short_name(&"長".repeat(100));
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
    }

    #[test]
    fn text_is_broken_between_words_and_no_number_loses_its_unit() {
        let text = "A change of 2.5 % is more than what is seen.\nNext.";
        assert_eq!(
            filled(text, 14),
            [
                "A change of",
                "2.5 % is more",
                "than what is",
                "seen.",
                "Next."
            ]
        );
        assert_eq!(filled("longer-than-that a", 5), ["longer-than-that", "a"]);
        assert_eq!(filled("", 5), [""]);
    }

    #[test]
    fn names_that_are_too_long_are_broken_and_nothing_of_them_is_lost() {
        assert_eq!(wrapped("abcdef", 4), ["abcd", "ef"]);
        assert_eq!(wrapped("長い名前", 5), ["長い", "名前"]);
        assert_eq!(wrapped("abc", usize::MAX), ["abc"]);
        assert_eq!(wrapped("", 4), [""]);
        assert_eq!(wrapped("長", 1), ["長"]);
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
        // The longer time is the lower rate.
        assert_eq!(
            interval(&rate, 400.0, 500.0),
            "[2.000 Mops/s, 2.500 Mops/s]"
        );
        assert_eq!(spent(&rate, 500.0), "500.0 ns");
        assert_eq!(spent(&bytes, 12.0), "12.00 bytes");
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
        assert_eq!(fitted("a   b", 5), ["a   b"]);
        assert_eq!(fitted("größe  ist", 5), ["größe", "ist"]);
        assert_eq!(fitted("indivisible it is", 5), ["indivisible", "it is"]);
    }
}
