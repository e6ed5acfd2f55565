//! Tests of allocation counts, which are requested through the protocol.

mod support;

use std::process::Command;

use support::{Conversation, command_of, counting_subject, numbers};

fn counting() -> Command {
    command_of(counting_subject())
}

const NAMES: [&str; 5] = [
    "allocations",
    "bytes",
    "peak_bytes",
    "other_allocations",
    "other_bytes",
];

/// Starts a benchmark and takes two samples.
fn started(id: &str) -> Conversation {
    let mut child = Conversation::start_with(&mut counting());
    let started = child.ask(&format!("start {id}"));
    assert!(started.starts_with(r#"{"type":"started","#), "{started}");
    child.ask("sample 1 2");
    child
}

/// Returns the counts of an iteration, after checking that five iterations have equal counts.
fn counts(id: &str) -> [u64; 5] {
    let mut child = started(id);
    // Count one iteration at a time: on a busy machine, few iterations fit into the 10 ms of a request.
    let first = child.ask("count 1");
    for _ in 0..4 {
        assert_eq!(child.ask("count 1"), first, "{id}");
    }
    NAMES.map(|name| numbers(&first, name)[0])
}

#[test]
fn an_executable_whose_allocator_counts_says_so() {
    let mut child = Conversation::open(counting().env("PERFCHECK_PROTOCOL", "1").arg("--bench"));
    assert_eq!(child.frame(), "");
    let hello = child.frame();
    let capabilities = r#""capabilities":["addressable","slowdown","allocations"]"#;
    assert!(hello.contains(capabilities), "{hello}");
}

#[test]
fn n28_an_empty_body_allocates_nothing_however_it_is_called() {
    for id in ["empty", "empty/batched", "empty/latency"] {
        assert_eq!(counts(id), [0; 5], "{id}");
    }
}

/// The input of 1 MiB is made before the window. The input and the output are dropped after it.
#[test]
fn n5_what_is_torn_down_is_not_counted_beside_the_body() {
    assert_eq!(counts("64 KiB beside 1 MiB"), [1, 65_536, 65_536, 0, 0]);
}

#[test]
fn n27_a_body_that_frees_more_than_it_allocates_has_no_negative_count() {
    assert_eq!(counts("frees more"), [1, 10, 0, 0, 0]);
}

#[test]
fn n27_other_threads_are_counted_apart_where_the_iteration_stays_on_its_own() {
    assert_eq!(counts("helped"), [1, 40, 40, 1, 3000]);
}

#[test]
fn n27_an_iteration_that_ends_on_another_thread_counts_the_whole_process() {
    let frame = started("wanders").ask("count 1");
    let [allocations, bytes, peak_bytes, others, other_bytes] =
        NAMES.map(|name| numbers(&frame, name)[0]);
    // Meanwhile the executor starts a thread, which allocates an unknown amount.
    assert!(allocations > 2 && bytes > 2100 && peak_bytes >= 2100);
    assert_eq!((others, other_bytes), (0, 0));
    assert_eq!(counts("stays")[..2], [1, 100]);
}

#[test]
fn what_a_thread_allocates_while_it_ends_is_counted_too() {
    let frame = started("ends late").ask("count 1");
    assert!(numbers(&frame, "other_bytes")[0] >= 700, "{frame}");
}

#[test]
fn the_peak_is_what_was_alive_at_once() {
    assert_eq!(counts("two at once, one more"), [3, 2700, 1500, 0, 0]);
}

#[test]
fn a_reallocation_counts_once_with_the_bytes_by_which_it_grows() {
    // First 100 bytes, then 200 more, then fewer.
    assert_eq!(counts("grows and shrinks"), [3, 300, 300, 0, 0]);
    assert_eq!(counts("zeroed"), [1, 4096, 4096, 0, 0]);
}

/// The executable's own allocator, to which the counting allocator passes all calls, refuses this allocation.
#[test]
fn an_allocation_that_fails_is_none() {
    assert_eq!(counts("refused"), [0; 5]);
}

#[test]
fn every_way_to_iterate_is_counted() {
    assert_eq!(counts("custom"), [1, 7, 7, 0, 0]);
    assert_eq!(counts("operations"), [1, 30, 30, 0, 0]);
}

#[test]
fn counting_ends_early_where_iterations_are_long_and_runs_one_at_least() {
    let frame = started("slow").ask("count 100");
    assert_eq!(numbers(&frame, "allocations"), [1]);
}

#[test]
fn a_frame_of_counts_has_an_entry_an_iteration_and_no_more_than_wanted() {
    let frame = started("custom").ask("count 3");
    assert!(frame.starts_with(r#"{"type":"counted","#), "{frame}");
    let iterations = numbers(&frame, "bytes").len();
    assert!((1..=3).contains(&iterations), "{frame}");
    for name in NAMES {
        assert_eq!(numbers(&frame, name).len(), iterations, "{frame}");
    }
}

#[test]
fn a_panic_while_counting_is_the_benchmarks_failure_and_the_next_one_is_counted() {
    let mut child = Conversation::start_with(&mut counting());
    child.ask("start panics while it counts");
    let error = child.ask("count 3");
    assert!(error.ends_with(r#": a number"}"#), "{error}");
    child.ask("start zeroed");
    let frame = child.ask("count 1");
    assert_eq!(numbers(&frame, "allocations"), [1]);
}

#[test]
fn requests_to_count_have_limits() {
    let mut child = Conversation::start_with(&mut counting());
    let idle = child.ask("count 1");
    assert!(idle.contains("no benchmark is started"), "{idle}");
    child.ask("start zeroed");
    for request in ["count", "count 0", "count 10001", "count x"] {
        let error = child.ask(request);
        assert!(
            error.starts_with(r#"{"type":"error","id":null,"#),
            "{error}"
        );
    }
    let mut plain = Conversation::start();
    plain.ask("start sum");
    let error = plain.ask("count 1");
    assert!(error.contains("does not count"), "{error}");
}

#[test]
fn cargo_bench_says_what_an_iteration_allocates() {
    let arguments = ["--bench", "-q", "--exact", "custom", "empty/latency"];
    let output = counting().args(arguments).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let mut rows = stdout.lines();
    let row = rows.next().unwrap();
    assert!(row.starts_with("empty/latency"), "{row}");
    assert!(row.contains("; no allocations"), "{row}");
    let row = rows.next().unwrap();
    assert!(row.ends_with("  1 allocation, 7 B"), "{row}");
}
