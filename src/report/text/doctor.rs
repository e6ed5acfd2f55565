//! Prints the findings of `doctor`: facts about the machine, its noise, and advice with the commands to follow it.

use std::io::{self, Write};

use crate::report::layout::{Cell, Column, Table};
use crate::report::messages::{
    DoctorFinding, DoctorFindings, JsonMessage, NoiseFindings, Resolvable, Severity, write_message,
};
use crate::report::theme::{self, TextRole};
use crate::report::units;
use crate::report::view::{MessageFormat, wrap_prose};
use perfcheck_analysis::model::Verdict;

/// Maximum width of the text, on wider terminals too.
const WIDEST: usize = 100;
/// Minimum width of a mark and its topic, in columns.
const TOPIC: usize = 19;

/// Writes all findings in `format`.
pub fn write_doctor(
    writer: &mut dyn Write,
    findings: &DoctorFindings,
    format: MessageFormat,
) -> io::Result<()> {
    match format {
        MessageFormat::Human => {
            let columns = units::terminal_width().min(WIDEST);
            write_for_people(writer, findings, columns)
        }
        MessageFormat::Json => write_messages(writer, findings),
    }
}

fn write_for_people(
    writer: &mut dyn Write,
    findings: &DoctorFindings,
    columns: usize,
) -> io::Result<()> {
    if let Some(detects) = describe_detectable_change(findings) {
        for line in units::wrap_if_needed(&detects, columns) {
            writeln!(writer, "{}", theme::heading(line))?;
        }
        writeln!(writer)?;
    }
    writeln!(writer, "{}", theme::heading(units::host(&findings.host)))?;
    let all = findings.findings.iter();
    let topics = all.clone().map(|finding| {
        let (ink, mark) = mark(finding.severity);
        Cell::from_pieces(vec![
            (ink, format!("  {mark}")),
            (TextRole::Plain, format!(" {}", finding.topic)),
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

/// Returns `Detects ≥ 1.0 % (CPU-bound), ≥ 2.8 % (memory-bound)`, if the smallest detectable change is known.
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

/// Returns a mark that differs from the others even without color, in the color of a verdict of similar severity.
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
    let title = format!("Noise: the same executable on both sides, {seconds:.0} s");
    writeln!(writer, "{}", theme::heading(title))?;
    let step = findings.noise.iter().find_map(|noise| noise.clock_step);
    if let Some(step) = step {
        writeln!(writer, "  {}", units::timer_resolution(step))?;
    }
    for noise in &findings.noise {
        for line in units::wrap_if_needed(&describe_noise(noise, findings), columns - 2) {
            writeln!(writer, "  {line}")?;
        }
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
    let asked = || first.resolvable.iter().enumerate();
    let slowdowns = asked().map(|(_, asked)| format!("  {}", units::percent(asked.change)));
    let mut table = vec![Column::fact("  a slowdown of", slowdowns)];
    table.extend(known.iter().map(|noise| {
        let times = noise.resolvable.iter();
        Column::number(
            &noise.workload,
            times.map(|found| format_duration(found.seconds)),
        )
    }));
    let with = asked().map(|(place, _)| {
        let found: Vec<Resolvable> = known.iter().map(|noise| noise.resolvable[place]).collect();
        required_options(&found, findings)
    });
    table.push(Column::prose("with", with));
    Table::new(table).write(writer, columns)?;
    let meaning = format!(
        "Time of one benchmark alone in `--against` until a slowdown is called, in {} of 10 comparisons. Longer for several together, for slow launches or set-up, and where the speed depends on how a process lies in memory, as that of very short benchmarks may.",
        (findings.power * 10.0).round()
    );
    for line in units::wrap_if_needed(&meaning, columns - 2) {
        writeln!(writer, "  {}", theme::faint(line))?;
    }
    Ok(())
}

fn describe_noise(noise: &NoiseFindings, findings: &DoctorFindings) -> String {
    let Some(difference) = noise.difference else {
        return format!(
            "{}: {} rounds are too few to tell: `--time 30s`.",
            noise.workload, noise.rounds
        );
    };
    let smallest = noise.smallest_change.map_or_else(String::new, |change| {
        format!(
            "; {} rounds find {}",
            findings.usual_rounds,
            units::rounded_percent(change)
        )
    });
    format!(
        "{}: differs from itself by {} ({}: {} .. {}) after {} rounds{smallest}.",
        noise.workload,
        format_change(difference.estimate),
        units::percent(findings.confidence_level),
        format_change(difference.lower),
        format_change(difference.upper),
        noise.rounds,
    )
}

/// Formats a change, rounded so that a tiny one has no minus sign.
fn format_change(fraction: f64) -> String {
    units::change((fraction * 1e4).round() / 1e4 + 0.0)
}

/// Formats an estimated time with two digits; the estimate is not more precise.
fn format_duration(seconds: Option<f64>) -> String {
    match seconds {
        None => "not here".to_owned(),
        Some(seconds) if seconds < 9.95 => format!("{seconds:.1} s"),
        Some(seconds) if seconds < 90.0 => format!("{seconds:.0} s"),
        Some(seconds) => format!("{:.1} min", seconds / 60.0),
    }
}

/// Returns the options that `--against` needs to find this slowdown.
fn required_options(found: &[Resolvable], findings: &DoctorFindings) -> String {
    let mut words = Vec::new();
    let rounds = found.iter().filter_map(|found| found.rounds_at_most).max();
    let Some(rounds) = rounds else {
        return String::new();
    };
    if let Some(found) = found.first()
        && found.noise_threshold < findings.usual_threshold
    {
        let threshold = units::percent(found.noise_threshold).replace(' ', "");
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
    writeln!(writer, "\n{}", theme::heading("What to change"))?;
    for (finding, advice) in advised {
        let text = format!("{}: {advice}", finding.topic);
        let (ink, mark) = mark(finding.severity);
        let text = wrap_prose(&text, columns, "    ");
        writeln!(writer, "  {} {text}", theme::colorize(ink, mark))?;
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
        (0, 0) => "Nothing to complain of".to_owned(),
        (0, improvable) => format!("{improvable} to improve"),
        (bad, improvable) => format!("{bad} bad, {improvable} to improve"),
    };
    format!(
        "{state}. `cargo perfcheck doctor --benches` tells the same of your own benchmarks, by trial."
    )
}

fn write_messages(writer: &mut dyn Write, findings: &DoctorFindings) -> io::Result<()> {
    for finding in &findings.findings {
        write_message(writer, JsonMessage::DoctorFinding(finding))?;
    }
    for noise in &findings.noise {
        write_message(writer, JsonMessage::DoctorNoise(noise))?;
    }
    write_message(writer, JsonMessage::DoctorFinished(findings))
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
                    "tsc: steps of 1 ns, 21 ns a reading",
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
                        "How far a core may boost depends on its temperature and on what the others do. Off, results are slower and steadier.",
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
        assert!(text.contains("too few to tell: `--time 30s`"), "{text}");
        assert!(!text.contains("a slowdown of"), "{text}");
    }

    #[test]
    fn a_machine_without_faults_gets_no_advice() {
        let mut findings = findings();
        findings.findings.truncate(2);
        let text = shown(&findings, 80);
        assert!(!text.contains("What to change"), "{text}");
        assert!(text.contains("Nothing to complain of."), "{text}");
    }
}
