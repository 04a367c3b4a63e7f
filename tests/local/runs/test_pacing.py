"""The remote control of a play session."""

from __future__ import annotations

import contextlib
import threading
import time

import pytest

from arena_sdk.local.playing.pacing import Pacer, Reset, Stopped


def test_unlimited_speed_does_not_wait() -> None:
    pacer = Pacer()
    started = time.monotonic()
    for _ in range(10_000):
        assert pacer.wait() is None
    assert time.monotonic() - started < 2


def test_steps_come_at_the_speed_that_was_asked_for() -> None:
    pacer = Pacer(100)
    pacer.wait()
    started = time.monotonic()
    for _ in range(20):
        pacer.wait()
    assert 0.17 < time.monotonic() - started < 1


def test_a_slow_step_is_not_made_up_for() -> None:
    pacer = Pacer(50)
    pacer.wait()
    time.sleep(0.3)
    started = time.monotonic()
    for _ in range(6):
        pacer.wait()
    assert time.monotonic() - started > 0.07


def test_pause_step_and_resume() -> None:
    pacer = Pacer(paused=True)
    steps: list[int] = []

    def play() -> None:
        with contextlib.suppress(Stopped):
            while True:
                pacer.wait()
                steps.append(1)
                time.sleep(0.001)

    player = threading.Thread(target=play)
    player.start()
    time.sleep(0.05)
    assert not steps
    pacer.command({"cmd": "step"})
    pacer.command({"cmd": "step"})
    time.sleep(0.1)
    assert len(steps) == 2
    pacer.command({"cmd": "resume"})
    time.sleep(0.1)
    assert len(steps) > 5
    pacer.command({"cmd": "stop"})
    player.join(2)
    assert not player.is_alive()


def test_reset_is_heard_while_paused() -> None:
    pacer = Pacer(paused=True)
    assert pacer.command({"cmd": "reset", "seed": 4}) is None
    assert pacer.wait() == Reset(4)


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ({"cmd": "fly"}, "fly"),
        ({}, "None"),
        ({"cmd": "speed"}, "steps_per_second"),
        ({"cmd": "speed", "steps_per_second": -1}, "steps_per_second"),
        ({"cmd": "speed", "steps_per_second": float("nan")}, "steps_per_second"),
        ({"cmd": "speed", "steps_per_second": "fast"}, "steps_per_second"),
        ({"cmd": "reset", "seed": "x"}, "seed"),
        ({"cmd": "reset", "seed": -3}, "seed"),
    ],
)
def test_what_makes_no_sense_is_answered(command: dict[str, object], says: str) -> None:
    problem = Pacer().command(command)
    assert problem is not None
    assert says in problem
