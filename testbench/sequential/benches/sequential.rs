//! A child with the capability `sequential`, written by hand as docs/internals/src/protocol.md describes. It has three benchmarks in program order.
//!
//! It does everything that a harness in any language has to do, except for protecting the standard descriptors.

use std::hint::black_box;
use std::io::{BufRead, Lines, StdinLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

struct Benchmark {
    /// Only plain letters, which need no escaping in JSON.
    id: &'static str,
    announcement: &'static str,
    body: fn() -> u64,
}

const BENCHMARKS: [Benchmark; 3] = [
    Benchmark {
        id: "first",
        announcement: r#""version":null,"throughput":{"bytes":null,"elements":null},"settings":{}"#,
        body: || (0..black_box(100)).fold(7, |state, n| black_box(state ^ n)),
    },
    Benchmark {
        id: "second",
        announcement: r#""version":"2","throughput":{"bytes":8000,"elements":1000},"settings":{"noise_threshold":0.05}"#,
        body: || (0..black_box(1_000)).fold(7, |state, n| black_box(state ^ n)),
    },
    Benchmark {
        id: "third",
        announcement: r#""version":null,"throughput":{"bytes":null,"elements":null},"settings":{"samples":20}"#,
        body: || (0..black_box(10_000)).fold(7, |state, n| black_box(state ^ n)),
    },
];

enum State {
    Idle,
    Announced(usize),
    Started(usize),
    Done(usize),
}

/// Whether a benchmark has run.
static RAN: AtomicBool = AtomicBool::new(false);

fn main() {
    if std::env::var_os("PERFCHECK_PROTOCOL").is_none() {
        eprintln!("sequential has something to say to `cargo perfcheck` only");
        return;
    }
    send("");
    send(
        r#"{"type":"hello","protocol":1,"harness":"by hand","version":"0.0.0","capabilities":["sequential"],"quantum_ns":100}"#,
    );
    serve(std::io::stdin().lock().lines());
}

fn serve(requests: Lines<StdinLock>) {
    let mut state = State::Idle;
    for request in requests.map_while(Result::ok) {
        let words: Vec<&str> = request.split(' ').collect();
        state = match (state, words.as_slice()) {
            (State::Idle, ["begin"]) => announce(0),
            (State::Announced(index), ["run"]) => {
                RAN.store(true, Ordering::Relaxed);
                send(&format!(
                    r#"{{"type":"started","id":"{}","throughput":{{"bytes":null,"elements":null}}}}"#,
                    BENCHMARKS[index].id
                ));
                State::Started(index)
            }
            (State::Announced(index), ["skip"]) | (State::Done(index), ["next"]) => {
                announce(index + 1)
            }
            (State::Started(index), ["warm-up", nanos]) => {
                warm_up(index, nanos.parse().expect("warm-up takes nanoseconds"));
                State::Started(index)
            }
            (State::Started(index), ["sample", specs @ ..]) => {
                sample(index, specs);
                State::Started(index)
            }
            (State::Started(index), ["finish"]) => {
                send(&format!(
                    r#"{{"type":"finished","id":"{}"}}"#,
                    BENCHMARKS[index].id
                ));
                State::Done(index)
            }
            (State::Idle | State::Announced(_) | State::Done(_), ["bye"]) => {
                send(r#"{"type":"bye"}"#);
                return;
            }
            (state, _) => {
                send(r#"{"type":"error","id":null,"message":"this request is not valid now"}"#);
                state
            }
        };
    }
}

fn announce(index: usize) -> State {
    let Some(benchmark) = BENCHMARKS.get(index) else {
        assert!(
            !RAN.load(Ordering::Relaxed)
                || std::env::var_os("SEQUENTIAL_FAILS_AT_ITS_END").is_none(),
            "what comes after the last benchmark failed"
        );
        send(r#"{"type":"end"}"#);
        return State::Done(index);
    };
    let Benchmark {
        id, announcement, ..
    } = benchmark;
    send(&format!(
        r#"{{"type":"benchmark","id":"{id}",{announcement}}}"#
    ));
    State::Announced(index)
}

fn warm_up(index: usize, until_ns: u64) {
    let (mut iterations, mut elapsed_ns, mut round) = (0, 0, 1);
    while elapsed_ns <= until_ns {
        elapsed_ns += time(index, round);
        iterations += round;
        round *= 2;
    }
    send(&format!(
        r#"{{"type":"warmed-up","iterations":{iterations},"elapsed_ns":{elapsed_ns}}}"#
    ));
}

/// Takes the samples of a request: one sample of M iterations for `M`, and K such samples for `M*K`.
fn sample(index: usize, specs: &[&str]) {
    let (mut counts, mut times) = (Vec::new(), Vec::new());
    for spec in specs {
        let (iterations, samples) = spec.split_once('*').unwrap_or((spec, "1"));
        let iterations: u64 = iterations
            .parse()
            .expect("a spec starts with its iterations");
        for _ in 0..samples.parse().expect("a spec ends with its samples") {
            counts.push(iterations.to_string());
            times.push(time(index, iterations).to_string());
        }
    }
    send(&format!(
        r#"{{"type":"samples","iterations":[{}],"elapsed_ns":[{}]}}"#,
        counts.join(","),
        times.join(",")
    ));
}

fn time(index: usize, iterations: u64) -> u64 {
    let body = BENCHMARKS[index].body;
    let start = Instant::now();
    for _ in 0..iterations {
        black_box(body());
    }
    u64::try_from(start.elapsed().as_nanos()).expect("a sample takes less than 584 years")
}

/// Sends a frame as one line. It must leave the process before the next request is read.
fn send(frame: &str) {
    let mut stdout = std::io::stdout().lock();
    if writeln!(stdout, "{frame}")
        .and_then(|()| stdout.flush())
        .is_err()
    {
        std::process::exit(0);
    }
}
