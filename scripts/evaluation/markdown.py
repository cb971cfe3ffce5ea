"""Markdown that nothing from a suite can break out of."""

import textwrap

from .intervals import interval

LONGEST = 300


def paragraph(text):
    """Words as lines of one paragraph."""
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False) + "\n"


def plain_text(text):
    """One line of bounded length, without control characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in str(text)).split())
    return line if len(line) <= LONGEST else line[: LONGEST - 1] + "…"


def code(text):
    """Code in a sentence or in a cell."""
    return "`" + plain_text(text).replace("`", "'").replace("|", "\\|") + "`"


def cell(text):
    """Words in a cell."""
    line = plain_text(text)
    for mark in "\\`*_<>[]|":
        line = line.replace(mark, "\\" + mark)
    return line


def table(head, rows):
    """Rows of cells that are Markdown already; the first column is text, the others stand right."""
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def block(text):
    """A command as a block of its own, whatever quotes it has."""
    return "    " + plain_text(text) + "\n"


def share(part, whole):
    return f"{part} of {whole} ({100 * part / whole:.0f} %)" if whole else "–"


def estimate(part, whole, digits=0):
    """A share with its 95 % interval."""
    if not whole:
        return "–"
    low, high = (100 * end for end in interval(part, whole))
    return f"{part} of {whole} ({100 * part / whole:.{digits}f} %; {low:.{digits}f} – {high:.{digits}f} %)"


def seconds(spent):
    return f"{spent['wall']:.0f} / {spent['cpu']:.0f}"
