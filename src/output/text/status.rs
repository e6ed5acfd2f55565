//! Status lines in the style of cargo, such as errors, warnings and build steps. Also the lines above the table of a run, which say where and how it
//! was measured.

use std::io::{self, Write};

use crate::output::view::wrap_prose;
use crate::output::words::source::write_source;
use crate::output::{terminal, units};
use crate::sanitize;
use perfcheck_analysis::compare::HostControls;
use perfcheck_analysis::model::{Run, RunStatus, shorten_hash};

/// Writes the error that ends a command. It is the last message of the command.
pub fn write_error(writer: &mut dyn Write, message: &str) -> io::Result<()> {
    writeln!(
        writer,
        "{}: {}",
        terminal::error(),
        terminal::escape_terminal_text(message)
    )
}

/// Writes a warning. Unlike after an error, the command goes on.
pub fn write_warning(writer: &mut dyn Write, message: &str) -> io::Result<()> {
    let message = terminal::escape_terminal_text(message);
    writeln!(writer, "{}: {message}", terminal::warning())
}

/// Writes a warning as [`write_warning`] does, but in lines of at most `columns`.
pub(crate) fn write_warning_within(
    writer: &mut dyn Write,
    message: &str,
    columns: usize,
) -> io::Result<()> {
    let message = terminal::escape_terminal_text(message);
    let text = format!("{}: {message}", terminal::warning());
    writeln!(writer, "{}", wrap_prose(&text, columns, "  "))
}

/// Writes less important text in lines of at most `columns`.
pub(crate) fn write_faint(writer: &mut dyn Write, text: &str, columns: usize) -> io::Result<()> {
    let text = wrap_prose(text, columns, "");
    (text.split('\n')).try_for_each(|line| writeln!(writer, "{}", terminal::faint(line)))
}

/// Writes a build step in the style of cargo: a right-aligned verb, then the object of the step.
pub fn write_build_event(writer: &mut dyn Write, verb: &str, object: &str) -> io::Result<()> {
    writeln!(
        writer,
        "{} {}",
        terminal::status(verb),
        terminal::escape_terminal_text(object)
    )
}

/// Width of a status word and the blank after it, in columns.
const STATUS: usize = 13;

/// Writes a line as [`write_build_event`] does, but wraps `text`, which must be escaped, in lines of at most `columns`.
pub(super) fn write_wrapped_event(
    writer: &mut dyn Write,
    verb: &str,
    text: &str,
    columns: usize,
) -> io::Result<()> {
    let text = wrap_prose(text, columns, &" ".repeat(STATUS));
    writeln!(writer, "{} {text}", terminal::status(verb))
}

/// Writes the lines above the table of a run: its commit, host, compiler, profile and seed. For an imported run, they name its source instead.
pub fn write_run_head(writer: &mut dyn Write, run: &Run, signs: &HostControls) -> io::Result<()> {
    let git = run.begun.git.as_ref().map_or_else(String::new, |git| {
        let branch = git.branch.as_deref().unwrap_or("detached");
        let dirty = if git.dirty { ", modified" } else { "" };
        let commit = shorten_hash(&git.commit, 12);
        sanitize::one_line(&format!(", commit {commit} ({branch}{dirty})"))
    });
    let status = match run.status {
        RunStatus::Complete => "",
        RunStatus::Incomplete => ", incomplete",
    };
    let part = run.begun.partition.as_ref();
    let part = part.map_or_else(String::new, |found| format!(", part {}", found.part));
    writeln!(
        writer,
        "{}{git}{part}{status}",
        terminal::heading(format!("run {}", run.id))
    )?;
    if let Some(source) = &run.source {
        return write_source(writer, run, source);
    }
    let (host, build) = (&run.begun.environment.host, &run.begun.environment.build);
    let line = |writer: &mut dyn Write, text: &str| {
        let text = sanitize::one_line(text);
        writeln!(writer, "{}", wrap_prose(&text, units::terminal_width(), ""))
    };
    line(writer, &units::host(host))?;
    let signs = describe_host_signs(signs);
    if !signs.is_empty() {
        line(writer, &signs.join("; "))?;
    }
    let flags = if build.rustflags.is_empty() {
        String::new()
    } else {
        format!(", flags {}", build.rustflags)
    };
    let build = format!(
        "{}, profile {}, {}{flags}, seed {}",
        build.rustc, build.profile, build.target, run.begun.seed
    );
    line(writer, &build)?;
    writeln!(writer)
}

/// Describes what the run measured about its host: the timer resolution and the times of the control workload.
fn describe_host_signs(signs: &HostControls) -> Vec<String> {
    let resolution = signs.clock_step.map(units::timer_resolution);
    let control = signs.control_ns.map(|pass| {
        let range = signs.control_range.unwrap_or(0.0) * 100.0;
        let jitter = units::jitter(signs).unwrap_or_default();
        format!(
            "control workload {} per pass, varying by {range:.1} % between processes, {jitter}",
            units::time(pass)
        )
    });
    resolution.into_iter().chain(control).collect()
}
