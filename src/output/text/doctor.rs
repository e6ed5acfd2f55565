//! Prints the findings of `doctor`: facts about the machine, its noise, and advice with the commands to follow it. Also prints the result of
//! `doctor --self-test`: the verdicts of each benchmark, and how often there were false alarms and how often slowdowns were found.

use std::io::{self, Write};
use std::time::Duration;

use super::listing::{self, write_keyed};
use crate::output::layout::{Cell, ColoredText, Column, Table, cell_builder};
use crate::output::messages::{
    DoctorFinding, DoctorFindings, JsonMessage, NoiseFindings, Rate, Resolvable, SelfTestFindings,
    SelfTestRow, Severity, SkippedBenchmark, write_message, write_messages,
};
use crate::output::terminal::TextRole;
use crate::output::view::{MessageFormat, View, wrap_prose};
use crate::output::{terminal, units};
use crate::sanitize;
use perfcheck_analysis::model::{BenchmarkKey, Verdict};

/// Maximum width of the text, in columns, even if the terminal is wider.
const WIDEST: usize = 100;
/// Minimum width of the column with a mark and a topic, which aligns the facts beside them, in columns.
const TOPIC: usize = 19;

/// Writes all findings of `doctor` in `format`.
pub fn write_doctor(
    writer: &mut dyn Write,
    findings: &DoctorFindings,
    format: MessageFormat,
) -> io::Result<()> {
    if format == MessageFormat::Human {
        return write_for_people(writer, findings, units::terminal_width().min(WIDEST));
    }
    write_messages(
        writer,
        findings.findings.iter().map(JsonMessage::DoctorFinding),
    )?;
    write_messages(writer, findings.noise.iter().map(JsonMessage::DoctorNoise))?;
    write_message(writer, JsonMessage::DoctorFinished(findings))
}

fn write_for_people(
    writer: &mut dyn Write,
    findings: &DoctorFindings,
    columns: usize,
) -> io::Result<()> {
    if let Some(detects) = describe_detectable_change(findings) {
        for line in units::wrap_if_needed(&detects, columns) {
            writeln!(writer, "{}", terminal::heading(line))?;
        }
        writeln!(writer)?;
    }
    writeln!(writer, "{}", terminal::heading(units::host(&findings.host)))?;
    let all = findings.findings.iter();
    let topics = all.clone().map(|finding| {
        let (ink, mark) = mark(finding.severity);
        Cell::from_pieces([
            ColoredText::new(ink, format!("  {mark}")),
            ColoredText::plain(format!(" {}", finding.topic)),
        ])
    });
    let found = all.map(|finding| units::escape_line(&finding.found));
    Table::new(vec![
        Column::fact("", topics).with_min_width(TOPIC),
        Column::prose("", found),
    ])
    .write(writer, columns)?;
    write_advice(writer, &findings.findings, columns)?;
    write_noise(writer, findings, columns)?;
    writeln!(writer)?;
    for line in units::wrap_if_needed(&summarize(findings), columns) {
        writeln!(writer, "{line}")?;
    }
    Ok(())
}

/// Returns a headline with the smallest slowdown that each workload can show: `Detects ≥ 1.0 % (CPU-bound), ≥ 2.8 % (memory-bound)`. Returns `None`
/// if none is known.
fn describe_detectable_change(findings: &DoctorFindings) -> Option<String> {
    let found = findings.noise.iter().filter_map(|noise| {
        let smallest = noise.smallest_change?;
        let kind = match noise.workload.as_str() {
            "processor" => "CPU-bound",
            "memory" => "memory-bound",
            other => other,
        };
        Some(format!("≥ {} ({kind})", units::rounded_percent(smallest)))
    });
    let found: Vec<String> = found.collect();
    (!found.is_empty()).then(|| format!("Detects {}", found.join(", ")))
}

/// Returns the mark of a severity and its color, the color of a verdict of similar severity. The marks can be told apart without color.
fn mark(severity: Severity) -> (TextRole, &'static str) {
    match severity {
        Severity::Good => (TextRole::Verdict(Verdict::Unchanged), "✓"),
        Severity::Unknown => (TextRole::Faint, "-"),
        Severity::Improvable => (TextRole::Verdict(Verdict::Suspect), "!"),
        Severity::Bad => (TextRole::Verdict(Verdict::Regressed), "✗"),
    }
}

fn write_noise(
    writer: &mut dyn Write,
    findings: &DoctorFindings,
    columns: usize,
) -> io::Result<()> {
    writeln!(writer)?;
    let seconds: f64 = findings.noise.iter().map(|noise| noise.seconds).sum();
    let title = format!("Noise: the same executable on both sides, measured for {seconds:.0} s");
    writeln!(writer, "{}", terminal::heading(title))?;
    let step = findings.noise.iter().find_map(|noise| noise.clock_step);
    if let Some(step) = step {
        let text = format!("Clock of the bench processes: {}", units::clock_rate(step));
        writeln!(writer, "  {}", wrap_prose(&text, columns, "    "))?;
    }
    for noise in &findings.noise {
        let text = wrap_prose(&describe_noise(noise, findings), columns, "    ");
        writeln!(writer, "  {text}")?;
    }
    let known: Vec<&NoiseFindings> = findings
        .noise
        .iter()
        .filter(|noise| !noise.resolvable.is_empty())
        .collect();
    let Some(first) = known.first() else {
        return Ok(());
    };
    writeln!(writer)?;
    let resolvable = || first.resolvable.iter().enumerate();
    let slowdowns = resolvable().map(|(_, goal)| format!("  {}", units::percent(goal.change)));
    let mut table = vec![Column::fact("  a slowdown of", slowdowns)];
    table.extend(known.iter().map(|noise| {
        let times = noise.resolvable.iter();
        Column::number(
            &noise.workload,
            times.map(|found| format_duration(found.seconds)),
        )
    }));
    let with = resolvable().map(|(place, _)| {
        let found: Vec<Resolvable> = known.iter().map(|noise| noise.resolvable[place]).collect();
        required_options(&found, findings)
    });
    table.push(Column::prose("with", with));
    Table::new(table).write(writer, columns)?;
    let meaning = format!(
        "The time that `--against` needs to find a slowdown of one benchmark in {} of 10 comparisons. It is longer for several benchmarks, slow process starts, slow setup, and very short benchmarks, whose speed depends on memory layout.",
        (findings.power * 10.0).round()
    );
    for line in units::wrap_if_needed(&meaning, columns - 2) {
        writeln!(writer, "  {}", terminal::faint(line))?;
    }
    Ok(())
}

fn describe_noise(noise: &NoiseFindings, findings: &DoctorFindings) -> String {
    let Some(difference) = noise.difference else {
        return format!(
            "{}: too few rounds ({}) to tell; try `--time 30s`.",
            noise.workload, noise.rounds
        );
    };
    let smallest = noise.smallest_change.map_or_else(String::new, |change| {
        format!(
            "; finding a change of {} takes {} rounds",
            units::rounded_percent(change),
            findings.usual_rounds
        )
    });
    format!(
        "{}: differs from itself by {} ({} interval: {} .. {}) after {} rounds{smallest}.",
        noise.workload,
        format_change(difference.estimate),
        units::percent(findings.confidence_level),
        format_change(difference.lower),
        format_change(difference.upper),
        noise.rounds,
    )
}

/// Formats a change in percent with two decimals. A change that rounds to 0 has no minus sign.
fn format_change(fraction: f64) -> String {
    units::change((fraction * 1e4).round() / 1e4 + 0.0)
}

/// Formats an estimated time with few digits, because it is not precise. Without an estimate, returns `not here`, because the slowdown cannot be
/// found on this machine.
fn format_duration(seconds: Option<f64>) -> String {
    match seconds {
        None => "not here".to_owned(),
        Some(seconds) if seconds < 9.95 => format!("{seconds:.1} s"),
        Some(seconds) if seconds < 90.0 => format!("{seconds:.0} s"),
        Some(seconds) => format!("{:.1} min", seconds / 60.0),
    }
}

/// Returns the options that `--against` needs to find a slowdown of one size. `found` has the effort to find it in each workload.
fn required_options(found: &[Resolvable], findings: &DoctorFindings) -> String {
    let mut words = Vec::new();
    let rounds = found.iter().filter_map(|found| found.rounds_at_most).max();
    let Some(rounds) = rounds else {
        return String::new();
    };
    if let Some(found) = found.first()
        && found.noise_threshold < findings.usual_threshold
    {
        let threshold = units::percent_argument(found.noise_threshold);
        words.push(format!("--noise-threshold {threshold}"));
    }
    if rounds > findings.usual_rounds {
        words.push(format!("--rounds {rounds}"));
    }
    words.join(" ")
}

fn write_advice(
    writer: &mut dyn Write,
    findings: &[DoctorFinding],
    columns: usize,
) -> io::Result<()> {
    let mut advised: Vec<(&DoctorFinding, &String)> = findings
        .iter()
        .filter_map(|finding| Some((finding, finding.advice.as_ref()?)))
        .collect();
    if advised.is_empty() {
        return Ok(());
    }
    advised.sort_by_key(|(finding, _)| std::cmp::Reverse(finding.severity));
    writeln!(writer, "\n{}", terminal::heading("What to change"))?;
    for (finding, advice) in advised {
        let text = format!("{}: {advice}", finding.topic);
        let (ink, mark) = mark(finding.severity);
        let text = wrap_prose(&text, columns, "    ");
        writeln!(writer, "  {} {text}", terminal::colorize(ink, mark))?;
        for command in &finding.commands {
            writeln!(writer, "        {command}")?;
        }
    }
    Ok(())
}

fn summarize(findings: &DoctorFindings) -> String {
    let count = |severity| {
        let of = |finding: &&DoctorFinding| finding.severity == severity;
        findings.findings.iter().filter(of).count()
    };
    let (bad, improvable) = (count(Severity::Bad), count(Severity::Improvable));
    let state = match (bad, improvable) {
        (0, 0) => "No problems found".to_owned(),
        (0, improvable) => units::counted(improvable, "possible improvement"),
        (bad, 0) => units::counted(bad, "problem"),
        (bad, improvable) => format!(
            "{}, {}",
            units::counted(bad, "problem"),
            units::counted(improvable, "possible improvement")
        ),
    };
    format!("{state}. Use `cargo perfcheck doctor --self-test` to test your own benchmarks.")
}

/// If a self-test finds less than this share of the slowdowns, the output has advice.
const FEW: f64 = 0.9;

/// Writes the result of `doctor --self-test`. `view` is the layout for people.
pub fn write_self_test(
    writer: &mut dyn Write,
    findings: &SelfTestFindings,
    format: MessageFormat,
    view: &View,
) -> io::Result<()> {
    if format == MessageFormat::Human {
        return write_self_test_table(writer, findings, view);
    }
    let rows = findings.rows.iter().map(Into::into);
    write_messages(writer, rows.map(JsonMessage::SelfTestBenchmark))?;
    write_message(writer, JsonMessage::SelfTestFinished(findings))
}

fn write_self_test_table(
    writer: &mut dyn Write,
    findings: &SelfTestFindings,
    view: &View,
) -> io::Result<()> {
    let keys: Vec<&BenchmarkKey> = findings.rows.iter().map(|row| &row.key).collect();
    write_keyed(writer, &keys, columns(findings), view)?;
    for SkippedBenchmark { key, why } in &findings.skipped {
        let skipped = format!(
            "skipped {}/{}: {}: {why}",
            key.package,
            key.target,
            units::id_in_prose(&key.id, view.columns)
        );
        let skipped = view.wrap_prose(&sanitize::one_line(&skipped), "  ");
        for line in skipped.lines() {
            writeln!(writer, "{}", terminal::faint(line))?;
        }
    }
    writeln!(writer)?;
    for line in summarize_trials(findings) {
        writeln!(writer, "{}", view.wrap_prose(&line, "  "))?;
    }
    Ok(())
}

fn columns(findings: &SelfTestFindings) -> Vec<Column> {
    let rows = &findings.rows;
    let cells = cell_builder(rows);
    let slower = format!("{} slower", units::percent(findings.slowdown));
    let seconds = |row: &SelfTestRow| {
        let seconds = row.seconds_per_verdict();
        units::or_dash(seconds.map(|seconds| format!("{seconds:.1} s")))
    };
    vec![
        Column::words("the same", rows.iter().map(|row| counts(&row.same))),
        Column::words(&slower, rows.iter().map(|row| counts(&row.slowed))),
        Column::number(
            "noise threshold",
            cells(&|row| units::percent(row.noise_threshold)),
        )
        .dispensable(2),
        Column::number("per verdict", cells(&seconds)).dispensable(1),
    ]
}

/// Formats how many comparisons had each verdict: `4 regressed, 1 inconclusive`.
fn counts(verdicts: &[Verdict]) -> Cell {
    match verdicts {
        [] => Cell::from("-"),
        some => listing::format_tally(&some.iter().copied().collect()),
    }
}

fn summarize_trials(findings: &SelfTestFindings) -> Vec<String> {
    let mut lines = Vec::new();
    if findings.interrupted {
        lines.push(format!(
            "Interrupted: only completed trials count ({} of each kind were planned).",
            findings.trials
        ));
    }
    lines.extend(summarize_false_alarms(findings));
    lines.extend(summarize_slowdowns(findings));
    let all: Duration = findings.rows.iter().map(|row| row.time).sum();
    let verdicts = |row: &SelfTestRow| row.same.len() + row.slowed.len();
    let verdicts: usize = findings.rows.iter().map(verdicts).sum();
    if verdicts > 0 {
        lines.push(format!(
            "{:.1} s per verdict on average; seed {}.",
            all.as_secs_f64() / verdicts as f64,
            findings.seed
        ));
    }
    lines
}

fn summarize_false_alarms(findings: &SelfTestFindings) -> Vec<String> {
    let Rate {
        count,
        of,
        lower,
        upper,
    } = findings.false_alarms;
    if of == 0 {
        return Vec::new();
    }
    let confidence = units::percent(findings.bound_level);
    let seen = match count {
        0 => "none".to_owned(),
        some => some.to_string(),
    };
    let mut lines = vec![format!(
        "False alarms: {seen} in {} of an executable with itself; the rate is at most {}, with {confidence} confidence.",
        units::counted(of, "comparison"),
        units::rounded_percent(upper),
    )];
    let level = findings.significance_level;
    if lower > level {
        lines.push(format!(
            "That is more than the significance level of {} allows: the machine treats the two sides differently. Close other programs, or lower `--significance-level`.",
            units::percent(level)
        ));
    } else if count == 0 && upper > level {
        let needed = ((1.0 - findings.bound_level).ln() / (-level).ln_1p()).ceil();
        lines.push(format!(
            "It takes {needed} comparisons without a false alarm to show a rate below {} (use more `--trials`).",
            units::percent(level)
        ));
    }
    lines
}

fn summarize_slowdowns(findings: &SelfTestFindings) -> Vec<String> {
    let Rate {
        count, of, lower, ..
    } = findings.found;
    if of == 0 {
        return Vec::new();
    }
    let slowdown = units::percent(findings.slowdown);
    let share = count as f64 / of as f64;
    let mut lines = vec![format!(
        "Found: {count} of {} of {slowdown} ({}); the rate is at least {}, with {} confidence.",
        units::counted(of, "slowdown"),
        units::rounded_percent(share),
        units::rounded_percent(lower),
        units::percent(findings.bound_level),
    )];
    let wrong: usize = findings.rows.iter().map(SelfTestRow::wrong_direction).sum();
    if wrong > 0 {
        lines.push(format!("Slowdowns called `improved`: {wrong}."));
    }
    let thresholds = findings.rows.iter().map(|row| row.noise_threshold);
    let (least, most) = thresholds.fold((f64::INFINITY, 0.0_f64), |(least, most), threshold| {
        (least.min(threshold), most.max(threshold))
    });
    let range = if least < most {
        format!("{} to {}", units::percent(least), units::percent(most))
    } else {
        units::percent(most)
    };
    lines.push(format!(
        "Noise threshold: {range}. A slowdown is found only if its whole interval is beyond the threshold."
    ));
    if findings.slowdown <= most {
        lines.push(format!(
            "A slowdown of {slowdown} does not exceed this threshold and cannot be found. To find it, use `--noise-threshold {}`.",
            units::percent_argument(findings.slowdown / 4.0)
        ));
    } else if share < FEW {
        lines.push(format!(
            "To find more, use `--rounds {}` (now at most {}), a longer `--time-budget`, fewer benchmarks at a time, or `--noise-threshold {}`.",
            2 * findings.rounds,
            findings.rounds,
            units::percent_argument(most / 2.0)
        ));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use perfcheck_analysis::compare::Estimate;
    use perfcheck_analysis::model::{BusyProgram, HostActivity, HostFacts, MachineState, Nanos};

    fn resolvable(change: f64, needed: Option<(u32, u32)>) -> Resolvable {
        Resolvable {
            change,
            noise_threshold: if change > 0.01 { 0.01 } else { change / 4.0 },
            rounds: needed.map(|(rounds, _)| rounds),
            rounds_at_most: needed.map(|(_, at_most)| at_most),
            seconds: needed.map(|(rounds, _)| f64::from(rounds) * 0.07),
        }
    }

    fn noise(workload: &str, needed: [Option<(u32, u32)>; 3]) -> NoiseFindings {
        let changes = [0.05, 0.02, 0.005].into_iter().zip(needed);
        NoiseFindings {
            workload: workload.into(),
            clock_step: Some(Nanos(41)),
            rounds: 71,
            seconds: 5.02,
            difference: Some(Estimate {
                estimate: 0.0031,
                lower: -0.0042,
                upper: 0.0087,
            }),
            smallest_change: Some(0.0163),
            resolvable: changes
                .map(|(change, needed)| resolvable(change, needed))
                .collect(),
        }
    }

    fn findings() -> DoctorFindings {
        let finding =
            |topic, severity, found: &str, advice: Option<(&str, &[&str])>| DoctorFinding {
                topic,
                severity,
                found: found.to_owned(),
                advice: advice.map(|(what, _)| what.to_owned()),
                commands: advice.map_or_else(Vec::new, |(_, lines)| {
                    lines.iter().map(|line| (*line).to_owned()).collect()
                }),
            };
        DoctorFindings {
            host: HostFacts {
                cpu: "Some CPU @ 3 GHz".into(),
                architecture: "x86_64".into(),
                os: "linux".into(),
                cores: 8,
                kernel: "6.1.0".into(),
                governor: None,
                microcode: None,
                shared: Some(false),
            },
            state: MachineState::default(),
            happenings: HostActivity {
                busiest: vec![BusyProgram {
                    name: "rustc".into(),
                    processors: 1.5,
                }],
                ..HostActivity::default()
            },
            findings: vec![
                finding(
                    "timer",
                    Severity::Good,
                    "tsc: a reading takes 21 ns, successive readings differ by at least 1 ns",
                    None,
                ),
                finding(
                    "frequency",
                    Severity::Unknown,
                    "the system does not tell",
                    None,
                ),
                finding(
                    "boost",
                    Severity::Improvable,
                    "on",
                    Some((
                        "How far a core may boost depends on its temperature and on the other cores. With boost off, results are slower but steadier.",
                        &["echo 0 | sudo tee /sys/devices/system/cpu/cpufreq/boost"],
                    )),
                ),
                finding(
                    "other programs",
                    Severity::Bad,
                    "used 2.31 of 8 processors meanwhile (\u{1b}[31mrustc 1.50, a program with a long name 0.40); load 2.9",
                    Some(("Close them.", &[])),
                ),
            ],
            noise: vec![
                noise(
                    "processor",
                    [Some((10, 100)), Some((30, 100)), Some((450, 450))],
                ),
                noise("memory", [Some((10, 100)), Some((100, 100)), None]),
            ],
            usual_rounds: 100,
            usual_threshold: 0.01,
            power: 0.9,
            confidence_level: 0.95,
            seed: 7,
            exit_code: 0,
        }
    }

    fn shown(findings: &DoctorFindings, columns: usize) -> String {
        let mut text = Vec::new();
        write_for_people(&mut text, findings, columns).expect("written");
        let text = String::from_utf8(text).expect("text");
        anstream::adapter::strip_str(&text).to_string()
    }

    #[test]
    fn the_machine_its_noise_and_what_to_change_fit_eighty_columns() {
        let text = shown(&findings(), 80);
        assert!(
            text.lines().all(|line| line.chars().count() <= 80),
            "{text}"
        );
        insta::assert_snapshot!(text);
    }

    #[test]
    fn narrow_and_wide_terminals_lose_nothing_but_room() {
        let words = |text: &str| -> String { text.split_whitespace().collect() };
        let wide = shown(&findings(), usize::MAX);
        for columns in [60, 100, 160] {
            let text = shown(&findings(), columns);
            for line in text.lines() {
                let is_command = line.starts_with("        ");
                assert!(
                    is_command || units::width(line) <= columns,
                    "{columns}: {line}"
                );
            }
            if columns == 160 {
                assert_eq!(words(&text), words(&wide));
            }
        }
    }

    #[test]
    fn with_too_few_rounds_nothing_is_promised() {
        let mut findings = findings();
        for noise in &mut findings.noise {
            noise.difference = None;
            noise.smallest_change = None;
            noise.resolvable.clear();
        }
        let text = shown(&findings, 80);
        assert!(text.contains("try `--time 30s`"), "{text}");
        assert!(!text.contains("a slowdown of"), "{text}");
    }

    #[test]
    fn a_machine_without_faults_gets_no_advice() {
        let mut findings = findings();
        findings.findings.truncate(2);
        let text = shown(&findings, 80);
        assert!(!text.contains("What to change"), "{text}");
        assert!(text.contains("No problems found."), "{text}");
    }

    fn self_test_findings(same: &[Verdict], slowed: &[Verdict]) -> SelfTestFindings {
        let key = BenchmarkKey {
            package: "p".into(),
            target: "t".into(),
            id: "sort/10".into(),
        };
        let row = SelfTestRow {
            same: same.to_vec(),
            slowed: slowed.to_vec(),
            time: Duration::from_secs(30),
            ..SelfTestRow::new(&key, 0.01)
        };
        SelfTestFindings {
            false_alarms: Rate {
                count: row.false_alarms(),
                of: row.comparisons_with_itself(),
                lower: 0.0,
                upper: 0.4507,
            },
            found: Rate {
                count: row.slowdowns_found(),
                of: row.comparisons_with_slowed(),
                lower: 0.343,
                upper: 1.0,
            },
            rows: vec![row],
            skipped: vec![SkippedBenchmark {
                key,
                why: "its harness cannot simulate a slowdown".to_owned(),
            }],
            slowdown: 0.02,
            trials: 5,
            rounds: 60,
            significance_level: 0.01,
            bound_level: 0.95,
            seed: 7,
            interrupted: false,
            exit_code: 0,
        }
    }

    fn self_test_shown(findings: &SelfTestFindings) -> String {
        let mut text = Vec::new();
        let view = View {
            columns: usize::MAX,
            screenful: usize::MAX,
            verbosity: crate::output::view::Verbosity::Usual,
            arrangement: crate::output::view::RowOrder::Targets,
            only: None,
        };
        write_self_test(&mut text, findings, MessageFormat::Human, &view).expect("written");
        let text = String::from_utf8(text).expect("text");
        anstream::adapter::strip_str(&text).to_string()
    }

    use Verdict::{Improved, Inconclusive, Regressed, Unchanged};

    #[test]
    fn the_conclusion_counts_alarms_and_finds_with_their_bounds_and_says_what_to_do() {
        let self_test_findings = self_test_findings(
            &[Unchanged; 5],
            &[Regressed, Regressed, Inconclusive, Regressed, Inconclusive],
        );
        insta::assert_snapshot!(self_test_shown(&self_test_findings));
    }

    #[test]
    fn a_slowdown_that_is_noise_by_definition_is_no_surprise() {
        let mut self_test_findings = self_test_findings(&[Unchanged; 5], &[Unchanged; 5]);
        self_test_findings.slowdown = 0.01;
        let text = self_test_shown(&self_test_findings);
        assert!(text.contains("cannot be found"), "{text}");
        assert!(text.contains("--noise-threshold 0.25%"), "{text}");
    }

    #[test]
    fn alarms_beyond_the_level_and_the_wrong_direction_are_named() {
        let mut self_test_findings =
            self_test_findings(&[Regressed, Improved, Unchanged], &[Improved, Regressed]);
        self_test_findings.false_alarms.lower = 0.13;
        let text = self_test_shown(&self_test_findings);
        assert!(text.contains("False alarms: 2 in 3"), "{text}");
        assert!(text.contains("more than the significance level"), "{text}");
        assert!(text.contains("called `improved`: 1"), "{text}");
    }
}
