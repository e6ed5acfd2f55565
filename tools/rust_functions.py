"""Finds where the functions of a Rust file begin and end, for tools that change sources at random.

The scanner recognizes comments, strings and characters, and counts brackets. It cannot expand macros, so functions in `macro_rules!` are left out.
"""

import bisect
import dataclasses
import re

# Text that is not code: strings, and characters, which must not be confused with lifetimes. The functions below find comments.
RAW_STRING = re.compile(r'(?:b|c)?r(#*)"')
STRING = re.compile(r'(?:b|c)?"(?:[^"\\]|\\.)*"', re.DOTALL)
CHARACTER = re.compile(r"b?'(?:[^'\\\n]|\\(?:x[0-9a-fA-F]{2}|u\{[0-9a-fA-F_]+\}|.))'")
COMMENT_BOUND = re.compile(r"/\*|\*/")
WORD = re.compile(r"(?:r#)?\w+")

HEAD = re.compile(r"((?:\b(?:const|async|unsafe|default|extern)\s+(?:\x00+\s*)?)*)\bfn\s+(?:r#)?(\w+)")
# An `impl` or `trait` item. Its head names the type and the trait to which its functions belong.
ITEM = re.compile(r"(?:^|(?<=[;{}\]\s]))(?:impl|trait)\b(?=[\s<])")
MACRO = re.compile(r"\bmacro_rules!\s*\w+\s*(?=[{(\[])")
BRACKETS = {"(": ")", "[": "]", "{": "}"}


@dataclasses.dataclass(frozen=True)
class Function:
    """A function with a body into which statements can be inserted."""

    file: str
    name: str
    # The names of the type and of the trait that it belongs to.
    owners: tuple[str, ...]
    # Its first line, the line of the bracket at the beginning of its body, and its last line.
    line: int
    body_line: int
    last: int
    # The offset of the bracket at the beginning of its body.
    body: int
    # Whether the function is neither const nor async.
    is_plain: bool


def functions_of(path, top):
    """Returns the functions of this file, in the order in which they begin."""
    code = code_of(path.read_text())
    lines = [place for place, letter in enumerate(code) if letter == "\n"]
    macros = [span_of(code, found.end()) for found in MACRO.finditer(code)]
    items = list(owners_of(code))
    found = []
    for head in HEAD.finditer(code):
        body = body_after(code, head.end())
        if body is None or any(begin <= head.start() < end for begin, end in macros):
            continue
        end = span_of(code, body)[1]
        around = [owners for begin, last, owners in items if begin < head.start() < last]
        found.append(
            Function(
                file=str(path.relative_to(top)),
                name=head[2],
                owners=around[-1] if around else (),
                line=bisect.bisect_left(lines, head.start(2)) + 1,
                body_line=bisect.bisect_left(lines, body) + 1,
                last=bisect.bisect_left(lines, end) + 1,
                body=body,
                is_plain=not {"const", "async"} & set(head[1].split()),
            )
        )
    return found


def with_statements(text, statements):
    """Returns the text of a file with a statement at the beginning of each of these functions of the file."""
    for function in sorted(statements, key=lambda one: one.body, reverse=True):
        text = text[: function.body + 1] + statements[function] + text[function.body + 1 :]
    return text


def code_of(text):
    """Returns the text with each letter of a string or character replaced by NUL, and each letter of a comment by a blank. Line breaks stay."""
    kept, place = [], 0
    while place < len(text):
        end, fill = without_code(text, place)
        if fill is None:
            kept.append(text[place:end])
        else:
            kept.append("".join("\n" if letter == "\n" else fill for letter in text[place:end]))
        place = end
    return "".join(kept)


def without_code(text, place):
    """Returns where the comment, string or word at this place ends, and the letter that replaces it, which is None for code."""
    if text.startswith("//", place):
        return text.find("\n", place) % (len(text) + 1), " "
    if text.startswith("/*", place):
        return end_of_comment(text, place), " "
    if raw := RAW_STRING.match(text, place):
        closing = text.find(f'"{raw[1]}', raw.end())
        return (len(text) if closing < 0 else closing + 1 + len(raw[1])), "\0"
    if literal := STRING.match(text, place) or CHARACTER.match(text, place):
        return literal.end(), "\0"
    # Skip the whole word, because a letter inside a word (such as `r`) does not begin a string.
    word = WORD.match(text, place)
    return (word.end() if word else place + 1), None


def end_of_comment(text, place):
    depth = 0
    for bound in COMMENT_BOUND.finditer(text, place):
        depth += 1 if bound[0] == "/*" else -1
        if depth == 0:
            return bound.end()
    return len(text)


def span_of(code, begin):
    """Returns the span from this bracket to the end of the bracket that closes it."""
    opening, closing = code[begin], BRACKETS[code[begin]]
    depth = 0
    for place in range(begin, len(code)):
        depth += (code[place] == opening) - (code[place] == closing)
        if depth == 0:
            return begin, place + 1
    return begin, len(code)


def body_after(code, place):
    """Returns the place of the bracket at the beginning of the body, or None if the function is only declared."""
    depth = 0
    while place < len(code):
        letter = code[place]
        if depth == 0 and letter in "{;":
            return place if letter == "{" else None
        depth += (letter in "([") - (letter in ")]")
        place += 1
    return None


def owners_of(code):
    """Yields the bodies of `impl` and `trait` items with the names in their heads, such as `Trait` and `Type` of `impl<T> Trait<T> for Type<T>`."""
    for item in ITEM.finditer(code):
        body = body_after(code, item.end())
        # Skip `impl Trait` in a signature, because the body that follows is that of a function.
        if body is None or code[: item.start()].rstrip()[-1:] in ("(", ",", ":", ">", "<", "&", "=", "+"):
            continue
        head = re.split(r"\bwhere\b|(?<!:):(?!:)", without_generics(code[item.end() : body]))[0]
        sides = [re.findall(r"\w+", side) for side in re.split(r"\bfor\b", head)]
        yield body, span_of(code, body)[1], tuple(words[-1] for words in sides if words)


def without_generics(text):
    """Returns the text without the parts between angle brackets."""
    kept, depth = [], 0
    for place, letter in enumerate(text):
        is_arrow = letter == ">" and text[place - 1 : place] == "-"
        depth += (letter == "<") - (letter == ">" and not is_arrow)
        if depth == 0 and letter != ">":
            kept.append(letter)
    return "".join(kept)
