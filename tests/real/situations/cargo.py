"""Situations that come from manifests, configuration files and workspaces of cargo."""

import os

from subject import BENCH, HERE, LIBRARY
from table import situation

TRIPLE = "x86_64-unknown-linux-gnu"


@situation("maidsafe/sn_dbc#101", "`autobenches = false`, and the bench target lies elsewhere", "measured; a file in `benches/` that is no target is none")
def target_elsewhere(s):
    s.crate(package="autobenches = false")
    s.write("perf/entry.rs", BENCH)
    s.write("benches/left_over.rs", "this is no Rust")
    s.replace("Cargo.toml", "harness = false", 'harness = false\npath = "perf/entry.rs"')
    s.new()


@situation("LukeMathWalker/cargo-chef#203", "a bench target is a directory with a `main.rs` and modules", "measured")
def target_of_several_files(s):
    s.crate()
    s.git("rm", "--quiet", "benches/b.rs")
    s.write("benches/b/main.rs", "mod inner;\nfn benches(suite: &mut perfcheck::Suite) { inner::declare(suite); }\nperfcheck::main!(benches);\n")
    s.write("benches/b/inner.rs", 'pub fn declare(suite: &mut perfcheck::Suite) { suite.bench("inner", |b| b.iter(|| subject::work(9))); }\n')
    s.new("--exact", "inner")


@situation("rust-lang/cargo#6313", "a bench target has the name of the library, another one that of a binary", "both are measured")
def targets_named_like_others(s):
    s.crate(target="subject")
    s.write("src/main.rs", "fn main() {}")
    s.write("src/bin/tool.rs", "fn main() {}")
    s.write("benches/tool.rs", BENCH)
    s.append("Cargo.toml", '[[bench]]\nname = "tool"\nharness = false\n')
    s.new().expect(0, "2 benchmarks|2 new")


@situation("rust-lang/cargo#4151", "a bench needs a feature of a dependency in the workspace: `-F other/fast`", "measured with it; without it the target is left out and named")
def feature_of_another_member(s):
    s.crate(package='[features]\nfast = ["other/fast"]\n[dependencies]\nother = { path = "other" }', bench=BENCH.replace("subject::work(100)", "other::work(100)"))
    s.member("other", "other", package="[features]\nfast = []", bench=None, library="#[cfg(feature = \"fast\")]" + LIBRARY)
    s.replace("Cargo.toml", "harness = false", 'harness = false\nrequired-features = ["fast"]')
    s.replace("Cargo.toml", "[workspace]", '[workspace]\nmembers = ["other"]')
    s.measure().expect(4, "fast")
    s.new("--features", "fast")


@situation("rust-lang/cargo#15702", "the bench starts a binary of its package (`CARGO_BIN_EXE_…`)", "each side starts its own")
def starts_its_own_binary(s):
    s.crate()
    s.write("src/main.rs", "fn main() { println!(\"{}\", subject::work(200_000)); }")
    s.bench('suite.bench("work", |b| b.iter(|| std::process::Command::new(env!("CARGO_BIN_EXE_subject")).output().unwrap()));')
    s.new()
    s.replace("src/lib.rs", "0..n", "0..40 * n")
    s.slower_than("HEAD")


@situation("rust-lang/cargo#3166", "`panic = \"abort\"` in the profiles, which cargo ignores for benches", "measured; cargo's warning does no harm")
def profile_aborts(s):
    s.crate()
    s.append("Cargo.toml", 'panic = "abort"\n[profile.release]\npanic = "abort"\n')
    s.commit()
    s.new()
    s.slower_than_head()


@situation("rust-lang/cargo#13894", "`RUSTFLAGS=-Cpanic=abort`", "measured; a panic ends the process and is told")
def flags_abort(s):
    s.crate()
    s.bench('suite.bench("bad", |b| b.iter(|| if subject::work(1) > 0 { panic!("oh dear") }));')
    s.measure(env={"RUSTFLAGS": "-Cpanic=abort"}).expect(4, "oh dear|signal 6|SIGABRT")


@situation("near/nearcore#4679", "`lto = \"fat\"`, one codegen unit and `overflow-checks` in the profile", "both sides are built so and compared")
def fat_lto(s):
    s.crate()
    s.append("Cargo.toml", 'lto = "fat"\ncodegen-units = 1\noverflow-checks = true\n')
    s.commit()
    s.slower_than_head()


@situation("cmyr/cargo-instruments#2", "`strip = true` in the release profile, which the bench profile inherits", "compared; a note says that the code cannot be")
def stripped(s):
    s.crate()
    s.append("Cargo.toml", "[profile.release]\nstrip = true\n")
    s.commit()
    s.slower_than_head()


@situation("shotover/shotover-proxy#1469", "`debug = 2` with `split-debuginfo = \"unpacked\"`", "compared")
def split_debug_information(s):
    s.crate()
    s.replace("Cargo.toml", "debug = false", 'debug = 2\nsplit-debuginfo = "unpacked"')
    s.commit()
    s.slower_than_head()


@situation("CodSpeedHQ/codspeed-rust#48", "a profile of one's own that inherits from `release`", "`--profile profiling` builds with it")
def own_profile(s):
    s.crate()
    s.append("Cargo.toml", '[profile.profiling]\ninherits = "release"\ndebug = 1\nopt-level = 2\n')
    s.commit()
    s.new("--profile", "profiling")
    s.slower_than_head("--profile", "profiling")


@situation("rust-lang/cargo#14032", "the profile is set in `.cargo/config.toml` and by `CARGO_PROFILE_BENCH_DEBUG`", "measured with both")
def profile_from_elsewhere(s):
    s.crate()
    s.write(".cargo/config.toml", "[profile.bench]\nopt-level = 0\n")
    s.commit()
    s.slower_than_head(env={"CARGO_PROFILE_BENCH_DEBUG": "1"})


@situation("kkrt-labs/cairo-m#166", "`-C target-cpu=native` for the target in `.cargo/config.toml`", "built with it on both sides")
def native_processor(s):
    s.crate()
    s.write(".cargo/config.toml", f'[target.{TRIPLE}]\nrustflags = ["-C", "target-cpu=native"]\n')
    s.commit()
    s.slower_than_head()


@situation("ferrosadb/ferrosa#392", "`build.target` in `.cargo/config.toml`", "measured; executables lie in another directory")
def target_configured(s):
    s.crate()
    s.write(".cargo/config.toml", f'[build]\ntarget = "{TRIPLE}"\n')
    s.commit()
    s.new("--no-rerun")
    s.slower_than_head()


@situation("rust-lang/cargo#10473", "`build.target` names two targets", "refused in words, or measured; never a wrong pairing")
def two_targets_configured(s):
    s.crate()
    s.write(".cargo/config.toml", f'[build]\ntarget = ["{TRIPLE}", "wasm32-unknown-unknown"]\n')
    s.commit()
    s.measure().expect(3, "wasm32-unknown-unknown")


@situation("rust-lang/cargo#3954", "a runner in `.cargo/config.toml`, with arguments and a path relative to it", "benches run under it")
def runner(s):
    s.crate()
    s.write("run it.sh", '#!/bin/sh\necho "under $1" >>"$RUNS"\nshift\nexec "$@"\n', 0o755)
    s.write(".cargo/config.toml", f'[target.{TRIPLE}]\nrunner = ["./run it.sh", "a word"]\n')
    s.commit()
    s.write(".cargo/config.toml", f'[target.{TRIPLE}]\nrunner = ["{s.root}/run it.sh", "a word"]\n')
    s.new(env={"RUNS": s.place / "runs"})
    assert "under a word" in (s.place / "runs").read_text()


@situation("nextest-rs/nextest#590", "`[env]` with `relative = true` and `force = true`", "the bench sees what `cargo bench` shows it")
def configured_environment(s):
    s.crate()
    s.write("data/one.txt", "1")
    s.write(".cargo/config.toml", '[env]\nDATA = { value = "data/one.txt", relative = true }\nHOME = { value = "/nowhere", force = true }\n')
    s.bench('suite.bench("work", |b| { assert_eq!(std::fs::read(std::env::var("DATA").unwrap()).unwrap(), b"1"); assert_eq!(std::env::var("HOME").unwrap(), "/nowhere"); b.iter(|| subject::work(9)) });')
    s.new()


@situation("pop-os/cosmic-files#279", "`CARGO_TARGET_DIR` is relative, and the command runs in a directory below the workspace", "measured, and nothing is copied twice")
def relative_target_directory(s):
    s.crate()
    s.new("--no-rerun", at=s.root / "src", env={"CARGO_TARGET_DIR": "out"})
    s.measure(at=s.root / "src", env={"CARGO_TARGET_DIR": "out"}).expect(0)


@situation("rust-lang/cargo#6259", "an alias named `bench` in `.cargo/config.toml`, and one for the tool", "the alias of a built-in command changes nothing; the other one works")
def aliases(s):
    s.crate()
    s.write(".cargo/config.toml", '[alias]\nbench = "run --nothing"\nperf = "perfcheck --quiet"\n')
    s.commit()
    s.new()
    s.run(*["perf", "--rounds", "1"], tool=["cargo"], env={"PATH": f"{s.tool.parent}:{os.environ['PATH']}"}).expect(0)


@situation("mozilla/sccache#2040", "`build.rustc-wrapper` and `RUSTC_WORKSPACE_WRAPPER` name programs of the user's", "both are called")
def compiler_wrappers(s):
    s.without_wrapper().crate()
    for name in ("wrap", "inner"):
        s.write(s.place / name, f'#!/bin/sh\necho {name} >>"{s.place}/calls"\nexec "$@"\n', 0o755)
    s.write(".cargo/config.toml", f'[build]\nrustc-wrapper = "{s.place}/wrap"\n')
    s.commit()
    s.slow_down()
    s.new(env={"RUSTC_WORKSPACE_WRAPPER": s.place / "inner"})
    assert {"wrap", "inner"} <= set((s.place / "calls").read_text().split())


@situation("rust-mobile/ndk#298", "`CARGO_ENCODED_RUSTFLAGS` with a value that has a space", "passed on whole")
def encoded_flags(s):
    s.crate()
    s.bench('assert_eq!(option_env!("X"), None); if cfg!(word = "two words") { suite.bench("work", |b| b.iter(|| subject::work(9))); }')
    s.new(env={"CARGO_ENCODED_RUSTFLAGS": '--cfg\x1fword="two words"'})


@situation("rust-lang/cargo#11036", "`rust-toolchain.toml` names an installed toolchain that is not the default", "built with it; `+stable` wins over it")
def toolchain_file(s):
    s.crate()
    s.write("rust-toolchain.toml", '[toolchain]\nchannel = "1.95.0"\n')
    s.commit()
    s.new()
    assert "1.95.0" in s.run("show", "latest", "-v").text + s.run("store", "export", "latest", "--format", "json").text


@situation("rust-lang/rustup#1218", "`rust-toolchain.toml` names a toolchain that is not installed", "exit 2 with rustup's words")
def toolchain_missing(s):
    s.crate()
    s.write("rust-toolchain.toml", '[toolchain]\nchannel = "1.2.3"\n')
    s.commit()
    s.measure(env={"RUSTUP_AUTO_INSTALL": "0"}).expect(2, "1\\.2\\.3")


@situation("bheisler/criterion.rs#826", "`#![deny(missing_docs)]`, `#![forbid(unsafe_code)]` and `[lints]` with warnings denied", "the macros of both harnesses compile")
def strict_lints(s):
    s.drop_in()
    s.append("Cargo.toml", '[lints.rust]\nmissing_docs = "deny"\nunsafe_code = "forbid"\nunreachable_pub = "deny"\nunused_qualifications = "deny"\n[lints.clippy]\nall = "deny"\n')
    s.write("src/lib.rs", "//! Documented.\n/// Works.\n" + LIBRARY.lstrip())
    s.write("benches/b.rs", "//! Documented.\n" + (s.root / "benches/b.rs").read_text())
    s.commit()
    s.new()
    s.replace("Cargo.toml", "[[bench]]", f'perfcheck = {{ path = "{HERE}/harness" }}\n[[bench]]')
    s.write("benches/b.rs", "//! Documented.\n" + BENCH)
    s.measure().expect(0)


@situation("rust-lang/cargo#1413", "`paths` in `.cargo/config.toml` overrides a dependency", "measured as `cargo bench` does")
def path_overrides(s):
    s.crate(package='[dependencies]\nother = { path = "other" }', bench=BENCH.replace("subject::work(100)", "other::work(100)"))
    s.member("other", "other", bench=None)
    s.replace("Cargo.toml", "[workspace]", '[workspace]\nexclude = ["other", "theirs"]')
    s.member("theirs", "other", bench=None)
    s.write(".cargo/config.toml", 'paths = ["theirs"]\n')
    s.commit()
    s.new()


@situation("rust-lang/cargo#3076", "the build script writes generated code into `src/`, which git ignores", "measured; the work tree is not touched")
def build_script_writes_sources(s):
    s.crate(package='build = "build.rs"')
    s.write("build.rs", 'fn main() { std::fs::write("src/made.rs", format!("pub const MADE: u64 = {};", include_str!("made.txt").trim())).unwrap(); println!("cargo:rerun-if-changed=made.txt"); }')
    s.write("made.txt", "100")
    s.append(".gitignore", "src/made.rs\n")
    s.write("src/lib.rs", "mod made;\npub use made::MADE;\n" + LIBRARY)
    s.bench('suite.bench("work", |b| b.iter(|| subject::work(subject::MADE)));')
    s.new()
    assert not (s.root / "src/made.rs").exists()
    s.write("made.txt", "1000")
    s.slower_than("HEAD")


@situation("ilammy/fluid-let#17", "the benches are a workspace of their own below the library: `path = \"..\"`", "both sides have their own library")
def benches_in_a_workspace_of_their_own(s):
    s.crate(bench=None)
    s.replace("Cargo.toml", "[workspace]", '[workspace]\nexclude = ["benches"]')
    s.member("benches", "perf", package='[dependencies]\nsubject = { path = ".." }', target="b")
    s.append("benches/Cargo.toml", "[workspace]\n")
    s.append(".gitignore", "target\n")
    s.commit()
    s.new(at=s.root / "benches")
    s.slow_down()
    s.slower_than("HEAD", at=s.root / "benches")


@situation("rust-lang/cargo#4507", "a virtual workspace with `default-members`, run in a member's directory", "the member is measured, as `cargo bench` does")
def virtual_workspace(s):
    s.member("one", "one", bench=BENCH.replace("subject", "one"))
    s.member("two", "two", bench=BENCH.replace("subject", "two"))
    s.write("Cargo.toml", '[workspace]\nresolver = "2"\nmembers = ["one", "two"]\ndefault-members = ["two"]\n')
    s.write(".gitignore", "target\n")
    s.commit()
    s.run("list").expect(0, "two", without=["one"])
    s.run("list", at=s.root / "one").expect(0, "one", without=["two"])
    s.new(at=s.root / "one" / "src")


@situation("rust-lang/cargo#4603", "`Cargo.lock` needs an update, and the command has `--locked`", "exit 3 with cargo's words")
def lock_file_out_of_date(s):
    s.crate(package='[dependencies]\nother = { path = "other" }')
    s.member("other", "other", bench=None)
    s.write("Cargo.lock", 'version = 4\n\n[[package]]\nname = "subject"\nversion = "0.1.0"\n')
    s.commit()
    s.measure("--locked").expect(3, "--locked")


@situation("rust-lang/cargo#6672", "`Cargo.lock` cannot be written", "measured: what the build writes is not in the work tree")
def lock_file_read_only(s):
    s.crate()
    s.run("generate-lockfile", tool=["cargo"]).expect(0)
    (s.root / "Cargo.lock").chmod(0o444)
    s.commit()
    s.new()


@situation("bheisler/criterion.rs#237", "the library is a `cdylib` and an `rlib`", "measured")
def dynamic_library_too(s):
    s.crate()
    s.replace("Cargo.toml", "[dev-dependencies]", '[lib]\ncrate-type = ["cdylib", "rlib", "staticlib"]\n[dev-dependencies]')
    s.commit()
    s.slower_than_head()


@situation("rust-lang/cargo#14012", "the manifest is a symbolic link", "compared",
           before="`--against`: the manifest-path must be a path to a Cargo.toml file; exit 3")
def linked_manifest(s):
    s.crate()
    (s.root / "Cargo.toml").rename(s.root / "Real.toml")
    (s.root / "Cargo.toml").symlink_to("Real.toml")
    s.commit()
    s.slower_than_head()


@situation("samyama-ai/samyama-graph#427", "a module that the benches share lies in `benches/` and is a target by mistake, without benchmarks", "the others are measured, and it is passed over")
def shared_module_is_a_target(s):
    s.crate()
    s.write("benches/shared.rs", "pub fn size() -> u64 { 9 }\n")
    s.write("benches/b.rs", '#[path = "shared.rs"]\nmod shared;\n' + BENCH.replace("work(100)", "work(shared::size())"))
    s.commit()
    s.new()


@situation("rust-lang/cargo#9014", "the directory is called `bench` in place of `benches`", "cargo's words, with the file that it found; exit 3",
           before="no bench targets, exit 4; `cargo bench` says more: it found a file at `bench/b.rs`")
def misnamed_directory(s):
    s.crate()
    (s.root / "benches").rename(s.root / "bench")
    s.measure().expect(3, "can't find `b` bench", "bench/b.rs")


@situation("rust-lang/cargo#15258", "the library's tests do not compile", "they are not built")
def tests_that_do_not_compile(s):
    s.crate(library=LIBRARY + '#[cfg(test)] mod tests { compile_error!("a test"); }\n')
    s.write("tests/t.rs", "this is no Rust")
    s.commit()
    s.new()


@situation("rust-vmm/rust-vmm-ci#32", "the bench target is called `main`", "`--bench main` names it")
def target_called_main(s):
    s.crate(target="main")
    s.new("--bench", "main")


@situation("bevyengine/bevy#24248", "`--manifest-path ./benches/Cargo.toml --target-dir target` from the root", "measured; paths are seen from the current directory")
def benches_from_the_root(s):
    s.crate(bench=None)
    s.member("benches", "perf", package='[dependencies]\nsubject = { path = ".." }')
    s.append(".gitignore", "target\n")
    s.replace("Cargo.toml", "[workspace]", '[workspace]\nmembers = ["benches"]')
    s.commit()
    s.new("--manifest-path", "./benches/Cargo.toml", "--target-dir", "target")
    s.measure("--manifest-path", "./benches/Cargo.toml", "--target-dir", "target", "--no-rerun").expect(0)
    assert (s.root / "target/release").is_dir()


@situation("EmbarkStudios/cargo-about#10", "a member of the workspace is reached by a symbolic link", "measured")
def member_behind_a_link(s):
    s.member("real/one", "one", bench=BENCH.replace("subject", "one"))
    s.write("Cargo.toml", '[workspace]\nresolver = "2"\nmembers = ["linked"]\n[profile.bench]\nopt-level = 1\ndebug = false\n')
    s.write(".gitignore", "target\n")
    (s.root / "linked").symlink_to("real/one")
    s.commit()
    s.slow_down("real/one/src/lib.rs")
    s.slower_than("HEAD")


@situation("rust-lang/cargo#5849", "`--features` names a feature that there is not", "cargo's words; exit 3")
def unknown_feature(s):
    s.crate()
    result = s.measure("--features", "nonexistent")
    result.expect(result.exit if result.exit in (2, 3) else 3, "nonexistent")


@situation("japaric/cargo-call-stack#79", "`build.target` is for the device, and `--target` names the host", "the command line wins")
def target_on_the_command_line_wins(s):
    s.crate()
    s.write(".cargo/config.toml", '[build]\ntarget = "thumbv7em-none-eabihf"\n')
    s.commit()
    s.new("--target", TRIPLE)


@situation("mozilla/sccache#1165", "the compiler's wrapper is not there", "the words of who called it; exit 3")
def wrapper_missing(s):
    s.without_wrapper().crate()
    s.write(".cargo/config.toml", '[build]\nrustc-wrapper = "/nowhere/sccache"\n')
    s.commit()
    result = s.measure()
    result.expect(result.exit if result.exit in (2, 3) else 3, "/nowhere/sccache")


@situation("kindelia/Kindelia#123", "the package has a binary alone; the bench includes one of its modules by `#[path]`", "measured")
def binary_alone(s):
    s.crate()
    (s.root / "src/lib.rs").rename(s.root / "src/work.rs")
    s.write("src/main.rs", "mod work;\nfn main() { println!(\"{}\", work::work(9)); }\n")
    s.write("benches/b.rs", '#[path = "../src/work.rs"]\nmod work;\n' + BENCH.replace("subject::work", "work::work"))
    s.commit()
    s.slow_down("src/work.rs")
    s.slower_than("HEAD")


@situation("komora-io/concurrent-map#7", "the bench uses a crate that is no dependency", "the compiler's words; exit 3")
def dependency_forgotten(s):
    s.crate(bench="use criterion::Criterion;\nfn main() {}\n")
    s.measure().expect(3, "E0432")


@situation("nextest-rs/nextest#406", "the runner prints its command line to stdout before it starts the bench", "measured; what it prints is no result")
def runner_that_prints(s):
    s.crate()
    runner = s.write(s.place / "runner", '#!/bin/sh\necho "$@"\nexec "$@"\n', 0o755)
    s.write(".cargo/config.toml", f'[target.{TRIPLE}]\nrunner = "{runner}"\n')
    s.commit()
    s.new()
