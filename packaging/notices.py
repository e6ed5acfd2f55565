#!/usr/bin/env python3
"""Prints the licenses of all crates that a compiled cargo-perfcheck contains. Most licenses require that a copy comes with the program. Each text is printed once.

    python3 packaging/notices.py TARGET
"""

import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
NAMES = re.compile(r"(licen[cs]e|copying|notice|unlicense|copyright)[^/]*", re.IGNORECASE)


def output_of(*words):
    return subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def texts_of(directory):
    """Yields the texts of the license files in a package. They may also be in a folder such as `licenses`."""
    for path in sorted(directory.rglob("*")):
        names = path.relative_to(directory).parts
        if path.is_file() and len(names) <= 2 and NAMES.fullmatch(names[0]) and path.suffix not in (".rs", ".toml", ".html"):
            yield path.read_text(encoding="utf-8", errors="replace").strip().replace("\r\n", "\n")


def main():
    target = sys.argv[1]
    # Leave out procedural macros and build scripts, because only the build needs them and the program does not contain them.
    listed = output_of("cargo", "tree", "--locked", "--package", "cargo-perfcheck", "--edges", "normal,no-proc-macro", "--target", target, "--prefix", "none", "--format", "{p}")
    wanted = {tuple(line.split()[:2]) for line in listed.splitlines() if line.strip()}
    metadata = json.loads(output_of("cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target))
    packages = [package for package in metadata["packages"] if package["source"] and (package["name"], f"v{package['version']}") in wanted]
    groups = {}
    print("cargo-perfcheck contains the crates below, the standard library of Rust (MIT OR Apache-2.0) and SQLite (public domain).\n")
    for package in sorted(packages, key=lambda package: package["name"]):
        print(f"{package['name']} {package['version']}: {package['license'] or package['license_file']}")
        texts = list(texts_of(pathlib.Path(package["manifest_path"]).parent))
        for text in texts or [f"(the package has no file with its license, {package['license']})"]:
            groups.setdefault(text, []).append(f"{package['name']} {package['version']}")
    for text, names in groups.items():
        print(f"\n{'=' * 80}\n{', '.join(names)}\n{'=' * 80}\n\n{text}")


if __name__ == "__main__":
    main()
