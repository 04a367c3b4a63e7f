"""The family tree of a run's members, in the order and with the branches that it is drawn with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from arena_tui.stores.columns import MemberRows, RunColumns

MOST_WHOLE = 200
"""With more members than this, only those alive and their ancestors are drawn."""
DEEPEST = 6
"""Levels of branches that are drawn; what is deeper says how deep."""


@dataclass(frozen=True)
class Leaf:
    """One member in the tree.

    Attributes:
        member: Its id.
        parent: Its parent's, or None.
        born: The first generation that it reported.
        mutation: What it got when it was made, or None.
        fitness: The last it reported, NaN when none.
        alive: Whether it is among the last generation.
        branch: The lines in front of it, as `│ ├─`; an only child stands right below its parent.
    """

    member: int
    parent: int | None
    born: int
    mutation: str | None
    fitness: float
    alive: bool
    branch: str


def tree(columns: RunColumns) -> list[Leaf]:
    """Return the members of a run, parents before their children, the oldest first."""
    shown = _shown(columns)
    children: dict[int | None, list[int]] = {}
    for member in shown:
        parent = columns.members[member].parent
        known = parent if parent in shown and parent != member else None
        children.setdefault(known, []).append(member)
    last = columns.generation
    walk = _walk(children, sorted(shown))
    return [_leaf(columns.members[member], last, branch) for member, branch in walk]


def ancestors(columns: RunColumns, member: int | None) -> list[int]:
    """Return a member and those that it comes from, itself first; nothing for None."""
    line: list[int] = []
    while member is not None and member not in line and member in columns.members:
        line.append(member)
        member = columns.members[member].parent
    return line


def _shown(columns: RunColumns) -> set[int]:
    if len(columns.members) <= MOST_WHOLE:
        return set(columns.members)
    return _with_ancestors(columns, (rows.member for rows in columns.living))


def _with_ancestors(columns: RunColumns, living: Iterable[int]) -> set[int]:
    found: set[int] = set()
    for member in living:
        at: int | None = member
        while at is not None and at not in found and at in columns.members:
            found.add(at)
            at = columns.members[at].parent
    return found


def _walk(children: dict[int | None, list[int]], everyone: list[int]) -> Iterator[tuple[int, str]]:
    """Yield (member, branch) from the roots down, without recursion: lines may be long."""
    seen: set[int] = set()
    # A line that bites its tail has no root; it begins at whichever of it is the oldest.
    for root in [*sorted(children.get(None, ())), *everyone]:
        stack: list[tuple[int, tuple[bool, ...], bool]] = [(root, (), False)]
        while stack:
            member, place, is_only = stack.pop()
            if member in seen:
                continue
            seen.add(member)
            yield member, _branch(place, is_only)
            below = sorted(children.get(member, ()))
            only = len(below) == 1
            for child in reversed(below):
                stack.append((child, place if only else (*place, child == below[-1]), only))


def _branch(place: tuple[bool, ...], is_only: bool) -> str:
    """Return the lines in front of a member.

    Args:
        place: Of every level above, whether it is the last there.
        is_only: Whether it is an only child, which stands right below its parent.
    """
    hidden = max(0, len(place) - DEEPEST)
    lines = ["  " if last else "│ " for last in place[hidden:]]
    if lines and not is_only:
        lines[-1] = "└─" if place[-1] else "├─"
    return (f"+{hidden} " if hidden else "") + "".join(lines)


def _leaf(rows: MemberRows, last: int, branch: str) -> Leaf:
    generations = rows.columns["generation"].values
    fitness = rows.columns.get("fitness")
    return Leaf(
        rows.member,
        rows.parent,
        int(generations[0]) if len(generations) else 0,
        rows.mutations[0][1] if rows.mutations else None,
        float(fitness.values[-1]) if fitness is not None and len(fitness) else float("nan"),
        rows.generation == last,
        branch,
    )
