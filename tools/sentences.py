#!/usr/bin/env python3
"""Prints every sentence that the program can print, for a reader who judges its words: `FILE:LINE`, a tab, and the sentence.

    tools/sentences.py [--draw N] [--seed S] [--count]

The script reads the strings and the help of flags in the sources of the product, but not in its tests, and keeps those of three words or more. Each
line of a message is an entry of its own. Where the program puts a sentence together from parts, the parts are entries, too. An example stands for what
only a run knows: `3 of 30 rounds` for `{left_out} of {rounds} rounds`. A name in angle brackets, such as `<pattern>`, stands for what has no example.
`--draw` prints N sentences drawn by lot; `--count` prints how many sentences each folder has.
"""

import argparse
import bisect
import collections
import itertools
import pathlib
import random
import re

from rust_functions import BRACKETS, code_of, span_of, without_code

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Only tests use this crate.
NO_PRODUCT = ROOT / "crates/mutations"

# Calls, macros and attributes. No user sees the strings inside those of the first list, at any depth, or the direct arguments of those of the second.
SILENT = set(
    """expect expect_err panic! unreachable! todo! assert! assert_eq! assert_ne! debug_assert! debug_assert_eq! debug! trace! info_span! debug_span!
    json_schema! include_str! cfg derive serde deprecated must_use allow schemars execute execute_batch query query_row prepare""".split()
)
SEARCHED = set(
    """contains starts_with ends_with strip_prefix strip_suffix find rfind split split_once rsplit rsplit_once matches replace replacen get arg args
    env Path::new Command::new""".split()
)
FORMATS = set("format! format_args! write! writeln! print! println! eprint! eprintln! #[error".split())

# Strings that are not English: SQL, and tags around text.
NO_PROSE = re.compile(
    r"^\s*(SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|PRAGMA|SET|LOCK TABLE|BEGIN;|AND|LEFT JOIN|CROSS JOIN|JOIN|[a-z]\w*\.\w+) "
    r"|\b(SELECT \w|FROM \w+ \w|ORDER BY|INDEXED BY|IS (NOT )?NULL|SET \w+ TO)\b|^[a-z_]+(, [a-z_]+){3,}$|\0|</?[a-z]\w*( [\w-]+=|/?>)"
)
# Lines that are not English: JSON, TOML and Rust.
NO_PROSE_LINE = re.compile(r"^\s*\{\"|\"\w+\":\s|^\s*(\[[\w.\[\]-]+\]|[\w.-]+ = \S+)$|^\s*(use|let|fn|mod|extern) .*[;{]$")
COMMAND = re.compile(
    r"^\s*(help: )?(\$ |[A-Z_]+=\S+ )*(cargo (perfcheck|bench|install)|git (-|show|log|config|rev-|ls-|fetch)|sudo|echo|ps|docker run)\b.*?(\s{2,}|$)"
)
# A word of English prose, and anything that a reader takes for a word.
WORD = re.compile(r"(?<!\S)[(\[\"'`*…]*[^\W\d_][^\W\d_'’-]*[)\]\"'`*,.:;!?…]*(?!\S)")
TOKEN = re.compile(r"(?<!\S)(?![-/$?])\S*[^\W_]\S*")

# Examples, each with the names of values, types and functions for which it is shown.
EXAMPLES = {
    name: example
    for example, names in {
        "the new run": "side slower_side",
        "30": "rounds needed all total operations rest found used seen improvable most usize u32 u64 i64 f64",
        "3": "len count left left_out several some more number failed samples launches processes",
        "42": "value size length",
        "12": "run id RunId candidate_run latest",
        "7": "reference base_run",
        "4.2 %": "percent share threshold noise_threshold fraction spread slowdown",
        "4.2%": "percent_argument",
        "95 %": "level confidence_level interval_level change_level",
        "+8.3 %": "change",
        "[+8.2 %, +8.4 %]": "interval change_interval",
        "12.3 µs": "time duration elapsed limit format_cost base candidate",
        "11.9 µs": "lower",
        "12.7 µs": "upper",
        "-1 %": "low",
        "+1 %": "high",
        "1 %": "noise of_all",
        "1": "least",
        "20 s": "seconds spent timeout",
        "12 KiB": "bytes format_bytes",
        "ns": "unit",
        "p = 0.013": "p",
        "0.026": "p_value adjusted",
        "3 benchmarks": "benchmarks list_benchmarks",
        "`parse`, `lex`": "functions names named columns existing",
        "target/x": "display PathBuf path place file directory root manifest_path manifest executable display_path",
        "permission denied": "error source err cause reason why problem detail message said Arc",
        "parser/benches": "target bench",
        "parser": "package",
        "json/parse": "key benchmark id_in_prose",
        "main": "branch baseline revision name",
        "a1b2c3d": "commit hash short",
        "2/8": "part",
        "--rounds": "flag option",
        "cargo perfcheck": "command line",
        "0.5.1": "version harness_version",
        "median": "statistic metric subject center",
        "regressed": "verdict word",
        "slower": "direction",
    }.items()
    for name in names.split()
}
# Words that occur in expressions but do not name a value.
PLAIN = set("as new from self str units terminal sanitize words remarks sentences text lines quoted mut ref one_line capitalize describe".split())

ESCAPES = {"n": "\n", "t": " ", "r": "\r", "0": "\0"}
ESCAPED = re.compile(r"\\\n\s*|\\u\{([0-9a-fA-F_]+)\}|\\x([0-9a-fA-F]{2})|\\(.)|[^\\]", re.DOTALL)
PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}:]*)(?::([^{}]*))?\}")
# Items whose documentation clap prints, and attributes that prevent this.
HELP = re.compile(r"#\[derive\([^)]*\b(Parser|Args|Subcommand|ValueEnum)\b[^)]*\)\]")
HIDDEN = re.compile(r"\s*(#\[[^\n]*\]\s*)*#\[(arg|command|clap|value)\([^#]*\b(flatten|skip|help =)")
TESTS = re.compile(r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*")


class Source:
    """A Rust file: its text, its code without strings and comments, and where its strings and lines of documentation begin and end."""

    def __init__(self, path):
        self.path, self.text = path, path.read_text(encoding="utf-8")
        self.code = code_of(self.text)
        self.starts = [found.end() for found in re.finditer("^", self.text, re.MULTILINE)]
        self.strings, self.docs, place = {}, {}, 0
        while place < len(self.text):
            end, fill = without_code(self.text, place)
            if fill == "\0" and self.text[end - 1] in '"#':
                self.strings[place] = end
            elif fill == " " and self.text.startswith("///", place):
                self.docs[place] = end
            place = end
        self.tests = [(found.start(), self.end_of_item(found.end())) for found in TESTS.finditer(self.code)]
        self.around = dict(self.surroundings())

    def end_of_item(self, place):
        found = re.compile(r"[;{]").search(self.code, place)
        return len(self.code) if not found else found.end() if found[0] == ";" else span_of(self.code, found.start())[1]

    def files_of_tests(self):
        folder = self.path.parent if self.path.stem in ("mod", "lib", "main") else self.path.with_suffix("")
        for begin, end in self.tests:
            if module := re.search(r'(?:#\[path = "([^"]+)"\]\s*)?(?:pub\S* )?\bmod (\w+);$', self.text[begin:end]):
                yield self.path.parent / module[1] if module[1] else folder / f"{module[2]}.rs"

    def surroundings(self):
        """Returns the calls, macros and attributes around each string, innermost first, with the places of their opening brackets."""
        within = []
        for found in re.finditer(r"[(\[{}\])]|\0+", self.code):
            if found[0] in BRACKETS:
                head = re.search(r"(#\[)?[\w:]+!?$", self.code[max(0, found.start() - 60) : found.start()].rstrip())
                within.append((head[0] if head else "", found.start()))
            elif found[0][0] != "\0":
                del within[-1:]
            elif found.start() in self.strings:
                yield found.start(), tuple(reversed(within)) or (("", 0),)

    def is_shown(self, place):
        heads = [head for head, _ in self.around[place]]
        names = {head.lstrip("#[").rsplit("::", 1)[-1] for head in heads}
        is_pattern = self.code[:place].endswith(("== ", "!= ")) or re.match(r"\s*(=>|\| |==)", self.code[self.strings[place] :])
        return not (is_pattern or names & SILENT or heads[0] in SEARCHED)

    def has_format(self, place):
        return self.around[place][0][0].rsplit("::", 1)[-1] in FORMATS

    def decoded(self, place):
        """Returns the letters of a string after escape sequences were replaced, each with its place in the file."""
        opening = re.match(r'[bc]?(r?)(#*)"', self.text[place:])
        begin, end = place + opening.end(), self.strings[place] - 1 - len(opening[2])
        if opening[1]:
            return [(self.text[at], at) for at in range(begin, end)]
        letters = []
        for found in ESCAPED.finditer(self.text, begin, end):
            code = (found[1] or found[2] or "").replace("_", "")
            letter = chr(int(code, 16)) if code else ESCAPES.get(found[3], found[3]) if found[3] else found[0]
            # Join wrapped lines of a long help text with a blank.
            if letter == "\n" and not self.has_format(place) and re.match(r"\S", self.text[found.end() :]) and len(letters) > 100:
                letter = letter if "\n" in [last for last, _ in letters[-100:]] else " "
            if not letter.startswith("\\\n"):
                letters.append((letter, found.start()))
        return letters

    def arguments(self, place):
        """Returns where the arguments of a format string are: those without a name in their order, and those with a name."""
        end = span_of(self.code, self.around[place][0][1])[1] - 1
        begin, depth, ordered, named = self.strings[place], 0, [], {}
        for at in range(begin, end + 1):
            depth += (self.code[at] in "([{") - (self.code[at] in ")]}")
            if at == end or (depth == 0 and self.code[at] == ","):
                if name := re.match(r"\s*(\w+)\s*=(?![=>])", self.code[begin:at]):
                    named[name[1]] = (begin + name.end(), at)
                elif self.code[begin:at].strip():
                    ordered.append((begin, at))
                begin = at + 1
        return ordered, named

    def rendered(self, place, depth=0):
        """Returns a string with an example in place of each placeholder."""
        text = "".join(letter for letter, _ in self.decoded(place))
        if not self.has_format(place):
            return text
        (ordered, named), order = self.arguments(place), itertools.count()

        def example(found):
            if found[1] is None:
                return found[0][0]
            name, digits = found[1].strip() or str(next(order)), re.search(r"\.(\d+)(e?)", found[2] or "")
            if digits:
                return ("4." + "2034567891"[: int(digits[1])]).rstrip(".") + ("e-5" if digits[2] else "")
            if name.isdigit():
                given = self.example(*ordered[int(name)], depth) if int(name) < len(ordered) else self.field(place)
            else:
                given = self.example(*named[name], depth) if name in named else self.variable(name, place, depth)
            before, after = text[: found.start()], text[found.end() :]
            if before.count("`") % 2:
                given = given.replace("`", "")
            if given == "<String>":
                return EXAMPLES["error"] if before.endswith(": ") else "<text>"
            if re.search(r"\d [µsK]", given) and (re.match(r" ?([nmuµ]?s|bytes|MiB|GiB|min|h|[a-z]+s)\b", after) or before.endswith(("run ", "runs "))):
                return "30"
            if re.search(r"standard error( of)? $", before):
                return "0.4 %"
            # A value directly after a word, without a blank, is often an optional ending. Leave it out.
            is_glued = re.search(r"[^\W\d_]{2}$|[)}]$" + ("" if before.count("`") % 2 else "|[`.]$"), before) and re.match(r"[\w<`+]", given)
            return "" if is_glued else given

        return PLACEHOLDER.sub(example, text)

    def example(self, begin, end, depth):
        """Returns an example of the value of an expression."""
        expression = self.text[begin:end].strip()
        if counted := re.search(r'counted\w*\(.*"([\w -]+)",?\s*\)$', expression, re.DOTALL):
            return "3 " + re.sub(r"ss$", "sse", counted[1]) + "s"
        if (choice := self.choice(begin, end, depth)) is not None:
            return choice
        outer = re.match(r"(?:\w+::)*(\w+)\(", expression) or re.search(r"\.(display|len|count)\(\)$", expression)
        if outer and outer[1] in EXAMPLES:
            return EXAMPLES[outer[1]]
        # Find the names of values and functions, but not those of modules and methods.
        names = re.findall(r"[A-Za-z_]\w*", re.sub(r'"[^"]*"|::<[^>]*>|\|[^|]*\||\w+::|\.\w+(?=\()', " ", expression))
        if len(names) == 1:
            return self.variable(names[0], begin, depth)
        meant = [name for name in names if name not in PLAIN] or names or ["value"]
        return next((EXAMPLES[name] for name in reversed(meant) if name in EXAMPLES), f"<{re.sub('^(describe|format|list|explain)_', '', meant[0])}>")

    def choice(self, begin, end, depth):
        """Returns the last of the strings between which an expression chooses, or None if it has none."""
        for place in sorted((place for place in self.strings if begin <= place < end), reverse=True):
            before = self.code[begin:place].rstrip()
            is_result = before.endswith(("=>", "{", "|")) or not before or self.has_format(place)
            if is_result and self.is_shown(place) and self.strings[place] - place > 2 and depth < 3:
                return re.sub(r"\s*\n\s*", " ", self.rendered(place, depth + 1))
        return None

    def variable(self, name, place, depth):
        """Returns an example of the value of a constant of this file or a variable of this function."""
        if name.isupper() and (constant := re.search(rf'\bconst {name}: [^=]+= (?:"(.*)")?', self.text)):
            return constant[1] or "30"
        bound = [found.end() for found in re.finditer(rf"\blet (?:mut )?{name}\b[^=;]*=(?!=)", self.code[:place])][-1:]
        if bound and not re.search(r"^(    )?(pub\S* )?fn ", self.code[bound[0] : place], re.MULTILINE):
            end, level = bound[0], 0
            while end < place and (level or self.code[end] != ";"):
                level += (self.code[end] in "([{") - (self.code[end] in ")]}")
                end += 1
            if end < place and (choice := self.choice(bound[0], end, depth)) is not None:
                return choice
        return EXAMPLES.get(name, f"<{name}>")

    def field(self, place):
        """Returns an example for the only field of the error variant that has this message, by the type of the field."""
        variant = re.search(r"\]\s*(?:#\[[^\n]*\]\s*)*\w+\(\s*(?:#\[\w+\]\s*)?([\w:]+)", self.code[self.strings[place] :])
        name = variant[1].rsplit("::", 1)[-1] if variant else "value"
        return "permission denied" if name.endswith("Error") else EXAMPLES.get(name, f"<{name}>")

    def sentences(self):
        for place in self.strings:
            letters = self.decoded(place)
            text = "".join(letter for letter, _ in letters)
            fixed = PLACEHOLDER.sub(" ", text) if self.has_format(place) else text
            is_test = any(begin <= place < end for begin, end in self.tests)
            if self.is_shown(place) and not is_test and not NO_PROSE.search(fixed):
                places = [place] + [at + 1 for letter, at in letters if letter == "\n"]
                for at, shown, fixed_line in zip(places, self.rendered(place).split("\n"), fixed.split("\n")):
                    if is_prose(shown, fixed_line):
                        yield bisect.bisect_right(self.starts, at), shown.strip()
        yield from self.help()

    def help(self):
        """Yields the paragraphs of documentation that clap prints."""
        for item in HELP.finditer(self.code):
            end = self.end_of_item(item.end())
            begin = item.end() if item[1] == "Parser" else self.code.index("{", item.end())
            docs = [place for place in self.docs if begin < place < end]
            for index, place in enumerate(docs):
                if index == 0 or self.code[docs[index - 1] : place].strip():
                    paragraphs = [[]]
                text = self.text[place + 3 : self.docs[place]].strip()
                paragraphs.append([]) if not text else paragraphs[-1].append((place, text))
                rest = self.code[place : docs[index + 1] if index + 1 < len(docs) else end]
                for paragraph in paragraphs if rest.strip() and not HIDDEN.match(rest) else []:
                    text = " ".join(text for _, text in paragraph)
                    if is_prose(text, text):
                        yield bisect.bisect_right(self.starts, paragraph[0][0]), text


def is_prose(shown, fixed):
    """Returns whether a line is prose. It is given as it is shown, and without its examples."""
    shown, fixed = COMMAND.sub("", shown), COMMAND.sub("", fixed)
    words, own = len(WORD.findall(shown)), len(WORD.findall(fixed))
    return len(TOKEN.findall(shown)) >= 3 and (own >= 2 or (own == 1 and words >= 3)) and not NO_PROSE_LINE.search(fixed)


def sources():
    """Returns the source files of the product, without those of tests."""
    paths = [path for place in [ROOT / "src", *ROOT.glob("crates/*/src")] for path in place.rglob("*.rs")]
    paths = [path for path in paths if NO_PRODUCT not in path.parents and "tests" not in path.parts and not path.stem.endswith("tests")]
    read = [Source(path) for path in sorted(paths)]
    tests = {path for source in read for path in source.files_of_tests()}
    return [source for source in read if source.path not in tests]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draw", type=int, metavar="N", help="print N sentences drawn by lot")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", action="store_true", help="print the number of sentences in each folder")
    said = parser.parse_args()
    found = [
        (source.path.relative_to(ROOT), line, sentence)
        for source in sources()
        for line, sentence in sorted(source.sentences(), key=lambda entry: entry[0])
    ]
    if said.draw is not None:
        drawn = random.Random(said.seed).sample(range(len(found)), min(said.draw, len(found)))
        found = [found[index] for index in sorted(drawn)]
    if said.count:
        counts = collections.Counter(path.parent for path, _, _ in found)
        for folder, count in sorted(counts.items()):
            print(f"{count:6}  {folder}")
        print(f"{len(found):6}  in all")
        return
    for path, line, sentence in found:
        print(f"{path}:{line}\t{sentence}")


if __name__ == "__main__":
    main()
