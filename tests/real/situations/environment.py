"""Situations that come from paths, environment variables and limits of the machine."""

import os
import subprocess

from table import situation


def moved(s, name):
    """Creates the usual crate and moves it to another path."""
    s.crate()
    target = s.place / name
    target.parent.mkdir(parents=True, exist_ok=True)
    s.root.rename(target)
    s.root = target


@situation("rust-lang/cargo#13634", "the path has spaces, quotes, a dollar sign and a per cent sign", "compared")
def path_with_quotes(s):
    moved(s, "a b'c\"d $HOME %s/x")
    s.slower_than_head()


@situation("rust-lang/cargo#3736", "the path has a colon, which separates the entries of a search path", "compared, or an error that names it")
def path_with_a_colon(s):
    moved(s, "a:b/c")
    s.slower_than_head()


@situation("rust-lang/cargo#8186", "the shell is in the checkout by a symbolic link (`PWD` says so)", "one history for both names")
def checkout_behind_a_link(s):
    s.crate()
    s.new()
    link = s.place / "link"
    link.symlink_to(s.root)
    s.run("store", "runs", at=link, env={"PWD": link}).expect(0, "main")
    s.run("store", "runs", "--manifest-path", link / "Cargo.toml", at="/").expect(0, "main")


@situation("rust-lang/rustc-perf#542", "`HOME` is not set, as in a container or a unit of systemd", "measured; store and cache are where they are said to be")
def without_a_home(s):
    s.without_wrapper().crate()
    s.new(without=["HOME"])


@situation("python/cpython#93852", "`TMPDIR` is longer than the name of a socket may be", "measured")
def long_temporary_directory(s):
    s.crate()
    long = s.place / ("t" * 120)
    long.mkdir()
    s.slower_than_head(env={"TMPDIR": long})


@situation("rust-lang/cargo#11324", "`CARGO_HOME` lies in the checkout (`$CI_PROJECT_DIR/.cargo`), as jobs of GitLab keep it", "its registry is not copied as sources, its configuration counts once")
def cargo_home_in_the_checkout(s):
    s.crate()
    for number in range(50):
        s.write(f".cargo/registry/src/index/x-{number}/lib.rs", "x")
    s.write(".cargo/config.toml", "[term]\nverbose = false\n")
    s.slower_than_head(env={"CARGO_HOME": s.root / ".cargo"})


@situation("oli-obk/cargo_metadata#76", "`CARGO_LOG=debug`, `RUST_LOG=trace` and `RUST_BACKTRACE=full`", "measured; results on stdout are the same")
def logs_of_everybody(s):
    s.crate()
    result = s.new(env={"CARGO_LOG": "info", "RUST_LOG": "trace", "RUST_BACKTRACE": "full"})
    assert "DEBUG" not in result.stdout and "TRACE" not in result.stdout


@situation("airspeed-velocity/asv#378", "run under `nice`, `taskset` on one processor, and `timeout`", "measured")
def one_processor(s):
    s.crate()
    s.slow_down()
    result = s.run("-n", "5", "taskset", "-c", "0", "timeout", "280", s.tool, "perfcheck", "--against", "HEAD", "--rounds", "5", "--instructions", "never", tool=["nice"])
    result.expect(result.exit if result.exit == 1 else 0, r"\+\d{3,} %")


@situation("ndsev/zserio#7", "`umask 0777`-like rights: files of the checkout are readable only", "measured")
def read_only_files(s):
    s.crate()
    for path in s.root.rglob("*"):
        if ".git" not in path.parts:
            path.chmod(0o555 if path.is_dir() else 0o444)
    s.root.chmod(0o555)
    s.new()
    s.root.chmod(0o755)


@situation("rust-lang/cargo#135", "links that lead nowhere and round in circles, as editors leave them (`.#lib.rs`)", "compared")
def broken_links(s):
    s.crate()
    (s.root / ".#lib.rs").symlink_to("me@host.123:456")
    (s.root / "round").symlink_to("round")
    (s.root / "up").symlink_to("..")
    s.slower_than_head()


@situation("rui314/mold#239", "the linker is set to `clang`-like wrapper script in `.cargo/config.toml` by a relative path", "called")
def linker_of_the_users(s):
    s.crate()
    s.write("tools/linker.sh", f'#!/bin/sh\necho linked >>"{s.place}/linked"\nexec cc "$@"\n', 0o755)
    s.write(".cargo/config.toml", '[target.x86_64-unknown-linux-gnu]\nlinker = "tools/linker.sh"\n')
    s.commit()
    s.slower_than_head()
    assert (s.place / "linked").exists()


@situation("rui314/mold#1037", "`-C link-arg=-fuse-ld=lld` or `-Clink-self-contained` in `RUSTFLAGS`", "compared")
def other_linker(s):
    s.crate()
    s.slower_than_head(env={"RUSTFLAGS": "-Clink-arg=-Wl,--build-id=none -Clink-arg=-Wl,-O1"})


@situation("rustls/rustls-bench-app#27", "there is no git in `PATH`", "measured; `--against` says that it takes git")
def no_git(s):
    s.without_wrapper().crate()
    programs = s.place / "bin"
    programs.mkdir()
    for name in ("cargo", "rustc", "cc", "ld", "sh", "as"):
        found = subprocess.run(["sh", "-c", f"command -v {name}"], capture_output=True, text=True, check=True).stdout.strip()
        (programs / name).symlink_to(found)
    s.new(env={"PATH": programs})
    s.beside("--against", "HEAD", env={"PATH": programs}).expect(2, "git")


@situation("rust-lang/cargo#11031", "`cargo --config KEY=VALUE perfcheck`: cargo keeps its flags to itself", "as without the flag")
def configuration_before_the_command(s):
    s.crate()
    s.run("--config", 'env.EXTRA="1"', "perfcheck", *["--rounds", "1", "--samples", "4"], tool=["cargo"], env={"PATH": f"{s.tool.parent}:{os.environ['PATH']}"}).expect(0, "new")
