"""Situations that come from how the tool is called, and by which program."""

from table import situation


@situation("rust-lang/rustup#762", "`cargo +TOOLCHAIN perfcheck`", "built by that toolchain")
def other_toolchain(s):
    s.crate()
    s.new("--message-format", "json", env={"RUSTUP_TOOLCHAIN": "1.95.0"}).expect(0, "1\\.95\\.0")


@situation("nextest-rs/nextest#498", "`--config 'profile.bench.opt-level=2'` and `--config FILE`", "both sides are built and launched with it",
           before="the bench was launched without `[env]`, runner and linker of `--config`")
def configuration_on_the_command_line(s):
    s.crate()
    s.write(s.place / "extra.toml", '[env]\nEXTRA = "1"\n')
    s.bench('assert_eq!(std::env::var("EXTRA").as_deref(), Ok("1")); suite.bench("work", |b| b.iter(|| subject::work(100)));')
    s.slower_than_head("--config", "profile.bench.opt-level=2", "--config", s.place / "extra.toml")


@situation("cmyr/cargo-instruments#60", "`--bench` with a name that is misspelt", "exit 2, 3 or 4 with the names that there are")
def unknown_target(s):
    s.crate()
    result = s.measure("--bench", "bb")
    result.expect(result.exit if result.exit in (2, 3, 4) else 2, "bb", "`b`|b\\b")


@situation("sfackler/cargo-tree#25", "`cargo perfcheck list | head -1`, and output into a full device", "no panic: exit 0 for the closed pipe, 5 for the device")
def closed_pipe(s):
    s.crate()
    s.bench('for n in 0..2000 { suite.bench(format!("a benchmark with a long name so that a pipe is full {n}"), |b| b.iter(|| subject::work(9))); }')
    s.run("-c", f'"{s.tool}" perfcheck list | head -1; echo "${{PIPESTATUS[0]}}"', tool=["bash"]).expect(0, "^0$|\n0\n")
    s.run("-c", f'"{s.tool}" perfcheck list >/dev/full', tool=["bash"]).expect(5, "No space left")


@situation("huggingface/tokenizers#22", "`--message-format json` is read line by line while the bench prints to stdout", "each line is JSON")
def lines_of_json(s):
    import json
    s.crate()
    s.bench('println!("not json"); print!("half a line"); suite.bench("work", |b| b.iter(|| subject::work(9)));')
    for line in s.new("--message-format", "json").stdout.splitlines():
        json.loads(line)


@situation("tj-actions/changed-files#737", "a job of a pull request: a detached merge commit, `GITHUB_HEAD_REF` with a slash, depth 1", "the branch is that of the variable; `--against-merge-base` says that the clone is shallow")
def shallow_job(s):
    s.crate()
    s.git("clone", "--quiet", "--depth", "1", f"file://{s.root}", s.place / "clone", at=s.place)
    s.root = s.place / "clone"
    s.git("checkout", "--quiet", "--detach")
    variables = {"GITHUB_ACTIONS": "true", "CI": "true", "GITHUB_HEAD_REF": "feature/x", "GITHUB_REF_NAME": "12/merge"}
    s.measure(env=variables).expect(0)
    s.run("store", "runs", env=variables).expect(0, "feature/x")
    result = s.beside("--against-merge-base", "origin/develop", env=variables)
    result.expect(result.exit if result.exit in (2, 3, 6) else 2, "develop", "fetch")
