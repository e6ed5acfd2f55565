//! Imitates the output of a libtest executable with known times: `one` takes 1,234.5 ns, or 30 % more with `SLOWER=1`.

use std::env;

const BENCHES: [&str; 6] = [
    "aborts",
    "ignored",
    "no_time",
    "panics",
    "sums::one",
    "sums::other",
];

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    assert!(has("--bench"), "cargo bench says so");
    if has("--list") {
        let ignored = |name: &&&str| !has("--ignored") || **name == "ignored";
        for name in BENCHES.iter().filter(ignored) {
            println!("{name}: benchmark");
        }
        if !has("--ignored") {
            println!("works: test");
        }
        return;
    }
    let wanted = |name: &str| !has("--exact") || has(name);
    println!("\nrunning {} tests", BENCHES.len() + 1);
    let mut failed = false;
    for name in BENCHES.iter().filter(|name| wanted(name)) {
        print!("test {name:<11} ... ");
        match *name {
            "aborts" => std::process::abort(),
            "ignored" => println!("ignored"),
            "no_time" => println!("bench:           0.00 ns/iter (+/- 0.00)"),
            "panics" => {
                println!("FAILED");
                failed = true;
            }
            name => println!("bench: {:>13} ns/iter (+/- 12.34) = 829 MB/s", ns(name)),
        }
    }
    if failed {
        println!("\nfailures:\n\n---- panics stdout ----\n");
        println!(
            "thread 'main' (7) panicked at benches/like_libtest.rs:8:37:\nno data\n\n\nfailures:\n    panics\n"
        );
        std::process::exit(101);
    }
    println!("\ntest result: ok. 0 passed; 0 failed; 0 ignored; 1 measured; 0 filtered out");
}

/// Returns a time as libtest prints it. Times differ between processes by less than a thousandth.
fn ns(name: &str) -> String {
    let process: u32 =
        env::var("PERFCHECK_PROCESS").map_or(0, |process| process.parse().unwrap_or(0));
    let jitter = f64::from(process * 5 % 7) / 10.0;
    let ns = match name {
        "sums::one" if env::var_os("SLOWER").is_some() => 1604.85,
        _ => 1234.5,
    };
    let text = format!("{:.2}", ns + jitter);
    let (thousands, rest) = text.split_at(1);
    format!("{thousands},{rest}")
}
