//! A bench executable for the tests of the harness: one benchmark for each situation.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::zombie_processes,
    reason = "benches that print and leave programs behind are among the situations"
)]

use perfcheck::{AsyncExecutor, BatchSize, SamplingMode, Suite, Throughput, matrix};
use std::io::{Read, Write};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// An executor for futures that are never pending for long.
struct Spin;

impl AsyncExecutor for Spin {
    fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let mut context = Context::from_waker(Waker::noop());
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
        }
    }
}

fn plain(suite: &mut Suite) {
    let borrowed = [1_u64, 2, 3];
    suite.bench("sum", |b| b.iter(|| borrowed.iter().sum::<u64>()));
    suite.bench("söme \"quotes\"\n\\ and 😀", |b| b.iter(|| ()));
    let mut group = suite.group("configured");
    group
        .processes(3)
        .samples(4)
        .warm_up_time(Duration::from_millis(2))
        .measurement_time(Duration::from_millis(5))
        .sampling_mode(SamplingMode::Linear)
        .noise_threshold(0.03)
        .version("2")
        .throughput(Throughput::bytes(8000).and_elements(1000));
    group.bench("all", |b| b.iter(|| ()));
    group.bench_inputs("size", [10_u64, 100], |b, size| {
        b.throughput(Throughput::bytes(size)).iter(|| size * 2);
    });
    suite.bench_inputs("copy", matrix([1, 2], ["a", "b"]), |b, (count, text)| {
        b.iter_batched(|| text, |text| text.repeat(count), BatchSize::SmallInput);
    });
    suite.bench("future", |b| b.to_async(Spin).iter(async || 1 + 1));
}

/// Returns times instead of measuring them: an iteration takes a microsecond.
fn custom(suite: &mut Suite) {
    suite.bench("custom", |b| b.iter_custom(Duration::from_micros));
}

/// Latency benchmarks, which time each operation separately.
fn operations(suite: &mut Suite) {
    suite.bench("latency/sleep", |b| {
        b.iter_latency(|| std::thread::sleep(Duration::from_micros(200)));
    });
    suite.bench("latency/every-third-fails", |b| {
        let mut calls = 0_u32;
        b.try_iter_latency(move || {
            calls += 1;
            if calls % 3 == 0 {
                Err(format!("call {calls} \"failed\""))
            } else {
                Ok(calls)
            }
        });
    });
    suite.bench("latency/always-fails", |b| {
        b.try_iter_latency(|| Err::<(), _>("no server"));
    });
    suite.bench("latency/future", |b| {
        b.to_async(Spin)
            .try_iter_latency(async || Ok::<_, String>(vec![0_u8; 10]));
    });
}

fn unruly(suite: &mut Suite) {
    suite.bench("panics/in-set-up", |_| panic!("no data\nhere"));
    suite.bench("panics/in-body", |b| {
        b.iter(|| std::hint::black_box(None::<u32>).expect("a number"));
    });
    suite.bench("panics/elsewhere", |b| {
        b.iter(|| {
            std::thread::spawn(|| panic!("on another thread"))
                .join()
                .is_err()
        });
    });
    suite.bench("skips", |b| b.skip("no such device"));
    suite.bench("measures-nothing", |_| ());
    suite.bench("measures-twice", |b| {
        b.iter(|| ());
        b.iter(|| ());
    });
    suite.bench("prints", |b| {
        println!("{{\"type\":\"bye\"}}");
        b.iter(|| {
            print!("partial");
            let _ = std::io::stdout().flush();
        });
    });
    suite.bench("reads-stdin", |b| {
        let mut text = String::new();
        std::io::stdin()
            .read_to_string(&mut text)
            .expect("stdin can be read");
        assert_eq!(text, "");
        b.iter(|| ());
    });
    suite.bench("exits", |b| b.iter(|| std::process::exit(7)));
    suite.bench("sleeps", |b| {
        b.iter(|| std::thread::sleep(Duration::from_secs(600)));
    });
    suite.bench("leaves-a-program-behind", |b| {
        let program = std::process::Command::new("sleep")
            .arg("600")
            .spawn()
            .expect("sleep runs");
        eprintln!("{}", program.id());
        b.iter(|| ());
    });
    suite.bench("sees-environment", |b| {
        assert!(std::env::var_os("PERFCHECK_PROTOCOL").is_none());
        b.iter(|| ());
    });
}

/// Prints to stderr, so that a test can tell which code has run.
fn loud(suite: &mut Suite) {
    suite.bench("loud/one", |b| {
        eprintln!("set-up of one");
        b.iter(|| eprintln!("body of one"));
    });
    suite.bench("loud/two", |b| {
        eprintln!("set-up of two");
        b.iter_batched(
            || eprintln!("input of two"),
            |()| eprintln!("body of two"),
            BatchSize::PerIteration,
        );
    });
}

/// Declares two benchmarks with the same id, or one that says where a block of the heap lies within its page, but only if a test asks for them.
fn duplicates(suite: &mut Suite) {
    if std::env::var_os("SUBJECT_DUPLICATES").is_some() {
        suite.bench("twin", |b| b.iter(|| ()));
        suite.bench("twin", |b| b.iter(|| ()));
    }
    if std::env::var_os("SUBJECT_HEAP").is_some() {
        suite.bench("heap", |b| {
            let block = Vec::<u8>::with_capacity(1500);
            b.skip(format!("{}", block.as_ptr().addr() % 4096));
        });
    }
    assert!(
        std::env::var_os("SUBJECT_PANICS").is_none(),
        "outside of any benchmark"
    );
}

perfcheck::main!(plain, custom, operations, unruly, loud, duplicates);
