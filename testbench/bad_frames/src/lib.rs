//! A child, written without the harness, that answers requests correctly, except where a [`Fault`] makes the answer wrong.
//!
//! Its times are made up: an iteration takes 1000 ns.

use std::io::{BufRead, Write};
use std::thread::sleep;
use std::time::Duration;

/// A wrong answer, given by the benchmark with the fault's id. All other answers are correct.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// No fault: every answer is correct.
    None,
    /// `sample` is answered with text that is no JSON.
    Garbage,
    /// `sample` is answered with bytes that are not UTF-8.
    NotUtf8,
    /// `sample` is answered with a JSON array.
    NotAnObject,
    /// `sample` is answered with the first half of a frame, and then the process ends.
    HalfAFrame,
    /// `sample` is answered with a type that is not in the protocol.
    UnknownType,
    /// `sample` is answered with a frame that belongs to another request.
    WrongFrame,
    /// `sample` is answered without `elapsed_ns`.
    MissingMember,
    /// `sample` is answered with arrays of different lengths.
    MismatchedLengths,
    /// `sample` is answered with iteration counts that differ from the requested ones.
    OtherCounts,
    /// A time is negative.
    NegativeTime,
    /// A time is not whole.
    FractionalTime,
    /// A time is `NaN`, which is not JSON.
    NotANumber,
    /// A time is `null`, which some JSON writers use for a NaN.
    NullTime,
    /// A time is 2^63.
    TooLarge,
    /// `start` is answered with the id of another benchmark.
    OtherId,
    /// `sample` is answered twice.
    ExtraFrame,
    /// `sample` is answered with 65 MiB without a newline: more than a frame may have.
    EndlessLine,
    /// `warm-up` is answered with zero iterations and a time of zero.
    NoWarmUp,
    /// All times are 0, which is allowed.
    ZeroTimes,
    /// `count` is answered with columns of different lengths.
    UnevenCounts,
    /// The benchmark times its operations, but `latencies` reports none of them.
    LostOperations,
    /// `sample` is refused as an invalid request, so the benchmark stays started.
    Refuses,
    /// `sample` is answered with an error of two million characters.
    LongError,
    /// `warm-up` is answered with a time of 2^64-1 ns.
    WarmsUpForEver,
}

impl Fault {
    /// All faults, in the order in which `answers` declares their benchmarks.
    pub const ALL: [Self; 25] = [
        Self::None,
        Self::Garbage,
        Self::NotUtf8,
        Self::NotAnObject,
        Self::HalfAFrame,
        Self::UnknownType,
        Self::WrongFrame,
        Self::MissingMember,
        Self::MismatchedLengths,
        Self::OtherCounts,
        Self::NegativeTime,
        Self::FractionalTime,
        Self::NotANumber,
        Self::NullTime,
        Self::TooLarge,
        Self::OtherId,
        Self::ExtraFrame,
        Self::EndlessLine,
        Self::NoWarmUp,
        Self::ZeroTimes,
        Self::UnevenCounts,
        Self::LostOperations,
        Self::Refuses,
        Self::LongError,
        Self::WarmsUpForEver,
    ];

    /// Returns the id of the benchmark that has this fault.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::None => "fine",
            Self::Garbage => "garbage",
            Self::NotUtf8 => "not_utf8",
            Self::NotAnObject => "not_an_object",
            Self::HalfAFrame => "half_a_frame",
            Self::UnknownType => "unknown_type",
            Self::WrongFrame => "wrong_frame",
            Self::MissingMember => "missing_member",
            Self::MismatchedLengths => "mismatched_lengths",
            Self::OtherCounts => "other_counts",
            Self::NegativeTime => "negative_time",
            Self::FractionalTime => "fractional_time",
            Self::NotANumber => "not_a_number",
            Self::NullTime => "null_time",
            Self::TooLarge => "too_large",
            Self::OtherId => "other_id",
            Self::ExtraFrame => "extra_frame",
            Self::EndlessLine => "endless_line",
            Self::NoWarmUp => "no_warm_up",
            Self::ZeroTimes => "zero_times",
            Self::UnevenCounts => "uneven_counts",
            Self::LostOperations => "lost_operations",
            Self::Refuses => "refuses",
            Self::LongError => "long_error",
            Self::WarmsUpForEver => "warms_up_for_ever",
        }
    }
}

/// Returns true if `cargo perfcheck` has started this process. Otherwise prints a message to stderr.
#[must_use]
pub fn has_parent() -> bool {
    let has_parent = std::env::var_os("PERFCHECK_PROTOCOL").is_some();
    if !has_parent {
        eprintln!("bad_frames has something to say to `cargo perfcheck` only");
    }
    has_parent
}

/// Sends a line. Ends the process if nobody reads it.
pub fn send(line: impl AsRef<[u8]>) {
    let mut stdout = std::io::stdout().lock();
    let sent = stdout
        .write_all(line.as_ref())
        .and_then(|()| stdout.write_all(b"\n"))
        .and_then(|()| stdout.flush());
    if sent.is_err() {
        std::process::exit(0);
    }
}

/// Sends a valid hello.
pub fn send_hello() {
    send_hello_of(r#""addressable","allocations""#, 100);
}

/// Sends a hello with this clock step and these capabilities, which are written as in a JSON array.
pub fn send_hello_of(capabilities: &str, quantum_ns: u64) {
    send("");
    send(format!(
        r#"{{"type":"hello","protocol":1,"harness":"by hand","version":"0.0.0","capabilities":[{capabilities}],"quantum_ns":{quantum_ns}}}"#
    ));
}

/// Answers `list` with benchmarks forever, and pauses for `rest` after each.
pub fn announce_for_ever(rest: Duration) {
    send_hello();
    serve(|| {
        for number in 0_u64.. {
            send_benchmark(&number.to_string());
            sleep(rest);
        }
    });
}

/// Announces a benchmark. Its id must not need escaping in JSON.
pub fn send_benchmark(id: &str) {
    send(format!(
        r#"{{"type":"benchmark","id":"{id}","version":null,"throughput":{{"bytes":null,"elements":null}},"settings":{{}}}}"#
    ));
}

/// Answers requests until `bye` or the end of the input. The caller answers the request `list`.
pub fn serve(mut list: impl FnMut()) {
    let mut under_way = Fault::None;
    let mut is_refusing = false;
    for request in std::io::stdin().lock().lines().map_while(Result::ok) {
        match request.split_once(' ').unwrap_or((&request, "")) {
            ("list", _) => list(),
            ("start", _) if is_refusing => {
                send(r#"{"type":"error","id":null,"message":"a benchmark is started"}"#);
            }
            ("start", id) => {
                under_way = Fault::ALL
                    .into_iter()
                    .find(|fault| fault.id() == id)
                    .unwrap_or(Fault::None);
                send_started(under_way, id);
            }
            ("warm-up", until_ns) => send_warmed_up(under_way, until_ns),
            ("sample", _) if under_way == Fault::Refuses => {
                is_refusing = true;
                send(r#"{"type":"error","id":null,"message":"so many samples are not for me"}"#);
            }
            ("sample", specs) => send_samples(under_way, specs),
            ("count", iterations) => send_counted(under_way, iterations),
            ("latencies", _) => send(
                r#"{"type":"latencies","counts":[],"clamped":0,"errors":0,"messages":[],"reservoir_ns":[],"windows":[]}"#,
            ),
            ("finish", _) => send(format!(
                r#"{{"type":"finished","id":"{}"}}"#,
                under_way.id()
            )),
            ("bye", _) => {
                send(r#"{"type":"bye"}"#);
                return;
            }
            _ => send(r#"{"type":"error","id":null,"message":"no such request"}"#),
        }
    }
}

fn send_started(fault: Fault, id: &str) {
    let kind = if fault == Fault::LostOperations {
        r#","kind":"latency""#
    } else {
        ""
    };
    let id = if fault == Fault::OtherId {
        Fault::None.id()
    } else {
        id
    };
    send(format!(
        r#"{{"type":"started","id":"{id}","throughput":{{"bytes":null,"elements":null}}{kind}}}"#
    ));
}

fn send_warmed_up(fault: Fault, until_ns: &str) {
    let iterations = match fault {
        Fault::NoWarmUp => 0,
        Fault::WarmsUpForEver => {
            send(format!(
                r#"{{"type":"warmed-up","iterations":1,"elapsed_ns":{}}}"#,
                u64::MAX
            ));
            return;
        }
        _ => until_ns.parse::<u64>().unwrap_or(0) / 1_000 + 1,
    };
    send(format!(
        r#"{{"type":"warmed-up","iterations":{iterations},"elapsed_ns":{}}}"#,
        iterations * 1_000
    ));
}

/// Answers `count` for this number of iterations, none of which allocated anything.
fn send_counted(fault: Fault, iterations: &str) {
    let iterations = iterations.parse::<usize>().unwrap_or(1);
    let column = |length: usize| vec!["0"; length].join(",");
    let (whole, bytes) = match fault {
        Fault::UnevenCounts => (column(iterations), column(iterations - 1)),
        _ => (column(iterations), column(iterations)),
    };
    send(format!(
        r#"{{"type":"counted","allocations":[{whole}],"bytes":[{bytes}],"peak_bytes":[{whole}],"other_allocations":[{whole}],"other_bytes":[{whole}]}}"#
    ));
}

fn send_samples(fault: Fault, specs: &str) {
    let counts = iteration_counts(specs);
    match fault {
        Fault::Garbage => send("@@@ this is no frame @@@"),
        Fault::NotUtf8 => send(b"{\"type\":\"samples\",\"\xff\xfe\":1}"),
        Fault::NotAnObject => send("[1,2,3]"),
        Fault::HalfAFrame => {
            print!(r#"{{"type":"samples","iterations":[1,"#);
            // The rest of the frame never comes. `exit` flushes what was printed.
            std::process::exit(0);
        }
        Fault::UnknownType => send(r#"{"type":"surprise"}"#),
        Fault::WrongFrame => send(r#"{"type":"listed","count":0}"#),
        Fault::MissingMember => send(r#"{"type":"samples","iterations":[1]}"#),
        Fault::LongError => send(format!(
            r#"{{"type":"error","id":"{}","message":"too long: {}"}}"#,
            fault.id(),
            "x".repeat(2_000_000)
        )),
        Fault::EndlessLine => send(vec![b'x'; 65 << 20]),
        Fault::ExtraFrame => {
            send(samples_frame(fault, &counts));
            send(samples_frame(fault, &counts));
        }
        _ => send(samples_frame(fault, &counts)),
    }
}

/// Parses the specs of a `sample` request: `M` is one sample of M iterations, and `M*K` is K such samples.
fn iteration_counts(specs: &str) -> Vec<u64> {
    specs
        .split(' ')
        .flat_map(|spec| {
            let (iterations, samples) = spec.split_once('*').unwrap_or((spec, "1"));
            vec![iterations.parse().unwrap_or(1); samples.parse().unwrap_or(1)]
        })
        .collect()
}

fn samples_frame(fault: Fault, counts: &[u64]) -> String {
    let asked = counts.iter().map(u64::to_string);
    let mut iterations: Vec<String> = match fault {
        Fault::OtherCounts => counts.iter().map(|count| (count + 1).to_string()).collect(),
        _ => asked.collect(),
    };
    let mut elapsed_ns: Vec<String> = match fault {
        Fault::ZeroTimes => vec!["0".to_owned(); counts.len()],
        _ => counts
            .iter()
            .map(|count| (count * 1_000).to_string())
            .collect(),
    };
    // Only the last time is wrong.
    if let Some(last) = elapsed_ns.last_mut() {
        match fault {
            Fault::NegativeTime => "-1000".clone_into(last),
            Fault::FractionalTime => "1000.5".clone_into(last),
            Fault::NotANumber => "NaN".clone_into(last),
            Fault::NullTime => "null".clone_into(last),
            Fault::TooLarge => "9223372036854775808".clone_into(last),
            _ => {}
        }
    }
    if fault == Fault::MismatchedLengths {
        iterations.push("1".to_owned());
    }
    format!(
        r#"{{"type":"samples","iterations":[{}],"elapsed_ns":[{}]}}"#,
        iterations.join(","),
        elapsed_ns.join(",")
    )
}
