//! Describes in words where the values of an imported run come from.

use std::io::{self, Write};

use crate::output::view::wrap_prose;
use crate::output::{terminal, units};
use perfcheck_analysis::model::{Environment, Run, Source};

/// Writes the files, columns and filters of an imported run, and what the user stated about its machine and build.
pub(crate) fn write_source(writer: &mut dyn Write, run: &Run, source: &Source) -> io::Result<()> {
    let plain = |text: String| terminal::escape_terminal_text(&text);
    let line = |writer: &mut dyn Write, text: &str| {
        let text = wrap_prose(text, units::terminal_width(), "  ");
        writeln!(writer, "{text}")
    };
    line(
        writer,
        &format!("imported from {}", plain(source.summary())),
    )?;
    for file in &source.files {
        let hash = file.blake3.get(..16).unwrap_or(&file.blake3);
        let name = plain(file.name.clone());
        let facts = format!("{name}: {} bytes, blake3 {hash}", file.bytes);
        let facts = wrap_prose(&facts, units::terminal_width(), "    ");
        writeln!(writer, "  {facts}")?;
    }
    let units: Vec<String> = (source.values.iter())
        .map(|value| format!("{} in {}", value.column, value.unit))
        .collect();
    let columns = if source.columns.is_empty() {
        String::new()
    } else {
        format!("columns {}; ", source.columns)
    };
    let columns = format!("{}{}", plain(columns), plain(units.join(", ")));
    line(writer, &columns)?;
    let first = if source.filter.drop_first {
        ", first repetitions stored separately"
    } else {
        ""
    };
    let counts = format!(
        "{} ({}; all values are stored){first}",
        source.counts.describe(),
        source.filter.policy_name()
    );
    line(writer, &counts)?;
    if let Some(skipped) = describe_skipped_rows(source) {
        line(writer, &skipped)?;
    }
    line(writer, &plain(describe_environment(&run.begun.environment)))?;
    writeln!(writer)
}

/// Returns a sentence, without a full stop, about the rows of an import that could not be read. Returns `None` if there are none.
pub(crate) fn describe_skipped_rows(source: &Source) -> Option<String> {
    let rows = units::counted(source.rows_skipped as usize, "row");
    let verb = if source.rows_skipped == 1 {
        "was"
    } else {
        "were"
    };
    (source.rows_skipped > 0).then(|| format!("{rows} could not be read and {verb} skipped"))
}

/// Describes what is known about the machine and the build of an imported run.
pub(crate) fn describe_environment(environment: &Environment) -> String {
    let stated = stated_facts(environment);
    if stated.is_empty() {
        "machine and build are unknown".to_owned()
    } else {
        format!("stated: {}; everything else is unknown", stated.join(", "))
    }
}

/// Returns the facts about machine and build that the user stated when the run was imported.
fn stated_facts(environment: &Environment) -> Vec<String> {
    let (host, build) = (&environment.host, &environment.build);
    let cores = (host.cores > 0).then(|| host.cores.to_string());
    let text = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let facts = [
        ("cpu", text(&host.cpu)),
        ("architecture", text(&host.architecture)),
        ("os", text(&host.os)),
        ("kernel", text(&host.kernel)),
        ("governor", host.governor.clone()),
        ("microcode", host.microcode.clone()),
        ("cores", cores),
        ("rustc", text(&build.rustc)),
        ("target", text(&build.target)),
        ("profile", text(&build.profile)),
        ("rustflags", text(&build.rustflags)),
    ];
    let known = facts
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    known
        .map(|(name, value)| format!("{name} {value}"))
        .collect()
}
