"""Situations that come from what benches do, in their own process and around it."""

from subject import CRITERION
from table import situation

WORK = "b.iter(|| subject::work(9))"


@situation("rust-lang/rust#46016", "the bench ignores SIGTERM and SIGINT, and gives SIGPIPE its default back", "measured")
def signals_ignored(s):
    s.crate()
    s.bench(f'extern "C" {{ fn signal(n: i32, f: usize) -> usize; }} for (n, f) in [(2, 1), (15, 1), (13, 0)] {{ unsafe {{ signal(n, f); }} }} suite.bench("work", |b| {WORK});')
    s.new()


@situation("async-profiler/async-profiler#663", "the bench has an interval timer, as profilers set it: SIGPROF 1,000 times a second", "measured: interrupted system calls are repeated")
def interval_timer(s):
    s.crate()
    s.bench(f'extern "C" {{ fn signal(n: i32, f: usize) -> usize; fn setitimer(w: i32, n: *const [i64; 4], o: *mut [i64; 4]) -> i32; }}\n'
            'extern "C" fn nothing(_: i32) {}\n'
            f'unsafe {{ signal(14, nothing as *const () as usize); setitimer(0, &[0, 1000, 0, 1000], std::ptr::null_mut()); }} suite.bench("work", |b| {WORK});')
    s.new()


@situation("nushell/nushell#12812", "the bench changes its current directory", "measured")
def other_directory(s):
    s.crate()
    s.bench(f'std::env::set_current_dir("/").unwrap(); suite.bench("work", |b| {WORK});')
    s.new()


@situation("darkwyrm/base85#3", "the benchmark overflows its stack", "failed with the signal; exit 4; others are measured")
def stack_overflow(s):
    s.crate()
    s.bench(f'#[allow(unconditional_recursion)] fn deep(n: u64) -> u64 {{ std::hint::black_box(deep(n + 1)) + std::hint::black_box(1) }} suite.bench("deep", |b| b.iter(|| deep(1))); suite.bench("work", |b| {WORK});')
    s.measure().expect(4, "deep", "signal 6|SIGABRT|overflow", "work")


@situation("nextest-rs/nextest#889", "code runs after `main` (`atexit`): it prints, and takes its time", "measured; exit 0")
def slow_exit(s):
    s.crate()
    s.bench(f'extern "C" {{ fn atexit(f: extern "C" fn()) -> i32; }} extern "C" fn late() {{ println!("Finishing..."); std::thread::sleep(std::time::Duration::from_millis(700)); }} unsafe {{ atexit(late); }} suite.bench("work", |b| {WORK});')
    s.new()


@situation("rust-lang/cargo#9375", "the bench writes into `CARGO_TARGET_TMPDIR`", "the directory is there and the bench's own")
def temporary_directory_of_cargo(s):
    s.crate()
    s.bench(f'let directory = env!("CARGO_TARGET_TMPDIR"); std::fs::write(format!("{{directory}}/data"), "x").unwrap(); suite.bench("work", |b| {WORK});')
    s.new()


@situation("bheisler/iai#17", "the bench writes its results into the package's directory", "written where `cargo bench` writes them; the next run counts the tree as before")
def results_beside_the_sources(s):
    s.crate()
    s.bench(f'std::fs::write("results.csv", "a;b").unwrap(); suite.bench("work", |b| {WORK});')
    s.new()
    assert (s.root / "results.csv").exists()
    s.slower_than_head()


@situation("facebook/rocksdb#991", "the bench holds a lock file for as long as it runs, and fails where another process has it", "the sides run one after the other; a warning says so")
def lock_file_of_the_bench(s):
    s.crate()
    s.bench('static LOCK: std::sync::LazyLock<std::fs::File> = std::sync::LazyLock::new(|| { let file = std::fs::File::create(std::env::temp_dir().join("situation.lock")).unwrap(); file.try_lock().expect("the lock is held"); file }); let _ = &*LOCK; suite.bench("work", |b| b.iter(|| subject::work(100)));')
    s.new(env={"TMPDIR": s.home})
    s.slower_than_head(env={"TMPDIR": s.home})


@situation("efficient/libcuckoo#171", "the bench pins itself to a processor", "compared")
def pins_itself(s):
    s.crate()
    s.bench('extern "C" { fn sched_setaffinity(p: i32, n: usize, m: *const u64) -> i32; } let mask = 1_u64; unsafe { sched_setaffinity(0, 8, &mask); } suite.bench("work", |b| b.iter(|| subject::work(100)));')
    s.slower_than_head()


@situation("remi-dupre/aoc#1", "the bench reads its command line and panics for a flag that it does not know", "it gets `--bench` as from `cargo bench`, and nothing else")
def reads_arguments(s):
    s.crate()
    s.bench(f'for word in std::env::args().skip(1) {{ assert_eq!(word, "--bench"); }} suite.bench("work", |b| {WORK});')
    s.new()


@situation("bheisler/criterion.rs#429", "a benchmark does nothing at all", "measured; no division by zero")
def does_nothing(s):
    s.crate()
    s.bench('suite.bench("nothing", |b| b.iter(|| ()));')
    s.new()
    s.slow_down()
    s.beside("--against", "HEAD").expect(0)


@situation("bheisler/criterion.rs#272", "ids with slashes at both ends, dots, backslashes, a dash in front, and 900 characters", "each is told apart, and can be named")
def odd_ids(s):
    s.crate()
    s.bench('for id in ["/a/", "..", "a\\\\b", "--exact", "a,b", "100%", &"x".repeat(900)] { suite.bench(id, |b| b.iter(|| subject::work(9))); }')
    s.new().expect(0, "7 new|7 benchmarks")
    result = s.measure("--no-rerun", "--exact", "--", "--exact")
    result.expect(result.exit if result.exit == 1 else 0)


@situation("tracel-ai/burn#1568", "the bench prints a progress bar with carriage returns and escapes, 100 lines a second", "on stderr; nothing on stdout")
def progress_bar(s):
    s.crate()
    s.bench(f'for n in 0..300 {{ eprint!("\\r\\x1b[2K{{n}} %"); print!("\\r{{n}}"); }} suite.bench("work", |b| {WORK});')
    result = s.new()
    assert "\r" not in result.stdout


@situation("bheisler/criterion.rs#193", "`main` by hand with `configure_from_args`, benchmarks, `final_summary`", "drop-in: measured")
def criterion_by_hand(s):
    s.drop_in()
    s.write("benches/b.rs", 'fn main() { let mut c = criterion::Criterion::default().configure_from_args().sample_size(10); c.bench_function("work", |b| b.iter(|| subject::work(9))); c.final_summary(); }')
    s.commit()
    s.new()


@situation("bheisler/criterion.rs#408", "`cargo bench -- --noplot --save-baseline x` without `bench = false` on the library", "the tool's flags go to the tool; the library's tests are not run")
def library_with_tests(s):
    s.drop_in()
    s.append("src/lib.rs", '#[cfg(test)] mod tests { #[test] fn fails() { panic!("a test ran") } }\n')
    s.commit()
    s.new("--save-baseline", "x", ).expect(0, without=["a test ran"])


@situation("xaynetwork/xayn_discovery_engine#411", "`cargo test --benches` and `cargo test --all-targets` on benches of the harness", "each benchmark runs once; exit 0")
def benches_as_tests(s):
    s.crate()
    s.run("test", "--quiet", "--benches", "--offline", tool=["cargo"]).expect(0)
    s.run("bench", "--quiet", "--offline", "--", "--test", tool=["cargo"]).expect(0)


@situation("bheisler/criterion.rs#120", "names of more than 23 characters that begin alike", "whole where the output is no terminal")
def long_names(s):
    s.crate()
    s.bench('for end in ["one", "two"] { suite.bench(format!("a benchmark with a long name that goes on and on and on until its end, which is {end}"), |b| b.iter(|| subject::work(9))); }')
    s.new().expect(0, "which is one", "which is two")


@situation("tikv/pprof-rs#237", "a bench dies of SIGTRAP while it is measured", "the benchmark failed with the signal; the others are measured; exit 4")
def trapped(s):
    s.crate()
    s.bench('extern "C" { fn raise(n: i32) -> i32; } suite.bench("trap", |b| b.iter(|| unsafe { raise(5) })); suite.bench("work", |b| b.iter(|| subject::work(9)));')
    s.measure().expect(4, "trap", "signal 5|SIGTRAP", "work")


@situation("bheisler/criterion.rs#182", "one benchmark is measured by a filter, then all, then the other one", "each run says what it has")
def parts_by_filters(s):
    s.crate()
    s.bench('for id in ["parse", "scope"] { suite.bench(id, |b| b.iter(|| subject::work(9))); }')
    s.new("parse").expect(0, without=["scope"])
    s.measure("--no-rerun").expect(0, "parse", "scope")
    s.measure("--no-rerun", "scope").expect(0, "scope")


@situation("bheisler/criterion.rs#190", "the parameter of a benchmark is printed with 600 characters", "drop-in: measured under its whole id")
def long_parameters(s):
    s.drop_in()
    s.write("benches/b.rs", CRITERION.replace('c.bench_function("work", |b| b.iter(|| subject::work(100)));',
            'let mut group = c.benchmark_group("test"); for input in [vec![0; 200], vec![1; 200]] { group.bench_with_input(criterion::BenchmarkId::from_parameter(format!("{input:?}")), &9, |b, n| b.iter(|| subject::work(*n))); } group.finish();'))
    s.commit()
    s.new().expect(0, "2 benchmarks|2 new|2 of 2")


@situation("bheisler/criterion.rs#458", "`cargo bench -- --output-format bencher`, and its output imported", "drop-in: lines of libtest; the import has the benchmark")
def output_of_bencher(s):
    s.drop_in()
    s.replace("Cargo.toml", "[dev-dependencies]", "[lib]\nbench = false\n[dev-dependencies]")
    result = s.run("bench", "--offline", "--quiet", "--", "--output-format", "bencher", "--measurement-time", "0.05", "--warm-up-time", "0.01", tool=["cargo"]).expect(0, "test work ... bench:")
    s.write(s.place / "output.txt", result.stdout)
    s.run("store", "import", s.place / "output.txt").expect(0, "work|1 benchmark")
