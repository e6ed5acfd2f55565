//! Runs a program of the workspace once, from its start to its end, and measures how long that takes.
//!
//! Invariant: what the program prints is never kept as a whole. Standard output is discarded by the system or hashed while it is read; of standard
//! error, only the end is kept, for error messages.

#![expect(
    clippy::disallowed_methods,
    reason = "starts programs, through the supervisor; deadlines; times of touched files"
)]

use blake3::{Hash, Hasher};
use crossbeam_channel::{Receiver, bounded};
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant, SystemTime};

use super::error::ChildError;
use super::process::{
    PATIENCE, ProcessContext, ProcessSpec, RunningBench, WaitOutcome, describe_status, read_pieces,
    set_surroundings,
};
use perfcheck_analysis::model::ProgramBenchmark;
use perfcheck_host::os::set_modified;
use perfcheck_host::process::{LeftoverPolicy, peak_memory_command, read_usage, start_thread};

/// Interval between two looks at a run that is not timed.
const LOOK: Duration = Duration::from_millis(1);
/// A run whose CPU time is above this multiple of its time has used several processors.
const MORE_THAN_ONE: f64 = 1.1;
/// How long to wait for the end of the output after the program and its descendants have ended.
const OUTPUT_GRACE: Duration = Duration::from_secs(2);
/// Size of a read in bytes.
const PIECE: usize = 64 << 10;

/// The purpose of a run.
pub enum RunPurpose<'r> {
    /// The time of the run. The system discards the output, so that reading it does not disturb the measurement.
    Timing,
    /// The behavior of the program. Its output is hashed, and its threads are counted while it runs.
    Examination,
    /// The caller observes the process. The callback gets its id as soon as it has started, and then repeatedly.
    Observation(&'r mut dyn FnMut(u32)),
    /// The peak memory. A helper process runs the program, so the time and the CPU time are those of both.
    PeakMemory,
}

/// A run of a program that succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramRun {
    /// Process id.
    pub process: u32,
    /// Time from the start of the process to its end. If one thread did all its work, the time in which that thread was ready to run but had no
    /// processor is left out, because it depends only on other programs.
    pub time: Duration,
    /// Time of the command that prepared the run. Zero if there is none.
    pub preparation: Duration,
    /// CPU time of the process and of the children that it waited for, if the system reports it.
    pub cpu: Option<Duration>,
    /// The most memory that the program or one of the children that it waited for had at any time, in bytes. `None` unless that was the purpose of the
    /// run and the system reports it.
    pub peak_memory: Option<u64>,
    /// Hash of what it printed on standard output. `None` if that was discarded, or if another process still holds the pipe.
    pub output: Option<Hash>,
    /// Whether the program had one thread and no child processes, as far as was seen. `None` if that is unknown.
    pub is_solitary: Option<bool>,
    /// Whether the program had child processes. `None` if that is unknown.
    pub had_children: Option<bool>,
}

/// Runs the command that prepares the program, if there is one, and then the program. `longest` is the longest time that the program has taken so
/// far.
pub fn run_program(
    program: &ProgramBenchmark,
    spec: &ProcessSpec,
    purpose: RunPurpose<'_>,
    longest: Duration,
    context: &ProcessContext<'_>,
) -> Result<ProgramRun, ChildError> {
    let allowed = (context.timeout).saturating_add(longest.saturating_mul(PATIENCE));
    let mut preparation = Duration::ZERO;
    if let Some((name, arguments)) = program.prepare.split_first() {
        let mut command = Command::new(name);
        command.args(arguments);
        set_surroundings(&mut command, spec);
        let ended = run_command(&mut command, RunPurpose::Timing, allowed, context);
        let ended = ended.and_then(|ended| ended.require_status(0));
        let ended = ended.map_err(|failure| {
            let line = program.prepare.join(" ");
            failure.into_error(&format!("its `prepare` command `{line}`"), None)
        })?;
        preparation = ended.run.time;
    }
    if let Some(build) = &program.build {
        touch_files(&build.touched)?;
    }
    let helper = matches!(purpose, RunPurpose::PeakMemory)
        .then(|| peak_memory_command(&spec.program))
        .flatten();
    let purpose = match purpose {
        RunPurpose::PeakMemory if helper.is_none() => RunPurpose::Timing,
        other => other,
    };
    let mut command = helper.unwrap_or_else(|| Command::new(&spec.program));
    command.args(&spec.first_arguments).args(&program.arguments);
    set_surroundings(&mut command, spec);
    if let Some(stdin) = &program.stdin {
        let file = File::open(spec.directory.join(stdin)).map_err(|error| {
            ChildError::bench(format!(
                "cannot read its input `{}`: {error}",
                stdin.display()
            ))
        })?;
        command.stdin(file);
    }
    let ended = run_command(&mut command, purpose, allowed, context);
    let ended = ended.and_then(|ended| ended.require_status(program.exit));
    let ended = ended.map_err(|failure| match program.build {
        Some(_) => failure.into_error("the build", None),
        None => failure.into_error("the program", Some(spec)),
    })?;
    Ok(ProgramRun {
        preparation,
        ..ended.run
    })
}

/// Gives files the present as their modification time, so that cargo treats them as changed.
fn touch_files(paths: &[PathBuf]) -> Result<(), ChildError> {
    for path in paths {
        set_modified(path, SystemTime::now()).map_err(|error| {
            ChildError::bench(format!("cannot touch `{}`: {error}", path.display()))
        })?;
    }
    Ok(())
}

/// A program that does nothing, on Unix.
const EMPTY_PROGRAM: &str = "true";
/// Number of runs of the empty program.
const EMPTY_RUNS: usize = 5;

/// Returns the shortest time of a program that does nothing, in the surroundings of `spec`. Returns `None` if the system has no such program.
pub fn measure_start_up(
    spec: &ProcessSpec,
    context: &ProcessContext<'_>,
) -> Result<Option<Duration>, ChildError> {
    let mut shortest = None;
    for _ in 0..EMPTY_RUNS {
        let mut command = Command::new(EMPTY_PROGRAM);
        set_surroundings(&mut command, spec);
        let ended = run_command(&mut command, RunPurpose::Timing, context.timeout, context);
        match ended.and_then(|ended| ended.require_status(0)) {
            Ok(ended) => {
                let time = ended.run.time;
                shortest = Some(shortest.map_or(time, |known: Duration| known.min(time)));
            }
            Err(FailedRun::Interrupted) => return Err(ChildError::Interrupted),
            Err(_) => return Ok(None),
        }
    }
    Ok(shortest)
}

/// The end of a process that was not killed by us.
struct EndedProcess {
    run: ProgramRun,
    status: ExitStatus,
    /// The message of a panic on standard error, or the last line there.
    message: Option<String>,
}

/// The reason why a process did not end as it should.
enum FailedRun {
    Start(io::Error),
    Status {
        status: ExitStatus,
        message: Option<String>,
    },
    Timeout(Duration),
    Interrupted,
}

impl EndedProcess {
    fn require_status(self, expected: i32) -> Result<Self, FailedRun> {
        if self.status.code() == Some(expected) {
            return Ok(self);
        }
        Err(FailedRun::Status {
            status: self.status,
            message: self.message,
        })
    }
}

impl FailedRun {
    /// Creates the error, whose message begins with `subject`. `spec` is that of the program, if the process was the program itself.
    fn into_error(self, subject: &str, spec: Option<&ProcessSpec>) -> ChildError {
        match self {
            Self::Interrupted => ChildError::Interrupted,
            Self::Start(source) => match spec {
                Some(spec) => spec.spawn_error(source),
                None => ChildError::bench(format!("{subject} could not be started: {source}")),
            },
            Self::Timeout(allowed) => ChildError::bench(format!(
                "{subject} did not end within {:.1} s\n  help: if it takes that long, raise `--timeout`",
                allowed.as_secs_f64()
            )),
            Self::Status { status, message } => {
                let printed = message
                    .map(|line| format!("; its output: `{line}`"))
                    .unwrap_or_default();
                let help = match status.code() {
                    Some(code @ 1..) if spec.is_some() => format!(
                        "\n  help: if this is its usual status, add `exit = {code}` to its entry in Cargo.toml"
                    ),
                    _ => String::new(),
                };
                let status = describe_status(status);
                ChildError::bench(format!("{subject} ended with {status}{printed}{help}"))
            }
        }
    }
}

/// Starts `command` and waits for its end.
fn run_command(
    command: &mut Command,
    purpose: RunPurpose<'_>,
    allowed: Duration,
    context: &ProcessContext<'_>,
) -> Result<EndedProcess, FailedRun> {
    let reports_memory = matches!(purpose, RunPurpose::PeakMemory);
    let is_examined = matches!(purpose, RunPurpose::Examination);
    if !is_examined && !reports_memory {
        command.stdout(Stdio::null());
    }
    let mut group = (context.supervisor)
        .spawn(command, LeftoverPolicy::Kill)
        .map_err(FailedRun::Start)?;
    let started = group.started();
    let leader = group.leader();
    let process = leader.id();
    let mut stdout = leader.stdout.take();
    let report = stdout.take_if(|_| reports_memory).map(read_pieces);
    let report = report.transpose().map_err(FailedRun::Start)?;
    let hash = stdout.map(hash_pipe).transpose();
    let hash = hash.map_err(FailedRun::Start)?;
    let Some(stderr) = leader.stderr.take() else {
        return Err(FailedRun::Start(io::ErrorKind::BrokenPipe.into()));
    };
    let stderr = read_pieces(stderr).map_err(FailedRun::Start)?;
    // A program has many runs. If the output of each were shown, it would hide our own messages.
    let quiet = context.without_observer();
    let mut running = RunningBench::new(group, stderr, &quiet);
    let deadline = started.checked_add(allowed);
    let (mut is_solitary, mut had_children) = (None, None);
    let mut count_threads = |process| {
        if let Some(usage) = read_usage(process) {
            let is_alone = usage.threads == 1 && !usage.has_children;
            is_solitary = Some(is_alone && is_solitary != Some(false));
            had_children = Some(usage.has_children || had_children == Some(true));
        }
    };
    let mut look: Option<&mut dyn FnMut(u32)> = match purpose {
        RunPurpose::Timing | RunPurpose::PeakMemory => None,
        RunPurpose::Examination => Some(&mut count_threads),
        RunPurpose::Observation(look) => Some(look),
    };
    let ended = loop {
        let mut until = deadline;
        if let Some(look) = &mut look {
            look(process);
            let next = Instant::now() + LOOK;
            until = deadline.map(|deadline| deadline.min(next));
        }
        match running.wait_for_end(until) {
            WaitOutcome::Came(ended) => break ended,
            // No thread could be started to wait for the end.
            WaitOutcome::Closed => return Err(FailedRun::Start(io::ErrorKind::OutOfMemory.into())),
            WaitOutcome::Late if deadline.is_some_and(|deadline| deadline > Instant::now()) => {}
            WaitOutcome::Late => return Err(FailedRun::Timeout(allowed)),
            WaitOutcome::Interrupted => return Err(FailedRun::Interrupted),
        }
    };
    let usage = running.usage();
    let cpu = usage.map(|usage| usage.cpu);
    let mut time = ended.saturating_duration_since(started);
    if let Some((cpu, waiting)) = usage.and_then(|usage| Some((usage.cpu, usage.waiting?))) {
        // The end of the process is known only approximately, but the process cannot have taken less than its CPU time.
        time = time.saturating_sub(waiting).max(cpu);
    }
    if is_examined && let Some(cpu) = cpu {
        let is_within_one = cpu <= time.mul_f64(MORE_THAN_ONE);
        is_solitary = Some(is_within_one && is_solitary != Some(false));
    }
    // A child may have lived for less than the interval between two looks.
    if let Some(waited) = usage.and_then(|usage| usage.had_children) {
        had_children = Some(waited || had_children == Some(true));
    }
    let status = running.end().map_err(FailedRun::Start)?;
    running.drain_output();
    Ok(EndedProcess {
        run: ProgramRun {
            process,
            time,
            preparation: Duration::ZERO,
            cpu,
            is_solitary,
            had_children,
            peak_memory: report.and_then(|report| read_number(&report)),
            output: hash.and_then(|hash| hash.recv_timeout(OUTPUT_GRACE).ok()),
        },
        status,
        message: running.final_message(),
    })
}

/// Reads the number that a process printed before it ended. Returns `None` if it printed something else.
fn read_number(pieces: &Receiver<Vec<u8>>) -> Option<u64> {
    let mut text = Vec::new();
    while let Ok(piece) = pieces.recv_timeout(OUTPUT_GRACE) {
        text.extend(piece);
    }
    str::from_utf8(&text).ok()?.trim_end().parse().ok()
}

/// Hashes what comes out of a pipe, on a thread of its own. The hash arrives at the end of the pipe.
fn hash_pipe(mut pipe: impl Read + Send + 'static) -> io::Result<Receiver<Hash>> {
    let (sender, receiver) = bounded(1);
    start_thread(move || {
        let mut hasher = Hasher::new();
        let mut piece = vec![0; PIECE];
        loop {
            match pipe.read(&mut piece) {
                Ok(0) => break,
                Ok(length) => {
                    hasher.update(&piece[..length]);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return,
            }
        }
        // If nobody waits any more, nobody needs the hash.
        let _ = sender.send(hasher.finalize());
    })?;
    Ok(receiver)
}

#[cfg(all(test, unix))]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsString;
    use std::path::Path;

    use super::*;
    use perfcheck_analysis::model::{NullObserver, SkipSupport, TimedBuild};
    use perfcheck_host::process::{Interrupt, Supervisor};

    /// Runs `sh -c script` as if it were a program of the workspace, in `directory`.
    fn run_script(
        script: &str,
        directory: &Path,
        change: impl FnOnce(&mut ProgramBenchmark),
    ) -> Result<ProgramRun, String> {
        let (supervisor, interrupt) = (Supervisor::default(), Interrupt::never());
        let timeout = Duration::from_millis(500);
        let context = ProcessContext::new(&supervisor, &interrupt, &NullObserver, timeout);
        let spec = ProcessSpec {
            program: "/bin/sh".into(),
            first_arguments: vec![OsString::from("-c"), script.into()],
            directory: directory.to_owned(),
            variables: BTreeMap::new(),
            ordinal: 0,
            padding: 0,
            skipping: SkipSupport::Works,
        };
        let mut program = ProgramBenchmark {
            package: "p".into(),
            binary: "sh".into(),
            id: "script".into(),
            arguments: Vec::new(),
            stdin: None,
            prepare: Vec::new(),
            exit: 0,
            build: None,
        };
        change(&mut program);
        let run = run_program(
            &program,
            &spec,
            RunPurpose::Examination,
            Duration::ZERO,
            &context,
        );
        run.map_err(|error| error.to_string())
    }

    #[test]
    fn the_time_of_a_run_is_that_of_the_process() {
        let directory = tempfile::tempdir().expect("a directory");
        let run = run_script("sleep 0.2", directory.path(), |_| {}).expect("it succeeds");
        assert!(run.time >= Duration::from_millis(200), "{run:?}");
        assert_eq!(run.cpu.is_some(), cfg!(target_os = "linux"));
        assert!(run.cpu.is_none_or(|cpu| cpu < run.time));
        let alone = run_script("exec sleep 0.05", directory.path(), |_| {}).expect("it succeeds");
        // A shell that starts another program has a child.
        let parent = run_script("sleep 0.05; true", directory.path(), |_| {}).expect("it succeeds");
        if cfg!(target_os = "linux") {
            let seen = (alone.is_solitary, parent.is_solitary);
            assert_eq!(seen, (Some(true), Some(false)));
            // A child that ends at once is seen, too.
            let parent = run_script("(exit 3); true", directory.path(), |_| {});
            let parent = parent.expect("it succeeds");
            let seen = (alone.had_children, parent.had_children);
            assert_eq!(seen, (Some(false), Some(true)));
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_cpu_time_is_that_of_the_program_time() {
        if !Path::new("/usr/bin/time").exists() {
            return;
        }
        let directory = tempfile::tempdir().expect("a directory");
        let script = "exec /usr/bin/time -o used -f '%U %S' sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'";
        let run = run_script(script, directory.path(), |_| {}).expect("it succeeds");
        let used = std::fs::read_to_string(directory.path().join("used")).expect("written");
        let seconds = used.split_whitespace().map(str::parse::<f64>);
        let seconds: f64 = seconds.map(|word| word.expect("a number")).sum();
        let difference = run.cpu.expect("on Linux").as_secs_f64() - seconds;
        // Both numbers are cut to ticks of 10 ms, and `time` itself takes a little.
        assert!((-0.001..0.03).contains(&difference), "{run:?} {used}");
    }

    #[test]
    fn a_build_gets_changed_sources_and_fails_as_a_build() {
        let directory = tempfile::tempdir().expect("a directory");
        let source = directory.path().join("lib.rs");
        std::fs::write(&source, "").expect("written");
        set_modified(&source, SystemTime::UNIX_EPOCH).expect("set");
        let touching = |path: &Path| {
            let path = path.to_owned();
            move |program: &mut ProgramBenchmark| {
                program.build = Some(TimedBuild {
                    flags: String::new(),
                    touched: vec![path],
                });
            }
        };
        run_script("true", directory.path(), touching(&source)).expect("it succeeds");
        let modified = std::fs::metadata(&source).and_then(|file| file.modified());
        let hour_ago = SystemTime::now() - Duration::from_secs(3600);
        assert!(modified.expect("a time") > hour_ago);
        let failed = run_script("exit 101", directory.path(), touching(&source));
        let expected = "the build ended with exit status 101";
        assert_eq!(failed, Err(expected.to_owned()));
        let absent = directory.path().join("absent.rs");
        let failed = run_script("true", directory.path(), touching(&absent)).expect_err("no file");
        assert!(failed.starts_with("cannot touch `/"), "{failed}");
    }

    #[test]
    fn output_is_hashed_and_input_comes_from_the_file() {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(directory.path().join("in.txt"), "words").expect("written");
        let read = |program: &mut ProgramBenchmark| program.stdin = Some("in.txt".into());
        let run = run_script("cat", directory.path(), read).expect("it succeeds");
        assert_eq!(run.output, Some(blake3::hash(b"words")));
        let run = run_script("cat", directory.path(), |_| {}).expect("it succeeds");
        assert_eq!(run.output, Some(blake3::hash(b"")), "no input");
        let absent = |program: &mut ProgramBenchmark| program.stdin = Some("absent".into());
        let error = run_script("cat", directory.path(), absent).expect_err("no file");
        assert!(
            error.starts_with("cannot read its input `absent`"),
            "{error}"
        );
    }

    #[test]
    fn a_run_that_fails_hangs_or_is_not_prepared_is_explained() {
        let directory = tempfile::tempdir().expect("a directory");
        let fail = |script: &str| run_script(script, directory.path(), |_| {}).expect_err("fails");
        assert_eq!(
            fail("echo no such file >&2; exit 2"),
            "the program ended with exit status 2; its output: `no such file`\n  help: if this is its usual status, add `exit = 2` to its entry in Cargo.toml"
        );
        assert_eq!(
            fail("kill -9 $$"),
            "the program ended with signal 9 (SIGKILL)"
        );
        assert!(fail("sleep 900").starts_with("the program did not end within 0.5 s\n"));
        let usual = run_script("exit 2", directory.path(), |program| program.exit = 2);
        assert!(usual.is_ok());
        let unprepared = run_script("exit 0", directory.path(), |program| {
            program.prepare = vec!["ls".into(), "absent".into()];
        });
        let error = unprepared.expect_err("it is not prepared");
        assert!(
            error.starts_with("its `prepare` command `ls absent` ended with exit status 2"),
            "{error}"
        );
    }

    #[test]
    fn the_command_that_prepares_runs_before_the_program() {
        let directory = tempfile::tempdir().expect("a directory");
        let run = run_script("cat made", directory.path(), |program| {
            let words = ["sh", "-c", "sleep 0.05; echo ready > made"];
            program.prepare = words.map(str::to_owned).to_vec();
        });
        let run = run.expect("it succeeds");
        assert_eq!(run.output, Some(blake3::hash(b"ready\n")));
        assert!(run.preparation >= Duration::from_millis(50), "{run:?}");
    }

    #[test]
    fn an_empty_program_takes_little_time() {
        let (supervisor, interrupt) = (Supervisor::default(), Interrupt::never());
        let timeout = Duration::from_secs(9);
        let context = ProcessContext::new(&supervisor, &interrupt, &NullObserver, timeout);
        let spec = ProcessSpec {
            program: "/nowhere".into(),
            first_arguments: Vec::new(),
            directory: "/".into(),
            variables: BTreeMap::new(),
            ordinal: 0,
            padding: 0,
            skipping: SkipSupport::Works,
        };
        let time = measure_start_up(&spec, &context).expect("it is not interrupted");
        assert!(time.is_some_and(|time| time < Duration::from_secs(1)));
    }

    #[test]
    fn what_a_program_leaves_behind_holds_nobody_up() {
        let directory = tempfile::tempdir().expect("a directory");
        let run = run_script("sleep 900 & echo $!", directory.path(), |_| {});
        let run = run.expect("it succeeds");
        assert!(run.output.is_some());
        assert!(run.time < Duration::from_secs(5));
    }
}
