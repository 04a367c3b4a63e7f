"""The legend: marker, name and value of every series, in the lines there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len

from arena_tui.plotstyle import PlotStyle
from arena_tui.safetext import fit_cells, shorten_middle

Run = tuple[str, int]
"""Text and the number of its ink."""

_SHORTEST_NAME = 6


@dataclass(frozen=True)
class Entry:
    """One series in the legend.

    Attributes:
        marker: Its marker, one character.
        label: Its name, made safe.
        value: The figure behind it.
        ink: Number of its ink.
    """

    marker: str
    label: str
    value: str
    ink: int

    def width(self, name: int) -> int:
        """Return the cells it takes with a name of at most `name` cells."""
        label = min(name, cell_len(self.label))
        return 2 + label + (1 if label else 0) + cell_len(self.value)


def legend_lines(
    entries: Sequence[Entry], width: int, lines: int, style: PlotStyle, plain: int
) -> list[list[Run]]:
    """Return the legend as at most `lines` lines of runs, each of at most `width` cells.

    Names are shortened in the middle when not all fits; what still does not fit is counted.

    Args:
        entries: The series, in order.
        width: Cells of a line.
        lines: Lines at most.
        style: What is drawn with.
        plain: Ink of the figures.
    """
    if not entries or lines < 1 or width < 4:
        return []
    longest = max(cell_len(entry.label) for entry in entries)
    for name in sorted({longest, 24, 16, 12, 8, _SHORTEST_NAME}, reverse=True):
        if name <= longest:
            placed = _place(entries, width, lines, name)
            if len(placed) == len(entries):
                break
    else:
        name = min(longest, _SHORTEST_NAME)
        placed = _place(entries, width, lines, name)
    left_out = len(entries) - len(placed)
    if left_out:
        # The last line gives room for the count.
        placed = _place(entries, width, lines, name, reserve=len(f"+{len(entries)}") + 2)
        left_out = len(entries) - len(placed)
    rows: list[list[Run]] = [[] for _ in range(max(placed, default=0) + 1)]
    for entry, line in zip(entries, placed, strict=False):
        rows[line].extend(_runs(entry, name, width, bool(rows[line]), style, plain))
    if left_out:
        count = f"  +{left_out}"
        if sum(cell_len(text) for text, _ in rows[-1]) + len(count) > width:
            rows.append([])  # room is kept at the end of the last line only, and this is none
        rows[-1].append((count[0 if rows[-1] else 2 :], plain))
    return rows


def _place(
    entries: Sequence[Entry], width: int, lines: int, name: int, reserve: int = 0
) -> list[int]:
    """Return the line of every entry that fits, in order."""
    placed: list[int] = []
    line, used = 0, 0
    for entry in entries:
        needed = min(entry.width(name), width)
        gap = 2 if used else 0
        limit = width - (reserve if line == lines - 1 else 0)
        if used + gap + needed > limit:
            line, used, gap = line + 1, 0, 0
            limit = width - (reserve if line == lines - 1 else 0)
            if line >= lines or needed > limit:
                break
        placed.append(line)
        used += gap + needed
    return placed


def _runs(
    entry: Entry, name: int, width: int, behind: bool, style: PlotStyle, plain: int
) -> list[Run]:
    room = width - 2 - cell_len(entry.value) - 1
    label = style.text(shorten_middle(entry.label, max(0, min(name, room))))
    value = style.text(fit_cells(entry.value, width - 2))
    runs: list[Run] = [("  ", plain)] if behind else []
    runs.append((f"{entry.marker} {label}{' ' if label else ''}", entry.ink))
    runs.append((value, plain))
    return runs
