"""How fast an environment is, and what a copy of it costs."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from arena_sdk.local.validation.patient import waited_seconds

SAMPLE_SECONDS = 0.15
MIN_SAMPLES = 4
MAX_SECONDS = 1.2
LEAST_SHARE = 0.02
"""Share of a sample's time that a process is taken to have run at least."""
SPREAD = 0.05
"""Standard error of the samples, relative to their mean, at which measuring stops."""

COPIES = 3
COPY_SECONDS = 1.5
CHEAP_STEP_SECONDS = 200e-6
"""Below this, passing a step to another process costs more than the step."""


def measure(make: Callable[[], Any], pulse: Callable[[], None]) -> dict[str, Any]:
    """Measure an environment with random actions.

    Args:
        make: Makes a new copy.
        pulse: Called between calls of user code.

    Returns:
        `steps_per_second` and its `spread` (standard deviation of the samples, relative),
        `avg_cpu_per_env` and `peak_cpu_per_env` (percent of one core, with all that it started),
        `memory_per_env_gb` (what one more copy adds), `reset_time_ms`, `observation_bytes`,
        `vectorization` (`sync` or `async`), `steps` and `seconds` that were measured.
    """
    env, memory = _memory_of_a_copy(make, pulse)
    driver = _Driver(env, pulse)
    driver.run(0.05)  # warm caches and lazy imports
    samples, cpu = _sample(driver)
    rate = statistics.median(samples)
    resets = driver.reset_times or [0.0]
    result = {
        "steps_per_second": round(rate, 1),
        "spread": round(_spread(samples), 4),
        "avg_cpu_per_env": round(statistics.fmean(cpu), 1),
        "peak_cpu_per_env": round(max(cpu), 1),
        "memory_per_env_gb": round(memory / 1e9, 6),
        "reset_time_ms": round(1e3 * statistics.median(resets), 4),
        "observation_bytes": observation_bytes(driver.observation),
        "vectorization": "sync" if 1 / max(rate, 1e-9) < CHEAP_STEP_SECONDS else "async",
        "steps": driver.steps,
        "seconds": round(driver.seconds, 2),
    }
    env.close()
    return result


def observation_bytes(observation: Any) -> int:
    """Return the size of an observation's arrays and numbers in bytes."""
    if isinstance(observation, dict):
        return sum(observation_bytes(part) for part in observation.values())
    if isinstance(observation, tuple | list):
        return sum(observation_bytes(part) for part in observation)
    if isinstance(observation, str):
        return len(observation.encode())
    return int(np.asarray(observation).nbytes)


class _Driver:
    """Steps an environment with random actions, episode after episode."""

    def __init__(self, env: Any, pulse: Callable[[], None]) -> None:
        self._env = env
        self._pulse = pulse
        self._parallel = hasattr(env, "possible_agents")
        self._live = False
        self._info: Any = {}
        self.observation: Any = None
        self.reset_times: list[float] = []
        self.steps = 0
        self.seconds = 0.0

    def run(self, seconds: float) -> float:
        """Step for some time; return steps a second of the environment alone.

        Choosing actions and resetting are not counted.
        """
        steps = 0
        stepping = 0.0
        until = time.perf_counter() + seconds
        while not steps or time.perf_counter() < until:
            self._pulse()
            if not self._live:
                self._reset()
            action = self._action()
            begun = time.perf_counter()
            result = self._env.step(action)
            stepping += time.perf_counter() - begun
            steps += 1
            self.observation, self._info = result[0], result[4]
            self._live = bool(self._env.agents) if self._parallel else not (result[2] or result[3])
        self.steps += steps
        self.seconds += stepping
        return steps / max(stepping, 1e-9)

    def _reset(self) -> None:
        begun = time.perf_counter()
        self.observation, self._info = self._env.reset()
        self.reset_times.append(time.perf_counter() - begun)
        self._live = True

    def _action(self) -> Any:
        if self._parallel:
            return {agent: self._env.action_space(agent).sample() for agent in self._env.agents}
        space = getattr(self._env, "action_space", None)
        if space is None:
            return self._env.sample_random_action()
        mask = self._info.get("action_mask") if isinstance(self._info, dict) else None
        if mask is not None and type(space).__name__ == "Discrete":
            return space.sample(mask=np.asarray(mask, dtype=np.int8))
        return space.sample()


def _sample(driver: _Driver) -> tuple[list[float], list[float]]:
    """Take samples of the rate until they agree or the time is up, and the CPU's share of each."""
    import psutil

    process = psutil.Process()
    samples: list[float] = []
    cpu: list[float] = []
    begun = time.perf_counter()
    while True:
        wall, busy, waited = time.perf_counter(), _cpu_seconds(process), waited_seconds()
        rate = driver.run(SAMPLE_SECONDS)
        passed = time.perf_counter() - wall
        # While others have the processor, no step is slow; nor is less of the processor taken.
        ran = max(passed - (waited_seconds() - waited), LEAST_SHARE * passed)
        samples.append(rate * passed / ran)
        cpu.append(100 * (_cpu_seconds(process) - busy) / ran)
        doubt = _spread(samples) / float(len(samples)) ** 0.5
        if len(samples) >= MIN_SAMPLES and doubt < SPREAD:
            break
        if time.perf_counter() - begun > MAX_SECONDS:
            break
    return samples, cpu


def _spread(samples: list[float]) -> float:
    """Return the standard deviation of the samples relative to their mean."""
    if len(samples) < 2:
        return 1.0
    return statistics.stdev(samples) / max(statistics.fmean(samples), 1e-9)


def _cpu_seconds(process: Any) -> float:
    import psutil

    total = 0.0
    for member in [process, *process.children(recursive=True)]:
        try:
            times = member.cpu_times()
        except psutil.Error:
            continue
        total += float(times.user + times.system)
    return total


def _memory_of_a_copy(make: Callable[[], Any], pulse: Callable[[], None]) -> tuple[Any, float]:
    """Make several copies; return one, and the bytes that one more adds.

    The first copy pays for imports and caches that all share, so it is not counted.
    """
    begun = time.monotonic()
    first = make()
    _start(first, pulse)
    before = _resident()
    copies = []
    for _ in range(COPIES):
        pulse()
        copy = make()
        _start(copy, pulse)
        copies.append(copy)
        if time.monotonic() - begun > COPY_SECONDS:
            break
    grown = max(0.0, (_resident() - before) / len(copies))
    for copy in copies:
        copy.close()
    return first, grown


def _start(env: Any, pulse: Callable[[], None]) -> None:
    pulse()
    env.reset(seed=0)


def _resident() -> float:
    """Return the memory of this process and its children in bytes."""
    import psutil

    gc.collect()
    process = psutil.Process()
    total = 0.0
    for member in [process, *process.children(recursive=True)]:
        try:
            total += float(member.memory_info().rss)
        except psutil.Error:
            continue
    return total
