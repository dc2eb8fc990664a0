"""Makes a picture (SVG) of a terminal's screen, as `tmux capture-pane -e -p` prints it. Usage: picture.py < SCREEN > SVG"""

import re
import sys
from collections import Counter
from html import escape
from itertools import groupby
from unicodedata import east_asian_width

CELL, LINE, SIZE, MARGIN = 8.4, 18, 14, 10
PAPER, INK = "#14161b", "#d5d8de"   # of a terminal without colours of its own
BASIC = (
    "#14161b #e06c75 #98c379 #e5c07b #61afef #c678dd #56b6c2 #c8ccd4"
    " #5c6370 #ff7b86 #b5e08d #ffd98a #7cc3ff #dd9bf2 #7fdbe6 #ffffff"
).split()


def indexed(number):
    """A colour of the palette of 256: 16 names, a cube of 6, 24 greys."""
    if number < 16:
        return BASIC[number]
    if number > 231:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    levels = [0, 95, 135, 175, 215, 255]
    red, green, blue = (number - 16) // 36, (number - 16) // 6 % 6, (number - 16) % 6
    return f"#{levels[red]:02x}{levels[green]:02x}{levels[blue]:02x}"


def styled(style, sequence):
    """The style after an escape sequence: (ink, paper, bold, reverse). Underlines are left out."""
    ink, paper, bold, reverse = style
    parts = [part for part in sequence.split(";") if not part.startswith(("4:", "58:"))]
    codes = iter([int(code or 0) for part in parts for code in part.replace("::", ":").split(":")])
    for code in codes:
        if code == 0:
            ink, paper, bold, reverse = None, None, False, False
        elif code in (1, 22):
            bold = code == 1
        elif code in (7, 27):
            reverse = code == 7
        elif code in (38, 48, 58):
            kind = next(codes)
            colour = indexed(next(codes)) if kind == 5 else f"#{next(codes):02x}{next(codes):02x}{next(codes):02x}"
            ink = colour if code == 38 else ink
            paper = colour if code == 48 else paper
        elif 30 <= code <= 37 or 90 <= code <= 97:
            ink = BASIC[code - 30 if code < 90 else code - 82]
        elif 40 <= code <= 47 or 100 <= code <= 107:
            paper = BASIC[code - 40 if code < 100 else code - 92]
        elif code == 39:
            ink = None
        elif code == 49:
            paper = None
    return ink, paper, bold, reverse


def cells(line, style):
    """The characters of a line with their styles and columns, and the style that goes on."""
    drawn, column = [], 0
    for part in re.split(r"(\x1b\[[0-9;:]*m)", re.sub(r"\x1b\][^\x07\x1b]*(\x07|\x1b\\)", "", line)):
        if part.startswith("\x1b["):
            style = styled(style, part[2:-1])
            continue
        for character in part:
            drawn.append((column, character, style))
            column += 2 if east_asian_width(character) in "WF" else 1
    return drawn, style


def row(number, drawn, ground):
    """The elements of one line: the papers that differ from the ground, then the texts."""
    top = MARGIN + number * LINE
    papers, texts = [], []
    for (ink, paper, bold, reverse), group in groupby(drawn, key=lambda cell: cell[2]):
        group = list(group)
        ink, paper = ink or INK, paper or PAPER
        if reverse:
            ink, paper = paper, ink
        left = MARGIN + group[0][0] * CELL
        if paper != ground:
            papers.append(f'<rect x="{left:.1f}" y="{top}" width="{len(group) * CELL:.1f}" height="{LINE}" fill="{paper}"/>')
        text = escape("".join(cell[1] for cell in group))
        if text.strip():
            text = text.replace(" ", "&#160;")
            weight = ' font-weight="bold"' if bold else ""
            texts.append(
                f'<text x="{left:.1f}" y="{top + SIZE}" fill="{ink}"{weight}'
                f' textLength="{len(group) * CELL:.1f}">{text}</text>'
            )
    return papers + texts


def main():
    lines = sys.stdin.read().rstrip("\n").split("\n")
    style, screen = (None, None, False, False), []
    for line in lines:
        drawn, style = cells(line, style)
        screen.append(drawn)
    papers = Counter(paper or PAPER for drawn in screen for _, _, (_, paper, _, _) in drawn)
    ground = papers.most_common(1)[0][0] if papers else PAPER
    rows = [element for number, drawn in enumerate(screen) for element in row(number, drawn, ground)]
    width = max(drawn[-1][0] + 1 for drawn in screen if drawn)
    width, height = 2 * MARGIN + width * CELL, 2 * MARGIN + len(lines) * LINE
    print(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" font-size="{SIZE}"'
        f' font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" style="white-space: pre">'
    )
    print(f'<rect width="100%" height="100%" rx="6" fill="{ground}"/>')
    print("\n".join(rows) + "\n</svg>")


if __name__ == "__main__":
    main()
