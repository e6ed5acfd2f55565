#!/usr/bin/env python3
"""Which rows of docs/internals/src/systems.md, and of the table of degenerate inputs in docs/internals/src/statistics/checks.md, have no test yet.

    python3 tests/systems/rows.py            lists them, row by row
    python3 tests/systems/rows.py --strict   the same, and fails if there is one
    python3 tests/systems/rows.py --list     every row with its tests

A test belongs to a row if its name begins with the row's id: `n13_quartiles_are_of_nearest_rank`, `m_x9_...`; one that shows several rows begins with
all of them: `n27_n28_...`. Tests are looked for in every `.rs` file of the repository's own packages: of the tool, of the harness, of what lies in
`tests/`. One that is ignored is none.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIPPED = {"target", ".git", "testbench"}

# The tables of rows: those of the systems, and that of degenerate inputs.
TABLES = [ROOT / "docs/internals/src/systems.md", ROOT / "docs/internals/src/statistics/checks.md"]
ROW = re.compile(r"^\| ([NCMBSD](?:-X)?\d+) \| (.+?) \| (.+) \|$", re.MULTILINE)

# What each row asks for, in a few words, and where it is here.
ROWS = {row: (text, here) for path in TABLES for row, text, here in ROW.findall(path.read_text(encoding="utf-8"))}


def is_taken(row):
    return not ROWS[row][1].startswith("not taken")


TEST = re.compile(r"^[ \t]*#\[test\]((?:\s*#\[[^\]]*\])*)\s*(?:async\s+)?fn\s+(\w+)", re.MULTILINE)
ID = re.compile(r"([ncmbsd])(_x)?(\d+)_")


def rows_of(name):
    """The ids at the start of a test's name."""
    found, at = [], 0
    while match := ID.match(name, at):
        system, beyond, number = match.groups()
        found.append(f"{system.upper()}{'-X' if beyond else ''}{int(number)}")
        at = match.end()
    return found


def tests():
    """Every row that has a test, with their places."""
    found = {}
    for path in sorted(ROOT.rglob("*.rs")):
        place = path.relative_to(ROOT)
        if SKIPPED.isdisjoint(place.parts):
            for attributes, name in TEST.findall(path.read_text(encoding="utf-8")):
                if "#[ignore" not in attributes:
                    for row in rows_of(name):
                        found.setdefault(row, []).append(f"{place.as_posix()}: {name}")
    return found


def main():
    found = tests()
    unknown = sorted(set(found) - set(ROWS))
    taken = [row for row in ROWS if is_taken(row)]
    missing = [row for row in taken if row not in found]
    if "--list" in sys.argv[1:]:
        for row, (text, here) in ROWS.items():
            print(f"{row:6} {text} ({here})", *found.get(row, ["-"]), sep="\n         ")
        return 0
    for row in unknown:
        print(f"{row:6} is no row, but has {', '.join(found[row])}")
    for row in missing:
        print(f"{row:6} {ROWS[row][0]}")
    print(f"{len(taken) - len(missing)} of {len(taken)} rows that are taken have a test, {len(ROWS) - len(taken)} are not taken", file=sys.stderr)
    return 1 if "--strict" in sys.argv[1:] and (missing or unknown) else 0


if __name__ == "__main__":
    sys.exit(main())
