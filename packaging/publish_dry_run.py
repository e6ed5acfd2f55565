#!/usr/bin/env python3
"""Tests that all crates can be published, and that new users get a tool that works. Nothing is uploaded.

    python3 packaging/publish_dry_run.py                   runs all steps; compiles all crates three times, without any cache
    python3 packaging/publish_dry_run.py --light           leaves out what has to be compiled
    python3 packaging/publish_dry_run.py --archive FILE    also tests an archive that packaging/archive.sh has made; with --light, only its bench is compiled

1. Clones the last commit and packages all crates that may be published. Then `cargo publish --dry-run` does everything but upload them.
2. Makes a registry on the loopback address. It has these packages and all crates in Cargo.lock, which cargo fetches from the sources that this user has
   configured.
3. Tests that a new user, whose home directory is empty, can depend on the harness from that registry, and that the tool finds all crates that it needs there.
4. Installs the tool as three new users would: from the registry, from the clone and from the archive. Each user measures a first bench twice. The verdict must
   be `new` the first time, and `unchanged` the second time.

Prints how many seconds each step takes, and the size of what it makes. Also lists the open fields that only the owner can fill in.
They are no failure here, but packaging/publish.sh refuses to publish with them.
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import tomllib

from local_registry import Registry

ROOT = pathlib.Path(__file__).resolve().parents[1]
TOOL = "cargo-perfcheck"
MANIFEST = """\
[package]
name = "newcomer"
version = "0.0.0"
edition = "2024"
publish = false

[dev-dependencies]
perfcheck = "VERSION"

[[bench]]
name = "first"
harness = false
"""
BENCH = """\
use perfcheck::{Suite, black_box};

fn first(suite: &mut Suite) {
    suite.bench("first", |b| b.iter(|| newcomer::words(black_box("the quick brown fox"))));
}

perfcheck::main!(first);
"""
LIBRARY = """\
pub fn words(text: &str) -> usize {
    text.split_whitespace().count()
}
"""


def run(words, status=0, **options):
    """Runs a program, which must end with the exit code `status`. Returns its output if `stdout` is a pipe."""
    print("    $", *words, flush=True)
    ended = subprocess.run([str(word) for word in words], text=True, stdin=subprocess.DEVNULL, check=False, **options)
    if ended.returncode != status:
        print(ended.stdout or "", ended.stderr or "", sep="")
        sys.exit(f"error: `{' '.join(map(str, words))}` ended with {ended.returncode}, not {status}")
    return ended.stdout


def size_of(directory):
    files = (path for path in directory.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files)


class Step:
    """Prints the name of a step at its start, and how long it took at its end."""

    def __init__(self, name):
        self.name, self.note = name, ""

    def __enter__(self):
        print(f"==> {self.name}", flush=True)
        self.began = time.monotonic()
        return self

    def __exit__(self, kind, *_):
        if kind is None:
            print(f"==> {self.name}: {time.monotonic() - self.began:.1f} s{self.note}", flush=True)


def locked_files(clone):
    """Yields the `.crate` file and the checksum of each package in Cargo.lock that comes from a registry."""
    home = pathlib.Path(os.environ.get("CARGO_HOME", pathlib.Path.home() / ".cargo"))
    lock = tomllib.loads((clone / "Cargo.lock").read_text(encoding="utf-8"))
    for package in lock["package"]:
        if "checksum" not in package:
            continue
        name = f"{package['name']}-{package['version']}.crate"
        found = [path for path in home.glob(f"registry/cache/*/{name}")]
        if not found:
            sys.exit(f"error: `cargo fetch` left no {name} in {home}/registry/cache")
        yield found[0], package["checksum"]


def new_user(home, registry, toolchain):
    """Makes a home directory, and returns the environment of a user who has only a toolchain and the programs of the system."""
    cargo_home = home / ".cargo"
    cargo_home.mkdir(parents=True)
    (cargo_home / "config.toml").write_text(registry.configuration(), encoding="utf-8")
    return {
        "HOME": str(home),
        "CARGO_HOME": str(cargo_home),
        "PATH": f"{cargo_home}/bin:{toolchain}/bin:/usr/local/bin:/usr/bin:/bin",
        "TMPDIR": tempfile.gettempdir(),
        "LC_ALL": "C.UTF-8",
        "NO_PROXY": "127.0.0.1",
    }


def newcomers_crate(directory, version):
    for path, text in (("Cargo.toml", MANIFEST.replace("VERSION", version)), ("benches/first.rs", BENCH), ("src/lib.rs", LIBRARY)):
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(text, encoding="utf-8")


def extract(files, directory):
    """Extracts an archive that this script has made. Debian 12 has a Python without the argument `filter`."""
    files.extractall(directory, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))


def unpack(archive, home):
    """Unpacks an archive, and moves its program to where cargo would have installed it."""
    with tarfile.open(archive) as files:
        extract(files, home)
    programs = home / ".cargo/bin"
    programs.mkdir()
    shutil.move(next(home.glob(f"{TOOL}-*/{TOOL}")), programs)


def first_verdict(name, install, home, registry, toolchain, version):
    """Installs the tool for a new user by calling `install`, and measures a first bench as that user."""
    user = new_user(home, registry, toolchain)
    began, before = time.monotonic(), registry.sent
    with Step(f"{name}: the tool") as step:
        install(home, user)
        step.note = f": the program has {(home / '.cargo/bin' / TOOL).stat().st_size:,} bytes"
    place = home / "newcomer"
    newcomers_crate(place, version)
    (place / ".gitignore").write_text("/target\n", encoding="utf-8")
    git = ["git", "-c", "user.name=newcomer", "-c", "user.email=newcomer@localhost"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "Begin"]):
        run([*git, *words], cwd=place, env=user)
    for wanted in ("new", "unchanged"):
        with Step(f"{name}: a first bench is {wanted}") as step:
            told = run(["cargo", "perfcheck"], cwd=place, env=user, stdout=subprocess.PIPE)
            print(told)
            assert wanted in told, told
            step.note = f"; {time.monotonic() - began:.1f} s after the beginning"
    print(f"    received from the registry: {registry.sent - before:,} bytes; the home directory has {size_of(home):,}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--light", action="store_true", help="leave out what has to be compiled")
    parser.add_argument("--archive", metavar="FILE", type=pathlib.Path, help="an archive of a release")
    arguments = parser.parse_args()
    light, archive = arguments.light, arguments.archive
    verify = ["--no-verify"] if light else []
    toolchain = subprocess.run(["rustc", "--print", "sysroot"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory(prefix="publish-") as scratch:
        scratch = pathlib.Path(scratch)
        clone, target, home = scratch / "clone", scratch / "target", scratch / "reader"
        with Step("clone"):
            run(["git", "clone", "--quiet", "--no-hardlinks", ROOT, clone])
            subprocess.run([sys.executable, clone / "packaging/owner_fields.py"], check=False)
        with Step("package") as step:
            told = run(["cargo", "metadata", "--no-deps", "--locked", "--format-version", "1"], cwd=clone, stdout=subprocess.PIPE)
            packages = json.loads(told)["packages"]
            version = next(package["version"] for package in packages if package["name"] == TOOL)
            mine = [package["name"] for package in packages if package["publish"] != []]
            excluded = [word for package in packages if package["name"] not in mine for word in ("--exclude", package["name"])]
            run(["cargo", "package", "--quiet", "--workspace", *excluded, "--locked", "--no-verify", "--target-dir", target], cwd=clone)
            crates = sorted((target / "package").glob("*.crate"))
            assert len(crates) == len(mine), crates
            step.note = "".join(f"\n    {crate.stat().st_size:9,} bytes  {crate.name}" for crate in crates)
        with Step("publish without uploading"):
            run(["cargo", "publish", "--workspace", "--dry-run", "--locked", *verify, "--target-dir", target], cwd=clone)
        with Step("registry") as step:
            run(["cargo", "fetch", "--quiet", "--locked"], cwd=clone)
            locked = dict(locked_files(clone))
            registry = Registry(scratch / "registry", [*crates, *locked])
            lines = [json.loads(line) for path in (scratch / "registry/index").rglob("*") if path.is_file() for line in path.read_text().splitlines()]
            checksums = {line["cksum"] for line in lines}
            assert set(locked.values()) <= checksums, "a file is not what Cargo.lock says"
            step.note = f": {registry.count} crates, {size_of(scratch / 'registry'):,} bytes"
        with registry:
            user = new_user(home, registry, toolchain)
            place = home / "newcomer"
            with Step("a crate that depends on the harness") as step:
                newcomers_crate(place, version)
                run(["cargo", "fetch"], cwd=place, env=user)
                told = run(["cargo", "metadata", "--offline", "--format-version", "1"], cwd=place, env=user, stdout=subprocess.PIPE)
                found = [package for package in json.loads(told)["packages"] if package["name"] == "perfcheck"]
                assert [package["version"] for package in found] == [version], found
                assert found[0]["source"].startswith("registry+"), found
                step.note = f": {registry.sent:,} bytes received"
            with Step("what the tool needs"):
                with tarfile.open(target / f"package/{TOOL}-{version}.crate") as package:
                    extract(package, home)
                # Resolve with the package's Cargo.lock, and again without it, as `cargo install` does without `--locked`. The result is the same, because this
                # registry has only the locked versions.
                run(["cargo", "fetch", "--quiet", "--locked"], cwd=home / f"{TOOL}-{version}", env=user)
                (home / f"{TOOL}-{version}/Cargo.lock").unlink()
                run(["cargo", "generate-lockfile", "--quiet"], cwd=home / f"{TOOL}-{version}", env=user)
                shutil.rmtree(home / f"{TOOL}-{version}")
                shutil.rmtree(home / ".cargo/registry")
            ways = {}
            if not light:
                ways["registry"] = lambda home, user: run(["cargo", "install", "--locked", TOOL], cwd=home, env=user)
                ways["clone"] = lambda home, user: run(["cargo", "install", "--locked", "--path", clone], cwd=home, env=user)
            if archive:
                ways["archive"] = lambda home, user: unpack(archive, home)
            for name, install in ways.items():
                first_verdict(name, install, scratch / f"user-{name}", registry, toolchain, version)
            if light:
                print("The tool was not compiled. Without --light, new users install it from the registry and from a clone.")


if __name__ == "__main__":
    main()
