#!/usr/bin/env python3
"""Lists the fields that only the owner of the project can fill in: an address, a contact, a name, and checksums of published files.

    python3 packaging/owner_fields.py                         lists the open fields; fails if one of them must be filled in before publishing
    python3 packaging/owner_fields.py --repository ADDRESS    writes the address of the repository wherever it is missing

An open field contains the marker `owner-fills-in`, in small or capital letters. The fields in Cargo.toml and SECURITY.md must be filled in before anything is
published. The fields in a file of packaging/ must be filled in before that file is submitted.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
MARKER = "owner-fills-in"
# The placeholder cannot be a real address, because no name below `.invalid` ever exists.
REPOSITORY = f"https://{MARKER}.invalid/cargo-perfcheck"
BEFORE_PUBLISHING = {"Cargo.toml", "SECURITY.md"}
# Files that only describe the marker, and have no field to fill in.
ABOUT_IT = {"packaging/owner_fields.py", "packaging/README.md", "docs/internals/src/releases.md", "action.yml"}


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file())


def text_of(name):
    try:
        return (ROOT / name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def open_fields():
    """Yields the file, the line number and the text of each open field."""
    for name in tracked():
        if name in ABOUT_IT:
            continue
        for number, line in enumerate(text_of(name).splitlines(), 1):
            if MARKER in line.lower():
                yield name, number, line.strip()


def fill_in(address):
    if not re.fullmatch(r"https://[\w.-]+(/[\w.-]+)+", address) or address.endswith(".git") or MARKER in address:
        sys.exit(f"error: not the address of a repository, such as https://HOST/OWNER/NAME: {address}")
    for name in tracked():
        text = text_of(name)
        if name not in ABOUT_IT and REPOSITORY in text:
            (ROOT / name).write_text(text.replace(REPOSITORY, address), encoding="utf-8")
            print(f"{name}: {address}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repository", metavar="ADDRESS")
    address = parser.parse_args().repository
    if address:
        fill_in(address)
    found = list(open_fields())
    for name, number, line in found:
        print(f"open: {name}:{number}: {line}")
    blocking = sorted({name for name, _, _ in found} & BEFORE_PUBLISHING)
    if blocking:
        print(f"error: nothing can be published before these fields are filled in: {', '.join(blocking)}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
