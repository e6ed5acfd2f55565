//! `show RUN ID --report svg[=FILE]` draws pictures.

use std::fs;

use crate::commands::crates::Crate;
use crate::commands::latencies::operations;
use crate::commands::scripted::{CLOCK, QUICK, steady, stored};
use crate::support::Machine;

/// Returns the picture of a benchmark of the latest run.
#[track_caller]
fn picture(machine: &Machine, bench: &str) -> String {
    let words = ["show", "latest", bench, "--report", "svg"];
    stored(machine, &words).run().expect_code(0).stdout
}

fn svg_in(file: &std::path::Path) -> String {
    format!("svg={}", file.display())
}

#[test]
fn c17_s13_a_picture_has_density_slope_and_a_violin_for_each_process() {
    let machine = Machine::new();
    let run = steady(&machine, &[("text", 120.0)]);
    run.args(["--samples", "12"]).run().expect_code(0);
    let file = machine.home().join("text.svg");
    let show = stored(&machine, &["show", "latest", "text"]);
    let drawn = show.args(["--report", &svg_in(&file)]).run().expect_code(0);
    assert_eq!(drawn.stdout, "");
    let picture = fs::read_to_string(&file).expect("drawn");
    assert_eq!(picture, self::picture(&machine, "text"));
    for part in [
        "Density of the samples",
        "Iterations and time",
        "Process by process",
        "median 120.",
        "slope 1",
        "role=\"img\"",
        "<title id=\"run-1-title\">steady/steady text, run 1</title>",
        "A violin for each process; medians: 120.",
        "prefers-color-scheme:dark",
        "viewBox=\"0 0 600 ",
    ] {
        assert!(picture.contains(part), "no {part:?} in {picture}");
    }
    // There is a curve for all samples, and one for each of the three processes.
    assert_eq!(picture.matches("<path class=\"area\"").count(), 4);
    assert_eq!(picture.matches("<path class=\"samples\"").count(), 3);
    // Three linear phases have ten samples each.
    assert_eq!(picture.matches("<circle").count(), 30);
    assert!(
        !picture.contains("NaN") && !picture.contains("inf"),
        "{picture}"
    );
    for foreign in ["<script", "href", "url(", "@import"] {
        assert!(!picture.contains(foreign), "{foreign}");
    }
}

#[test]
fn c17_flat_samples_alone_have_no_slope_and_constant_ones_no_curve() {
    let machine = Machine::new();
    let run = steady(&machine, &[]).args(["--sampling-mode", "flat", "--samples", "2"]);
    run.env(CLOCK, "arithmetic=100;memory=100;text=100")
        .run()
        .expect_code(0);
    let picture = picture(&machine, "text");
    assert!(!picture.contains("Iterations and time"), "{picture}");
    assert!(picture.contains("Process by process"), "{picture}");
    assert!(!picture.contains("NaN"), "{picture}");
}

#[test]
fn c17_names_from_anywhere_are_escaped() {
    let machine = Machine::new();
    let made = Crate::of(&machine, &["</title><script>alert('&')</script>"], "");
    let run = made.perfcheck(&machine, &QUICK);
    run.run().expect_code(0);
    let drawn = made
        .perfcheck(&machine, &["show", "latest", "--report", "svg"])
        .run()
        .expect_code(0);
    assert!(!drawn.stdout.contains("<script"), "{drawn}");
    assert!(drawn.stdout.contains("&lt;script&gt;"), "{drawn}");
    assert_eq!(drawn.stdout.matches("</title>").count(), 1);
}

#[test]
fn what_cannot_be_drawn_is_said_with_what_to_do() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    stored(&machine, &["show", "latest", "--report", "svg"])
        .run()
        .expect_code(2)
        .expect_stderr(&[
            "a picture shows one benchmark",
            "show 1 arithmetic --report svg",
        ]);
    stored(&machine, &["show", "latest", "txet", "--report", "svg"])
        .run()
        .expect_code(2)
        .expect_stderr(&["no benchmark `txet`", "did you mean", "steady/steady: text"]);
    let nowhere = machine.home().join("missing/directory.svg");
    stored(&machine, &["show", "latest", "text"])
        .args(["--report", &svg_in(&nowhere)])
        .run()
        .expect_code(5)
        .expect_stderr(&["missing/directory.svg"]);
    let failed = machine.perfcheck().testbench("").args(QUICK);
    failed
        .args(["-p", "panics", "--bench", "panics", "in_body"])
        .run()
        .expect_code(4);
    stored(&machine, &["show", "latest", "in_body", "--report", "svg"])
        .run()
        .expect_code(2)
        .expect_stderr(&["has no samples of `in_body`"]);
}

#[test]
fn one_benchmark_of_a_run_can_be_shown_by_itself() {
    let machine = Machine::new();
    steady(&machine, &[]).run().expect_code(0);
    for more in [&[][..], &["--stats"]] {
        let words = [&["show", "1", "mem"][..], more].concat();
        let shown = stored(&machine, &words).run().expect_code(0);
        assert!(shown.stdout.contains("memory"), "{shown}");
        assert!(!shown.stdout.contains("arithmetic"), "{shown}");
    }
}

#[test]
fn b9_the_picture_of_a_latency_bench_has_the_steps_of_its_reservoir() {
    let machine = Machine::new();
    let run = machine
        .perfcheck()
        .testbench("")
        .args(["-p", "times_operations", "--resamples", "1000"])
        .args(["--rounds", "1", "--exact", "steady"])
        .args(["--warm-up-time", "1ms", "--measurement-time", "5ms"])
        .env(CLOCK, "steady=10000~10100");
    run.run().expect_code(0);
    let times = &operations(&machine, |_| 10_000.0, 10_100.0)[0];
    let count = times.len() as f64;
    let p99 = times[(0.99 * count).ceil() as usize - 1] as f64 / 1000.0;
    let picture = picture(&machine, "steady");
    assert!(!picture.contains("inf"), "{picture}");
    for said in [
        "Single operations".to_owned(),
        format!("p50 10.03 µs, p99 {p99:.2} µs"),
    ] {
        assert!(picture.contains(&said), "no {said:?} in {picture}");
    }
    let line = picture
        .lines()
        .find_map(|line| line.strip_prefix("<path class=\"curve\" d=\"M"))
        .and_then(|line| line.strip_suffix("\"/>"))
        .expect("a curve");
    let mut heights: Vec<f64> = line
        .split('L')
        .filter_map(|point| point.split_once(' ')?.1.parse().ok())
        .collect();
    heights.dedup();
    let (ground, top) = (heights[0], heights[heights.len() - 1]);
    let mut expected: Vec<f64> = times
        .chunk_by(|a, b| a == b)
        .scan(0.0, |sum, same| {
            *sum += same.len() as f64 / count;
            Some(*sum)
        })
        .collect();
    expected.insert(0, 0.0);
    assert!(expected.len() > 10, "{expected:?}");
    assert_eq!(heights.len(), expected.len(), "{heights:?}");
    for (height, share) in heights.iter().zip(expected) {
        let found = (ground - height) / (ground - top);
        assert!((found - share).abs() < 0.001, "{found} is not {share}");
    }
}
