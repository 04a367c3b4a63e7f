"""The family tree of members: everybody once, parents before children, branches that join up."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from arena_tui.stores.columns import RunColumns
from arena_tui.stores.lineage import DEEPEST, MOST_WHOLE, ancestors, tree

# A parent for each member but the first, by its place among those before.
FAMILIES = st.lists(st.none() | st.integers(0, 40), max_size=60)


def family(parents):
    """Return the columns of members 0, 1, …, each born a generation after the one before."""
    columns = RunColumns()
    for member, parent in enumerate(parents):
        columns.add(
            {"member": member, "parent": parent, "generation": member + 1, "fitness": member / 2}, 0
        )
    return columns


def parents_of(choices):
    return [None if at == 0 or c is None else c % at for at, c in enumerate(choices)]


@given(FAMILIES)
def test_everybody_is_there_once_and_after_the_parent(choices):
    parents = parents_of(choices)
    leaves = tree(family(parents))
    order = [leaf.member for leaf in leaves]
    assert sorted(order) == list(range(len(parents)))
    for leaf in leaves:
        assert leaf.parent == parents[leaf.member]
        if leaf.parent is not None:
            assert order.index(leaf.parent) < order.index(leaf.member)
    assert [leaf.member for leaf in leaves if leaf.alive] == ([len(parents) - 1] if parents else [])


@given(FAMILIES)
def test_only_children_stand_below_their_parent_and_others_branch(choices):
    parents = parents_of(choices)
    leaves = {leaf.member: leaf for leaf in tree(family(parents))}
    for leaf in leaves.values():
        siblings = [m for m, p in enumerate(parents) if p is not None and p == leaf.parent]
        if leaf.parent is None:
            assert leaf.branch == ""
        elif len(siblings) == 1:
            assert not leaf.branch.endswith("─")
        else:
            assert leaf.branch.endswith("└─" if leaf.member == max(siblings) else "├─")
        assert len(leaf.branch) <= 2 * DEEPEST + len("+60 ")


@given(FAMILIES, st.integers(0, 70))
def test_ancestors_lead_to_the_first(choices, member):
    parents = parents_of(choices)
    line = ancestors(family(parents), member)
    if member >= len(parents):
        assert line == []
        return
    assert line[0] == member
    assert parents[line[-1]] is None
    assert all(parents[child] == parent for child, parent in itertools.pairwise(line))


def test_how_it_is_drawn():
    leaves = tree(family([None, 0, 0, 1, 2, 4, 4]))
    drawn = [f"{leaf.branch}{leaf.member}" for leaf in leaves]
    assert drawn == ["0", "├─1", "│ 3", "└─2", "  4", "  ├─5", "  └─6"]


def test_of_very_many_only_the_living_and_their_ancestors_are_drawn():
    count = 50 * MOST_WHOLE
    leaves = tree(family([None if at < 2 else at - 2 for at in range(count)]))
    assert [leaf.member for leaf in leaves] == list(range(1, count, 2))
    assert {leaf.branch for leaf in leaves} == {""}


def test_a_line_that_bites_its_tail_is_drawn_once():
    columns = family([None, 2, 1])
    columns.members[1].parent, columns.members[2].parent = 2, 1
    assert [leaf.member for leaf in tree(columns)] == [0, 1, 2]
