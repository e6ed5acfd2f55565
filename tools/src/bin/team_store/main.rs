//! Measures a large team's store: the time of commands, their round trips to the server, and the bytes per sample.
//!
//! ```text
//! cargo build --release --features postgres --bin cargo-perfcheck
//! cargo run --release -p perfcheck-tools --bin team_store -- [RUNS [BENCHMARKS [PROCESSES [SAMPLES [PUSHED]]]]]
//! ```
//!
//! Defaults: 1000 runs of 100 benchmarks with 5 processes of 20 samples, and a pushed run of 1000 benchmarks. Two real runs are measured and sent.
//! The server copies the older one, back to five years ago. All data is on a PostgreSQL server in a temporary directory, which is removed at the end:
//! 100,000 runs need 13 GB. `tools/team_store.sh` runs both lines.

#![allow(clippy::print_stdout)]

mod filling;
#[allow(dead_code, reason = "the tests use the rest")]
#[path = "../../../../tests/support/postgres.rs"]
mod postgres;
mod proxy;
mod subject;

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use perfcheck_store::Store;

use filling::{Copied, Scale};
use postgres::Server;
use proxy::Proxy;
use subject::Subject;

/// Any error.
type Failure = Box<dyn Error>;

const REPEATS: usize = 5;

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default: usize| arguments.next().map_or(Ok(default), |text| text.parse());
    let scale = Scale {
        runs: number(1_000)?,
        benchmarks: number(100)?,
        processes: number(5)?,
        samples: number(20)?,
    };
    let pushed = number(1_000)?;
    let server = Server::start().ok_or("PostgreSQL is not installed")?;
    let address = server.fresh_database();
    let directory = tempfile::tempdir()?;
    let subject = Subject::write(directory.path(), scale.benchmarks)?;
    println!(
        "{} runs x {} benchmarks x {} processes x {} samples",
        scale.runs, scale.benchmarks, scale.processes, scale.samples
    );
    // Copies get numbers between those of the two real runs.
    let local = directory.path().join("measured.db");
    subject.measure(&local, &scale)?;
    subject.push(&local, &address)?;
    let begun = Instant::now();
    let copied = Copied::of_first_run(&server, &address, &scale)?;
    println!("filled in {:.0} s", begun.elapsed().as_secs_f64());
    subject.measure(&local, &scale)?;
    subject.push(&local, &address)?;
    copied.sizes(&server, &local)?;
    reading(&subject, &server, &address, &copied)?;
    pushing(&subject, &server, &address, &scale, pushed)?;
    writers(&subject, &local, &server, &address)?;
    expiring(&subject, &server, &address)
}

/// Measures commands that read: their time and round trips.
fn reading(
    subject: &Subject,
    server: &Server,
    address: &str,
    copied: &Copied,
) -> Result<(), Failure> {
    let newest = copied.newest;
    let before = (newest - 1).to_string();
    let newest = newest.to_string();
    for words in [
        &["history", "bench/7"][..],
        &["history", "bench/7", "--last", "200"],
        &["history"],
        &["compare", &before, &newest],
        &["show", &newest],
        &["store", "runs"],
    ] {
        let proxy = Proxy::before(&server.data())?;
        subject.command(words, &proxy.address(address))?;
        let trips = proxy.round_trips();
        let mut times = Vec::new();
        for _ in 0..REPEATS {
            let begun = Instant::now();
            subject.command(words, address)?;
            times.push(begun.elapsed());
        }
        told(&words.join(" "), times, trips);
    }
    Ok(())
}

/// Measures sending a run: the round trips of the first run, whose benchmarks are new to the store, and the time of later runs.
fn pushing(
    subject: &Subject,
    server: &Server,
    address: &str,
    scale: &Scale,
    benchmarks: usize,
) -> Result<(), Failure> {
    let measured = subject.with_benchmarks("large", benchmarks)?;
    let path = measured.directory.join("large.db");
    measured.measure(&path, scale)?;
    let mut times = Vec::new();
    let mut trips = 0;
    for repeat in 0..=REPEATS {
        let file = measured.directory.join(format!("large-{repeat}.db"));
        filling::copy_into_file(&path, &file, repeat..repeat + 1)?;
        let proxy = Proxy::before(&server.data())?;
        let through = if repeat == 0 {
            proxy.address(address)
        } else {
            address.to_owned()
        };
        let begun = Instant::now();
        measured.push(&file, &through)?;
        match repeat {
            0 => trips = proxy.round_trips(),
            _ => times.push(begun.elapsed()),
        }
    }
    told(
        &format!("store push, {benchmarks} x {}", scale.processes),
        times,
        trips,
    );
    Ok(())
}

/// Measures how many runs per second one writer sends, and how many are sent by many writers at once. Two of the many writers have the same runs.
fn writers(
    subject: &Subject,
    measured: &Path,
    server: &Server,
    address: &str,
) -> Result<(), Failure> {
    const EACH: usize = 10;
    let database = address.rsplit('/').next().unwrap_or_default();
    let count = || -> Result<usize, Failure> {
        let counted = server.sql(database, "SELECT count(*) FROM perfcheck.runs");
        Ok(counted.ok_or("no count")?.parse()?)
    };
    for writers in [1, 16] {
        let files: Vec<_> = (0..writers)
            .map(|writer| measured.with_extension(format!("{writers}-{writer}.db")))
            .collect();
        for (writer, file) in files.iter().enumerate() {
            // The last writer has the same runs as the one before it.
            let first = EACH * (1_000 * writers + writer.min(14));
            filling::copy_into_file(measured, file, first..first + EACH)?;
        }
        let before = count()?;
        let begun = Instant::now();
        let sent = std::thread::scope(|scope| {
            let all: Vec<_> = (files.iter())
                .map(|file| {
                    scope.spawn(|| {
                        subject
                            .push(file, address)
                            .map_err(|error| error.to_string())
                    })
                })
                .collect();
            let ended = all
                .into_iter()
                .map(|one| one.join().map_err(|_| "a panic".to_owned())?);
            ended.collect::<Result<Vec<()>, String>>()
        });
        let took = begun.elapsed().as_secs_f64();
        sent?;
        let there = count()? - before;
        let distinct = EACH * writers.min(15);
        if there != distinct {
            return Err(format!("{there} runs of {distinct}").into());
        }
        println!(
            "{writers:>2} writers, {distinct} runs of {EACH} each: {:.1} runs a second, nothing twice",
            distinct as f64 / took
        );
    }
    Ok(())
}

/// Measures the time to remove samples older than four years, and shows what the history prints afterwards.
fn expiring(subject: &Subject, server: &Server, address: &str) -> Result<(), Failure> {
    let database = address.rsplit('/').next().unwrap_or_default();
    let partitions = || {
        let count = "SELECT count(*) || ' partitions, ' || pg_size_pretty(sum(pg_total_relation_size(inhrelid))) FROM pg_inherits
                     WHERE inhparent = 'perfcheck.series'::regclass";
        server.sql(database, count).unwrap_or_default()
    };
    println!("samples before: {}", partitions());
    let prune = ["store", "prune", "--samples", "--older-than", "1460d"];
    let begun = Instant::now();
    subject.command(&prune, address)?;
    println!(
        "shown what would go in {:.1} s",
        begun.elapsed().as_secs_f64()
    );
    let begun = Instant::now();
    subject.command(&[&prune[..], &["--yes"]].concat(), address)?;
    println!(
        "removed in {:.1} s; left: {}",
        begun.elapsed().as_secs_f64(),
        partitions()
    );
    subject.command(&["history", "bench/7"], address)
}

fn told(what: &str, mut times: Vec<Duration>, trips: usize) {
    times.sort_unstable();
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{what:<32} median {:>8.1} ms, from {:.1} to {:.1}; {trips} round trips",
        milliseconds(times[times.len() / 2]),
        milliseconds(times[0]),
        milliseconds(times[times.len() - 1]),
    );
}

/// Opens the store at a path or an address.
fn store(place: &str) -> Result<Store, Failure> {
    Ok(Store::open_existing(Path::new(place))?.ok_or("no store")?)
}
