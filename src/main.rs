//! Parses the command line, calls the command, prints the error and returns the exit status.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

use anstream::ColorChoice;
use cargo_perfcheck::cli::{self, Command, ParsedCommand};
use cargo_perfcheck::output::{Charset, CharsetWriter, MessageFormat, ProgressMode, write_error};
use cargo_perfcheck::sanitize::{CommandGuard, EscapedStream, LogCommands};
use cargo_perfcheck::{AppError, World};
use perfcheck_analysis::exit_code::ExitCode;
use perfcheck_build::link::run_as_linker;
use perfcheck_host::EnvironmentVariables;
use perfcheck_host::process::{
    Interrupt, PEAK_MEMORY_ARGUMENT, REAPER_ARGUMENT, Supervisor, reap, report_peak_memory,
};
use std::io::{self, IsTerminal, Write};
use std::process;

fn main() -> process::ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    match arguments.get(1).and_then(|argument| argument.to_str()) {
        Some(REAPER_ARGUMENT) => {
            reap(io::stdin().lock());
            return process::ExitCode::SUCCESS;
        }
        Some(PEAK_MEMORY_ARGUMENT) => {
            let status = report_peak_memory(&arguments[2..], &mut io::stdout());
            return status.map_or(process::ExitCode::FAILURE, process::ExitCode::from);
        }
        Some(cargo_perfcheck::WORKLOADS_ARGUMENT) => return cargo_perfcheck::run_workloads(),
        _ => {}
    }
    if let Some(linked) = run_as_linker(&arguments) {
        return linked.unwrap_or_else(|error| {
            let _ = write_error(&mut io::stderr(), &error.to_string());
            process::ExitCode::FAILURE
        });
    }
    let parsed = match cli::parse(arguments) {
        Ok(parsed) => parsed,
        Err(error) => {
            // For clap, `--help` and `--version` are errors, too, but they print to stdout and succeed. All other errors are wrong usage. If the
            // stream is closed, the exit status stays the same.
            let charset = |is_terminal| charset(&EnvironmentVariables::read(), is_terminal);
            if !error.use_stderr() {
                let charset = charset(io::stdout().is_terminal());
                let mut stdout = CharsetWriter::new(anstream::stdout(), charset);
                let _ = write!(stdout, "{}", error.render().ansi());
                return ExitCode::Clean.number().into();
            }
            let variables = EnvironmentVariables::read();
            let commands = LogCommands::new(variables.github_actions, variables.ci);
            let charset = charset(io::stderr().is_terminal());
            let stderr = CharsetWriter::new(anstream::stderr(), charset);
            let mut stderr = EscapedStream::new(CommandGuard::new(stderr, &commands));
            let _ = write!(stderr, "{}", error.render().ansi());
            return ExitCode::Usage.number().into();
        }
    };
    match parsed.common.output.color {
        clap::ColorChoice::Always => ColorChoice::Always.write_global(),
        clap::ColorChoice::Never => ColorChoice::Never.write_global(),
        clap::ColorChoice::Auto => {}
    }
    let variables = EnvironmentVariables::read();
    let commands = LogCommands::new(variables.github_actions, variables.ci);
    let charset = charset(&variables, io::stderr().is_terminal());
    let stderr = UntilClosed::new(CharsetWriter::new(anstream::stderr(), charset));
    let mut stderr = EscapedStream::new(CommandGuard::new(stderr, &commands));
    let status = match dispatch(&parsed, variables, &commands, &mut stderr) {
        Ok(status) => status,
        Err(error) => {
            let _ = write_error(&mut stderr, &error.to_string());
            error.exit_code()
        }
    };
    status.number().into()
}

/// Returns the character set for a stream. Only a terminal that cannot show Unicode gets ASCII; files and pipes always get Unicode.
fn charset(variables: &EnvironmentVariables, is_terminal: bool) -> Charset {
    if variables.shows_unicode || !is_terminal {
        Charset::Unicode
    } else {
        Charset::Ascii
    }
}

fn dispatch(
    parsed: &ParsedCommand,
    variables: EnvironmentVariables,
    commands: &LogCommands,
    stderr: &mut dyn Write,
) -> Result<ExitCode, AppError> {
    cargo_perfcheck::start_log(&variables, io::stderr)?;
    let of_stderr = self::charset(&variables, io::stderr().is_terminal());
    let common = &parsed.common;
    let progress = if common.output.quiet {
        ProgressMode::Quiet
    } else if io::stderr().is_terminal()
        && common.output.format == MessageFormat::Human
        // Show no bar while a log is written, because both would mix in the same lines.
        && variables.log.is_none()
    {
        ProgressMode::Bar(self::charset(&variables, true))
    } else {
        ProgressMode::Lines
    };
    let is_bar = matches!(progress, ProgressMode::Bar(_));
    let tell = move |left: &str| {
        let mut stderr = CharsetWriter::new(anstream::stderr(), of_stderr);
        // The line may hold a progress bar, and nothing else will clear it.
        if is_bar {
            let _ = stderr.write_all(b"\r\x1b[K");
        }
        let error = AppError::Interrupted(left.to_owned());
        // Ignore a failed write: there is no other place to report it.
        let _ = write_error(&mut stderr, &error.to_string());
    };
    let interrupt = Interrupt::install(tell).map_err(|error| AppError::Usage(error.to_string()))?;
    cargo_perfcheck::start_workers(variables.worker_threads);
    let supervisor = Supervisor::new(&interrupt);
    let charset = match common.output.format {
        MessageFormat::Human => charset(&variables, io::stdout().is_terminal()),
        MessageFormat::Json => Charset::Unicode,
    };
    charset.write_global();
    let stdout = UntilClosed::new(CharsetWriter::new(anstream::stdout(), charset));
    let mut stdout = EscapedStream::new(CommandGuard::new(stdout, commands));
    // A terminal and a CI log obey control characters, so make these visible. A file keeps the bytes that the bench printed.
    let is_obeyed = io::stderr().is_terminal() || variables.ci || variables.github_actions;
    let bench_output = CommandGuard::foreign(io::stderr(), commands);
    let mut bench_output: Box<dyn Write> = if is_obeyed {
        Box::new(EscapedStream::new(bench_output))
    } else {
        Box::new(bench_output)
    };
    let mut world = World {
        variables,
        commands,
        supervisor: &supervisor,
        interrupt: &interrupt,
        stdout: &mut stdout,
        stderr,
        bench_output: &mut bench_output,
        progress,
    };
    let status = if parsed.command.is_read_only() {
        interrupt.while_computing("", || run_command(parsed, &mut world))
    } else {
        run_command(parsed, &mut world)
    };
    // Output that does not end with a newline is still in the buffer.
    let flushed = world.stdout.flush().map_err(AppError::from);
    status.and_then(|status| flushed.map(|()| status))
}

fn run_command(parsed: &ParsedCommand, world: &mut World<'_>) -> Result<ExitCode, AppError> {
    let common = &parsed.common;
    match &parsed.command {
        Command::Run(options) => cargo_perfcheck::run(options, common, world),
        Command::Compare(options) => cargo_perfcheck::compare(options, common, world),
        Command::Bisect(options) => cargo_perfcheck::bisect(options, common, world),
        Command::Coverage(options) => cargo_perfcheck::coverage(options, common, world),
        Command::Rank(options) => cargo_perfcheck::rank(options, common, world),
        Command::SelfTest(options) => cargo_perfcheck::self_test(options, common, world),
        Command::Doctor(options) => cargo_perfcheck::doctor(options, &common.output, world),
        Command::Init(options) => cargo_perfcheck::init(options, common, world),
        Command::List(options) => cargo_perfcheck::list(options, common, world),
        Command::Merge(options) => cargo_perfcheck::merge(options, common, world),
        Command::Runs(last) => cargo_perfcheck::runs(*last, common, world),
        Command::Adopt(from) => cargo_perfcheck::adopt(from.as_deref(), common, world),
        Command::Show(options) => cargo_perfcheck::show(options, common, world),
        Command::Explain(options) => cargo_perfcheck::explain(options, common, world),
        Command::Report(options) => cargo_perfcheck::report(options, common, world),
        Command::Export(options) => cargo_perfcheck::export(options, common, world),
        Command::Import(options) => cargo_perfcheck::import(options, common, world),
        Command::History(options) => cargo_perfcheck::history(options, common, world),
        Command::Accept(options) => cargo_perfcheck::accept(options, common, world),
        Command::Prune(options) => cargo_perfcheck::prune(options, common, world),
        Command::Push(options) => cargo_perfcheck::push(options, common, world),
        Command::CreateStore(options) => cargo_perfcheck::create(options, world),
        Command::RemoveRuns(runs) => cargo_perfcheck::remove_runs(runs, common, world),
        Command::Baseline(action) => cargo_perfcheck::baseline(action, common, world),
        Command::Completions(shell) => {
            cli::write_completions(*shell, world.stdout)?;
            Ok(ExitCode::Clean)
        }
        Command::ManualPage(words) => {
            if cli::write_manual_page(words, world.stdout)? {
                return Ok(ExitCode::Clean);
            }
            Err(AppError::Usage(format!(
                "there is no command `{}`\n  help: `cargo perfcheck --help` lists the commands",
                words.join(" ")
            )))
        }
    }
}

/// A stream whose reader may close it. Later output is dropped without an error, so the exit status does not change.
struct UntilClosed<W> {
    writer: W,
    closed: bool,
}

impl<W: Write> UntilClosed<W> {
    fn new(writer: W) -> Self {
        Self {
            writer,
            closed: false,
        }
    }

    fn write_unless_closed<T>(
        &mut self,
        dropped: T,
        work: impl FnOnce(&mut W) -> io::Result<T>,
    ) -> io::Result<T> {
        if self.closed {
            return Ok(dropped);
        }
        match work(&mut self.writer) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(dropped)
            }
            other => other,
        }
    }
}

impl<W: Write> Write for UntilClosed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_unless_closed(bytes.len(), |writer| writer.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write_unless_closed((), Write::flush)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(io::ErrorKind);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Err(self.0.into())
        }
    }

    #[test]
    fn a_reader_that_left_is_no_error_and_anything_else_is() {
        let mut left = UntilClosed::new(Failing(io::ErrorKind::BrokenPipe));
        assert!(left.write_all(b"a").and_then(|()| left.flush()).is_ok());
        let mut full = UntilClosed::new(Failing(io::ErrorKind::StorageFull));
        assert!(full.write_all(b"a").is_err());
        assert!(full.flush().is_err());
    }
}
