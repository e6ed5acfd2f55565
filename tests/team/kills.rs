//! Senders and servers that are killed at random moments: no run is lost from the local store, no run is in the team's store twice, and the next
//! `store push` sends the rest.
//!
//! `PERFCHECK_KILLS=1000,50,1` sets the numbers of killed senders and servers, and the seed of the moments; `tools/team_store.sh kills` uses it.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::{measured, push, sent};
use crate::support::postgres::Server;
use crate::support::{Machine, skipped};

/// Finds each run with a digest of its data. Run numbers are not part of the result, because they depend on the store.
const RUNS: &str = "SELECT r.started || ' ' || r.seed || ' ' || coalesce(r.role, '') || ' ' || count(*) || ' '
         || md5(string_agg(md5(s.samples), '' ORDER BY b.name, l.ordinal, l.attempt)) || ' ' || md5(string_agg(DISTINCT rb.verdict || b.name, ''))
     FROM perfcheck.runs r JOIN perfcheck.run_benchmarks rb ON rb.run = r.id JOIN perfcheck.benchmarks b ON b.id = rb.benchmark
     JOIN perfcheck.processes l ON l.run = r.id LEFT JOIN perfcheck.series s ON s.run_benchmark = rb.id AND s.process = l.id
     GROUP BY r.id ORDER BY 1";
const EMPTY: &str =
    "TRUNCATE perfcheck.runs, perfcheck.benchmarks, perfcheck.series, perfcheck.points CASCADE";

/// Returns the numbers of killed senders and servers, and the seed.
fn numbers() -> [u64; 3] {
    let given = std::env::var("PERFCHECK_KILLS").unwrap_or_default();
    let mut given = given.split(',').map(str::parse);
    [25, 3, 1].map(|usual| given.next().and_then(Result::ok).unwrap_or(usual))
}

/// Random moments from Knuth's MMIX generator.
struct Moments(u64);

impl Moments {
    /// Returns a random duration of at most `longest`.
    fn within(&mut self, longest: Duration) -> Duration {
        let step = 6_364_136_223_846_793_005_u64;
        self.0 = self
            .0
            .wrapping_mul(step)
            .wrapping_add(1_442_695_040_888_963_407);
        longest.mul_f64((self.0 >> 11) as f64 / (1_u64 << 53) as f64)
    }
}

#[test]
fn a_sender_or_a_server_that_is_killed_loses_nothing_and_doubles_nothing() {
    let Some(server) = Server::start() else {
        return skipped("PostgreSQL is not installed");
    };
    let [senders, servers, seed] = numbers();
    let mut moments = Moments(seed);
    let address = server.fresh_database();
    let database = address.rsplit('/').next().expect("a name");
    let machine = Machine::new();
    let listed = measured(&machine, 12);
    let there = || -> Vec<String> {
        let told = server.sql(database, RUNS).expect("tells");
        told.lines().map(str::to_owned).collect()
    };
    let begun = Instant::now();
    push(&listed, &machine, &address).run().expect_code(0);
    let longest = begun.elapsed().mul_f64(1.2);
    let all = there();
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), 12, "{all:#?}");
    let is_sound = |found: &[String]| {
        assert!(found.iter().all(|run| all.contains(run)), "{found:#?}");
        let distinct: BTreeSet<_> = found.iter().collect();
        assert_eq!(distinct.len(), found.len(), "{found:#?}");
    };
    server.sql(database, EMPTY).expect("emptied");
    let (begun, mut midway, mut told) = (Instant::now(), 0, 0);
    for kill in 0..senders + servers {
        let sender = push(&listed, &machine, &address).start();
        std::thread::sleep(moments.within(longest));
        if kill < senders {
            sender.signal(rustix::process::Signal::KILL);
            sender.finish();
        } else {
            server.kill();
            let finished = sender.finish();
            server.run();
            if finished.code() != 0 {
                finished
                    .expect_code(5)
                    .expect_stderr(&["cannot be reached", "still in this machine's store"]);
                told += 1;
            }
        }
        let found = there();
        is_sound(&found);
        midway += usize::from((1..all.len()).contains(&found.len()));
        if found.len() == all.len() || kill + 1 == senders {
            push(&listed, &machine, &address).run().expect_code(0);
            assert_eq!(there(), all, "after kill {kill}");
            server.sql(database, EMPTY).expect("emptied");
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    push(&listed, &machine, &address).run().expect_code(0);
    let nothing_left = push(&listed, &machine, &address).run().expect_code(0);
    assert_eq!(sent(&nothing_left), (0, 12));
    assert_eq!(there(), all);
    println!(
        "{senders} senders and {servers} servers killed in {seconds:.0} s, seed {seed}: {midway} with some of 12 runs sent, {told} errors told; nothing lost, nothing twice"
    );
}

#[test]
fn a_server_that_does_not_answer_is_given_up() {
    let Some(server) = Server::start() else {
        return skipped("PostgreSQL is not installed");
    };
    let address = server.fresh_database();
    let machine = Machine::new();
    let listed = measured(&machine, 1);
    server.pause();
    let address = format!("{address}?connect_timeout=1");
    let finished = push(&listed, &machine, &address).run();
    finished
        .expect_code(5)
        .expect_stderr(&["no answer within 1 s", "still in this machine's store"]);
    let history = ["history", "--store", &address];
    let finished = listed.perfcheck(&machine, &history).run();
    finished
        .expect_code(5)
        .expect_stderr(&["no answer within 1 s"]);
    server.resume();
    assert_eq!(
        sent(&push(&listed, &machine, &address).run().expect_code(0)),
        (1, 0)
    );
}
