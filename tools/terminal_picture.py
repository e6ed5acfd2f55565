#!/usr/bin/env python3
"""Draws what a command prints in a terminal, as an SVG file that refers to no other files.

    tools/terminal_picture.py OUT.svg [--columns N] [--shown TEXT] [--without REGEX] -- COMMAND [ARGUMENT...]

Runs the command in a terminal of N columns (default: 110), so that it prints in color, and draws the screen as it is at the end. Lines that a
progress bar has overwritten are not in the picture. TEXT is shown after the prompt instead of the command, and lines that match REGEX are left out.
Works on Linux and macOS, with Python 3.11 or later.
"""

import argparse
import codecs
import fcntl
import html
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import unicodedata

CELL, LINE, SIZE, EDGE = 8.4, 19, 14, 18
INK, PAPER, DIM = "#d8dee9", "#1e222a", 0.6
COLOURS = ["#4c566a", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#d8dee9"]
SEQUENCE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b\][^\x07]*\x07|\x1b.|[\r\n\b]|[^\x1b\r\n\b]")
FONT = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"


def printed(command, columns):
    """Runs a command in a terminal of its own. Returns what it writes there, and its exit status."""
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", 60, columns, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": str(columns)}
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(command, stdin=child, stdout=child, stderr=child, env=environment, start_new_session=True)
    os.close(child)
    decoder, text = codecs.getincrementaldecoder("utf-8")("replace"), ""
    while True:
        try:
            piece = os.read(parent, 65536)
        except OSError:  # On Linux, this error means that no process has the other end open any longer.
            piece = b""
        if not piece:
            return text, process.wait()
        text += decoder.decode(piece)


def style(codes, old):
    """Returns the style that results from an old style and a sequence of codes for colors and weights (SGR)."""
    new, codes = dict(old), [int(code or 0) for code in codes.split(";")]
    while codes:
        code = codes.pop(0)
        if code == 0:
            new = {}
        elif code in (1, 2, 4):
            new[{1: "bold", 2: "dim", 4: "underline"}[code]] = True
        elif code == 22:
            new.pop("bold", None), new.pop("dim", None)
        elif 30 <= code <= 37 or 90 <= code <= 97:
            new["colour"] = COLOURS[code % 10]
        elif code == 38 and codes[:1] == [5]:
            new["colour"] = COLOURS[codes[1] % 8] if codes[1] < 16 else INK
            del codes[:2]
        elif code == 39:
            new.pop("colour", None)
    return new


def screen(text):
    """Returns the lines of the screen at the end. Each line is a list of characters with their styles."""
    lines, row, column, now = [[]], 0, 0, {}
    for match in SEQUENCE.finditer(text):
        found, (codes, letter) = match.group(), match.groups()
        if found == "\n":
            row += 1
            lines.extend([] for _ in range(row + 1 - len(lines)))
        elif found == "\r":
            column = 0
        elif found == "\b":
            column = max(0, column - 1)
        elif letter == "m":
            now = style(codes, now)
        elif letter == "K":
            del lines[row][0 if codes == "2" else column :]
        elif letter == "A":
            row = max(0, row - int(codes or 1))
        elif letter == "G":
            column = int(codes or 1) - 1
        elif letter == "J":
            del lines[row][column:], lines[row + 1 :]
        elif not found.startswith("\x1b") and not unicodedata.combining(found):
            line = lines[row]
            line.extend((" ", {}) for _ in range(column + 1 - len(line)))
            line[column] = (found, now)
            column += 1
    while lines and not "".join(c for c, _ in lines[-1]).strip():
        lines.pop()
    return lines


def drawn(line):
    """Splits a line into spans that have one style and no wide gaps. Each span has its own position, so that columns line up in every font."""
    spans = []
    for column, (character, now) in enumerate(line):
        if spans and spans[-1][2] == now:
            spans[-1][1] += character
        else:
            spans.append([column, character, now])
    for column, text, now in spans:
        looks = f' fill="{now["colour"]}"' if "colour" in now else ""
        looks += ' font-weight="bold"' if "bold" in now else ""
        looks += f' opacity="{DIM}"' if "dim" in now else ""
        for part in re.finditer(r"\S+(?: \S+)*", text):
            x, width = EDGE + (column + part.start()) * CELL, len(part.group()) * CELL
            yield f'<tspan x="{x:.1f}" textLength="{width:.1f}"{looks}>{html.escape(part.group(), quote=False)}</tspan>'


def picture(lines):
    width = max(len(line) for line in lines) * CELL + 2 * EDGE
    height = len(lines) * LINE + 2 * EDGE
    title = html.escape("".join(c for c, _ in lines[0]))
    rows = [f'<text y="{EDGE + (row + 0.75) * LINE:.1f}">{"".join(drawn(line))}</text>' for row, line in enumerate(lines) if line]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img" aria-label="A terminal: {title}">'
    paper = f'<rect width="100%" height="100%" rx="8" fill="{PAPER}"/>'
    return "\n".join([head, paper, f'<g font-family="{FONT}" font-size="{SIZE}" fill="{INK}" text-rendering="geometricPrecision">', *rows, "</g>", "</svg>", ""])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("out")
    arguments.add_argument("--columns", type=int, default=110)
    arguments.add_argument("--shown")
    arguments.add_argument("--without", type=re.compile)
    arguments.add_argument("command", nargs="+")
    given = arguments.parse_args()
    text, status = printed(given.command, given.columns)
    shown = given.shown or " ".join(given.command)
    lines = screen(f"\x1b[1m$ {shown}\x1b[0m\r\n{text}")
    if given.without:
        lines = [line for line in lines if not given.without.search("".join(c for c, _ in line))]
    with open(given.out, "w", encoding="utf-8") as file:
        file.write(picture(lines))
    print(f"{given.out}: {len(lines)} lines, the command ended with {status}", file=sys.stderr)


if __name__ == "__main__":
    main()
