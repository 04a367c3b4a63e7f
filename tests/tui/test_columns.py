"""Metrics of a run as columns: appended, replaced where a resumed run did steps again."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tui_canned import metrics

from arena_tui.stores.columns import Column, RunColumns, as_float, flatten, spread


def report(generation, member=0, **more):
    return {
        "generation": generation,
        "member": member,
        "steps": generation * 100,
        "total_steps": generation * 200,
        "fitness": float(generation),
        "losses": {"loss": 1.0 / generation},
        "hyperparameters": {"lr": 0.1},
        **more,
    }


def test_a_column_grows_and_keeps_its_values():
    column = Column()
    for value in range(1000):
        column.append(value)
    assert len(column) == 1000
    assert np.array_equal(column.values, np.arange(1000.0))
    column.truncate(10)
    assert np.array_equal(column.values, np.arange(10.0))


def test_words_for_what_json_cannot_hold():
    assert math.isnan(as_float("NaN"))
    assert as_float("Infinity") == math.inf
    assert as_float("-Infinity") == -math.inf
    assert math.isnan(as_float(None))
    assert math.isnan(as_float("words"))


def test_losses_and_hyperparameters_are_metrics_of_their_own():
    names = set(flatten(report(1)))
    assert {"fitness", "loss", "lr"} <= names
    assert not {"member", "generation", "steps"} & names


def test_a_generation_that_is_done_again_replaces_what_was_there():
    columns = RunColumns()
    for generation in (1, 2, 3, 4):
        columns.add(report(generation), 0.0)
    before = columns.version
    columns.add(report(3, fitness=99.0), 1.0)
    (_, x, y) = next(iter(columns.series("fitness", "generation")))
    assert x.tolist() == [1, 2, 3]
    assert y.tolist() == [1, 2, 99]
    assert columns.version > before


@given(st.lists(st.tuples(st.integers(1, 6), st.integers(0, 3)), max_size=12), st.booleans())
def test_a_resumed_run_is_one_line(turns, told):
    """Each turn trains up to a generation with members of its own, from a checkpoint before."""
    columns, kept = RunColumns(), []
    reached = 0
    for number, (generations, back) in enumerate(turns):
        start = max(0, reached - back)
        if told:
            columns.rewind(start)
        kept = [item for item in kept if item[0] <= start]
        for generation in range(start + 1, start + generations + 1):
            # The elite keeps its id; the other is new in every turn.
            for member in (0, 100 * number + generation):
                fitness = 10.0 * number + generation
                columns.add(report(generation, member, fitness=fitness), 0.0)
                kept.append((generation, member, fitness))
        reached = start + generations
    seen = [
        (int(x), member, float(y))
        for member, xs, ys in columns.series("fitness", "generation")
        for x, y in zip(xs, ys, strict=True)
    ]
    assert sorted(seen) == sorted(kept)
    lines = spread(columns, "fitness", "steps")
    assert (np.diff(lines.x) > 0).all()
    best = {generation: fitness for generation, _, fitness in kept}
    assert lines.best.tolist() == [best[generation] for generation in range(1, reached + 1)]


def test_a_metric_that_comes_late_is_a_gap_before():
    columns = RunColumns()
    columns.add(report(1), 0.0)
    columns.add(report(2, losses={"loss": 0.5, "entropy": 2.0}), 0.0)
    (_, _, y) = next(iter(columns.series("entropy", "steps")))
    assert math.isnan(y[0])
    assert y[1] == 2.0


def test_the_spread_over_the_members_of_a_generation():
    columns = RunColumns()
    for generation in (1, 2):
        for member in range(3):
            columns.add(report(generation, member, fitness=10.0 * generation + member), 0.0)
    found = spread(columns, "fitness", "steps")
    assert found.x.tolist() == [100, 200]
    assert found.best.tolist() == [12, 22]
    assert found.mean.tolist() == [11, 21]
    assert found.low.tolist() == [10, 20]
    assert found.high.tolist() == [12, 22]
    # The best of another metric is that of the fittest member.
    losses = spread(columns, "loss", "steps")
    assert losses.best.tolist() == [1.0, 0.5]


def test_a_generation_without_a_value_is_a_gap():
    columns = RunColumns()
    columns.add(report(1, fitness=None), 0.0)
    columns.add(report(2), 0.0)
    found = spread(columns, "fitness", "steps")
    assert math.isnan(found.mean[0])
    assert math.isnan(found.low[0])
    assert found.mean[1] == 2.0


def test_a_member_goes_on_where_its_parent_was():
    columns = RunColumns()
    for record in metrics(6):
        columns.add(record["data"], record["time"])
    x, y = columns.line(5, "fitness", "generation")
    assert x.tolist() == [1, 2, 3, 4, 5, 6]
    assert np.isfinite(y).all()


def test_a_lineage_that_bites_its_tail_ends():
    columns = RunColumns()
    columns.add(report(1, 0, parent=1), 0.0)
    columns.add(report(1, 1, parent=0), 0.0)
    x, _ = columns.line(0, "fitness", "generation")
    assert len(x) == 1


def test_relative_places_count_from_the_first_report_of_the_run():
    columns = RunColumns()
    columns.add(report(2, 0), 500.0)
    columns.add(report(2, 1), 510.0)
    columns.add(report(5, 1), 560.0)
    found = {member: x.tolist() for member, x, _ in columns.series("fitness", "relative_steps")}
    assert found == {0: [0.0], 1: [0.0, 300.0]}
    assert spread(columns, "fitness", "relative_time").x.tolist() == [10.0, 60.0]
    assert math.isnan(RunColumns().origin("steps"))
