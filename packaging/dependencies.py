#!/usr/bin/env python3
"""Checks that this repository depends only on crates that its rules allow. Needs no program but cargo.

    python3 packaging/dependencies.py            checks
    python3 packaging/dependencies.py --write    first writes the counts into docs/internals/src/dependencies.md

1. Each direct dependency has a row with a reason in docs/internals/src/dependencies.md, and there are no other rows. The count in a row is correct: it says how
   many crates fewer we would need without this dependency.
2. deny.toml allows the license of each crate, and has no exception that is not needed.
3. A crate is needed in two versions only if deny.toml lists one of them in `skip`, and `skip` lists no other crate.

`cargo deny` also checks 2 and 3, and advisories, but it takes minutes to compile.
"""

import json
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/internals/src/dependencies.md"
TARGET = "x86_64-unknown-linux-gnu"
# The packages of this repository that make up the program.
PROGRAM = {"cargo-perfcheck", "perfcheck-analysis", "perfcheck-bench", "perfcheck-build", "perfcheck-code", "perfcheck-host", "perfcheck-stats", "perfcheck-store"}
# For each table of the page: a function that says whether the table lists a dependency, and the options with which `cargo tree` prints the crates to count.
TABLES = {
    "The program": (lambda package, kind, optional: package in PROGRAM and kind != "dev" and not optional, ["--package", "cargo-perfcheck", "--edges", "normal,build"]),
    "A team's store": (
        lambda package, kind, optional: package == "perfcheck-store" and kind != "dev" and optional,
        ["--package", "cargo-perfcheck", "--features", "postgres", "--edges", "normal,build"],
    ),
    "The harness": (
        lambda package, kind, optional: package in ("perfcheck", "perfcheck-criterion") and kind != "dev",
        ["--package", "perfcheck-criterion", "--package", "perfcheck", "--all-features", "--edges", "normal,build"],
    ),
    "Tests and tools": (
        lambda package, kind, optional: kind == "dev" or package == "perfcheck-tools" or (package in ("perfcheck-analysis", "perfcheck-stats") and optional),
        ["--workspace", "--all-features", "--edges", "normal,build,dev"],
    ),
}
ROW = re.compile(r"^\| `([\w-]+)` \| (\d+|\?) \| (.+) \|$")


def output_of(*words):
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def graph(options):
    """Returns two values: a map from each crate (name and version) to the crates that it needs, and the set of crates of this repository."""
    told = output_of("cargo", "tree", "--locked", "--target", TARGET, "--prefix", "depth", "--format", "|{p}|", *options)
    needs, above, own = {}, [], set()
    for line in told.splitlines():
        depth, crate = line.split("|")[:2] if "|" in line else ("", "")
        if not depth:
            continue
        words = crate.split()
        name = f"{words[0]} {words[1]}"
        if any(word.startswith("(/") for word in words):
            own.add(name)
        del above[int(depth) :]
        needs.setdefault(name, set())
        if above:
            needs[above[-1]].add(name)
        above.append(name)
    return needs, own


def reached(needs, own, without=None):
    """Returns all crates that our crates need if ours do not depend on `without`. Crates that are not ours may still depend on it."""
    seen, open_ones = set(), list(own)
    while open_ones:
        one = open_ones.pop()
        if one not in seen:
            seen.add(one)
            open_ones += (next for next in needs[one] if one not in own or next.split()[0] != without)
    return seen


def wanted_of(metadata):
    """Yields the title of each table, and the count of each dependency that it must list."""
    listed = set()
    for title, (is_listed, options) in TABLES.items():
        names = set()
        for package in metadata["packages"]:
            for dependency in package["dependencies"]:
                if dependency.get("path") is None and is_listed(package["name"], dependency["kind"], dependency["optional"]):
                    names.add(dependency["name"])
        # A dependency is listed only in the first table that it belongs to.
        names -= listed
        listed |= names
        needs, own = graph(options)
        everything = reached(needs, own)
        yield title, {name: len(everything) - len(reached(needs, own, name)) for name in names}


def table_faults(metadata, write):
    title, rows, lines = None, {}, []
    wanted = dict(wanted_of(metadata))
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            title = line.removeprefix("## ")
        row = ROW.match(line)
        if row and title in wanted:
            name, count, reason = row.groups()
            rows.setdefault(title, set()).add(name)
            expected = wanted[title].get(name)
            if expected is None:
                yield f"the table `{title}` has a row for `{name}`, which does not belong there"
            elif write:
                line = f"| `{name}` | {expected} | {reason} |"
            elif count != str(expected):
                yield f"the count of `{name}` is {count}, but must be {expected}: run `python3 packaging/dependencies.py --write`"
        lines.append(line)
    for title, names in wanted.items():
        yield from (f"the table `{title}` has no row for `{name}`" for name in sorted(set(names) - rows.get(title, set())))
    if write:
        PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def is_allowed(expression, allowed):
    """Returns true if the licenses in `allowed` satisfy a license expression such as `MIT OR Apache-2.0`."""
    tokens = re.findall(r"[()]|[^\s()/]+|/", expression.replace(" WITH ", "+WITH+"))

    def either():
        value = both()
        while tokens and tokens[0] in ("OR", "/"):
            tokens.pop(0)
            value = both() or value
        return value

    def both():
        value = one()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            value = one() and value
        return value

    def one():
        token = tokens.pop(0)
        if token != "(":
            return token in allowed
        value = either()
        tokens.pop(0)
        return value

    return either()


def rule_faults(packages, rules):
    exceptions = {one["crate"]: one["allow"] for one in rules["licenses"]["exceptions"]}
    allowed = set(rules["licenses"]["allow"])
    for package in packages:
        extra = exceptions.get(package["name"], [])
        if not package["license"] or not is_allowed(package["license"], allowed | set(extra)):
            yield f"{package['name']} {package['version']}: deny.toml does not allow the license {package['license']}"
        elif extra and is_allowed(package["license"], allowed):
            yield f"{package['name']}: deny.toml has a license exception that this crate does not need"
    names = {package["name"] for package in packages}
    yield from (f"{name}: deny.toml has a license exception for this crate, but nothing depends on it" for name in sorted(set(exceptions) - names))
    skipped = {one["crate"] for one in rules["bans"]["skip"]}
    versions = {}
    for package in packages:
        versions.setdefault(package["name"], set()).add(package["version"])
    for name, found in versions.items():
        left = [version for version in found if not any(f"{name}@{version}.".startswith(f"{skip}.") for skip in skipped)]
        if len(left) > 1:
            yield f"{name} is needed in several versions that deny.toml does not skip: {', '.join(sorted(found))}"
    for skip in sorted(skipped):
        name, version = skip.split("@")
        if len(versions.get(name, ())) < 2 or not any(f"{found}.".startswith(f"{version}.") for found in versions[name]):
            yield f"{skip}: deny.toml skips this version, but the crate is not needed in two versions"


def main():
    write = sys.argv[1:] == ["--write"]
    if sys.argv[1:] and not write:
        sys.exit(__doc__)
    metadata = json.loads(output_of("cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"))
    rules = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))
    # Check only the crates that the platforms in deny.toml need.
    platforms = [word for target in rules["graph"]["targets"] for word in ("--filter-platform", target)]
    everything = json.loads(output_of("cargo", "metadata", "--locked", "--all-features", "--format-version", "1", *platforms))
    needed = {node["id"] for node in everything["resolve"]["nodes"]}
    packages = [package for package in everything["packages"] if package["source"] and package["id"] in needed]
    faults = [*table_faults(metadata, write), *rule_faults(packages, rules)]
    print(*faults, f"{len(packages)} crates that are not ours, {len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
