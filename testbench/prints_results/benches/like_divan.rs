//! Imitates the output of a divan executable with known times: `sums::with_args` takes 1.5 µs, or 30 % more with `SLOWER=1`.

use std::env;

const HEADS: &str = "like_divan      fastest       │ slowest       │ median        │ mean          │ samples │ iters";
const NAMES: [&str; 5] = [
    "like_divan::panics",
    "like_divan::plain",
    "like_divan::sums::with_args::10",
    "like_divan::sums::with_args::a/b",
    "like_divan::threaded",
];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let after = |flag: &str| {
        let position = arguments.iter().position(|argument| argument == flag);
        position.map(|position| arguments[position + 1].clone())
    };
    assert!(has("--bench"), "cargo bench says so");
    if has("--list") && after("--format").is_some() {
        assert_eq!(
            env::var("NEXTEST").as_deref(),
            Ok("1"),
            "divan knows --format so alone"
        );
        for name in NAMES {
            println!("{name}: benchmark");
        }
    } else if has("--list") {
        println!(
            "like_divan\n├─ ignored      (ignored)\n├─ panics\n├─ plain\n├─ threaded\n╰─ sums\n   ╰─ with_args\n"
        );
    } else if has("--test") {
        once(&|name| !NAMES.iter().any(|other| has(other)) || has(name));
    } else if let Some(name) = after("--exact") {
        measured(&name, after("--threads").as_deref());
    } else {
        eprintln!("Timer precision: 20 ns");
        println!("{HEADS}\n├─ panics       ");
    }
}

/// Prints the output of a run in which each wanted benchmark runs once.
fn once(wanted: &dyn Fn(&str) -> bool) {
    println!("like_divan\n├─ ignored      (ignored)");
    if wanted(NAMES[0]) {
        print!("├─ panics");
        panic!("no data");
    }
    println!("├─ planning to print\nplanned\n├─ plain");
    println!(
        "├─ threaded\n│  ├─ t=1\n│  ╰─ t=4\n╰─ sums\n   ╰─ with_args\n      ├─ 10\n      ╰─ a/b\n"
    );
}

fn measured(name: &str, threads: Option<&str>) {
    let slower = env::var_os("SLOWER").is_some();
    let median = match (name, threads) {
        ("like_divan::panics", _) => panic!("no data"),
        ("like_divan::threaded", Some("4")) => "2.5 ms",
        ("like_divan::threaded", Some("1")) => "1.25 ms",
        (name, None) if name.contains("with_args") && slower => "1.95 µs",
        (name, None) if name.contains("with_args") => "1.5 µs",
        ("like_divan::plain", None) => "12.34 ns",
        other => panic!("{other:?} was not listed"),
    };
    let leaf = name.rsplit("::").next().unwrap_or_default();
    eprintln!("Timer precision: 20 ns");
    println!("{HEADS}");
    println!(
        "╰─ {leaf:<12} 1 ns          │ 9.999 s       │ {median:<13} │ 3 ns          │ 100     │ 51200"
    );
    println!(
        "                4.874 MB/s    │ 1.29 GB/s     │ 6.29 GB/s     │ 3.093 GB/s    │         │"
    );
    println!(
        "                max alloc:    │               │               │               │         │\n"
    );
}
