#!/usr/bin/env python3
"""Do the relative links of the two books and of the other pages lead somewhere?

    python3 tests/book/links.py

Checked are files, anchors (those that mdBook and GitHub make of headings), and that each SUMMARY.md has every chapter of its book. A chapter may link to chapters of
both books alone: nothing else is in the built books. Paths of the repository that a chapter names in backquotes must exist.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOOKS = [ROOT / "docs/guide/src", ROOT / "docs/internals/src"]
LINK = re.compile(r"\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:crates|docs|examples|harness|src|testbench|tests|tools)/[\w./-]+)`")


def prose(path):
    """The page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(path):
    """What a link may name behind `#`."""
    found = set(re.findall(r'<a (?:name|id)="([^"]+)"', path.read_text(encoding="utf-8")))
    for heading in re.findall(r"^#+ (.+)$", prose(path), re.MULTILINE):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        slug = "".join(c if c.isalnum() or c in "_-" else "-" if c.isspace() else "" for c in text)
        again = sum(1 for one in found if one == slug or re.fullmatch(re.escape(slug) + r"-\d+", one))
        found.add(f"{slug}-{again}" if again else slug)
    return found


def in_a_book(path):
    return any(book in path.parents for book in BOOKS)


def unlisted(book):
    """The chapters that SUMMARY.md lacks."""
    summary = LINK.findall((book / "SUMMARY.md").read_text(encoding="utf-8"))
    for path in sorted(book.rglob("*.md")):
        if path.name != "SUMMARY.md" and path.relative_to(book).as_posix() not in summary:
            yield f"{book.relative_to(ROOT)}/SUMMARY.md has no {path.relative_to(book)}"


def faults(path):
    own = in_a_book(path)
    for target in LINK.findall(re.sub(r"`[^`\n]*`", "", prose(path))):
        file, _, anchor = target.partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        there = (path.parent / file).resolve() if file else path
        if not there.exists():
            yield f"no file {target}"
        elif own and not in_a_book(there):
            yield f"{target} is not in a book"
        elif anchor and anchor not in anchors(there):
            yield f"no heading {target}"
    if own:
        yield from (f"no path {name}" for name in PATH.findall(prose(path)) if not (ROOT / name).exists())


def main():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    pages = [ROOT / line for line in sorted(set(listed.stdout.split())) if (ROOT / line).exists()]
    found = [f"{page.relative_to(ROOT)}: {fault}" for page in pages for fault in faults(page)]
    found += [fault for book in BOOKS for fault in unlisted(book)]
    print(*found, f"{len(pages)} pages, {len(found)} faults", sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
