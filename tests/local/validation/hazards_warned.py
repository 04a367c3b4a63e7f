"""Environments that are odd and can be trained on, by hazard, with the warnings they get."""

from __future__ import annotations

from tests.local.validation.sources import at_start, returning, walk

WARNED: dict[str, tuple[str, dict[str, list[str]]]] = {
    "a list for an array": (
        walk(look="        return [self.at / self.size, self.steps / 50]\n"),
        {
            check: [
                "The observation is a list, not a NumPy array. Return np.asarray(…,"
                " dtype=np.float32)."
            ]
            for check in ("Reset", "Step")
        },
    ),
    "the same array again": (
        walk(
            init="    def __init__(self, size=10):\n"
            "        self.buffer = np.zeros(2, np.float32)\n",
            look="        self.buffer[:] = self.at / self.size, self.steps / 50\n"
            "        return self.buffer\n",
        ),
        {
            "Step": [
                "step changes the observation that it returned before, so whoever keeps one finds"
                " it altered. Return a copy: self._state.copy()."
            ]
        },
    ),
    "a flag that is a number": (
        returning(terminated="int(self.at == self.size)"),
        {"Step": ["terminated is an int, not a bool. Return bool(terminated)."]},
    ),
    "an unbounded observation": (
        walk(space="spaces.Box(-np.inf, np.inf, (2,), np.float32)"),
        {"Observation space limits": ["observation_space is unbounded in 2 of 2 elements."]},
    ),
    "actions far from the unit interval": (
        walk(
            actions="spaces.Box(0.0, 255.0, (1,), np.float32)",
            step_head="    def step(self, action):\n        action = action[0] > 99\n",
        ),
        {
            "Action space limits": [
                "action_space runs from 0 to 255; policies learn more easily when actions run from"
                " -1 to 1."
            ]
        },
    ),
    "spaces that no algorithm takes": (
        walk(
            space="spaces.Tuple((spaces.Discrete(11), spaces.Text(5)))",
            look='        return (self.at, "abc")\n',
        ),
        {
            "Observation space limits": [
                "observation_space[1] is a Text space: Gymnasium has it, but no algorithm here can"
                " train on it."
            ]
        },
    ),
    "a method seed": (
        walk() + "    def seed(self, seed=None):\n        return [seed]\n",
        {
            "Seed deprecation": [
                "The method seed() (env.py:28) is of the old API and is never called. Seed in"
                " reset(seed=…)."
            ]
        },
    ),
    "return_info": (
        walk(
            reset_head="    def reset(self, *, seed=None, options=None, return_info=True):\n"
            "        super().reset(seed=seed)\n"
        ),
        {
            "Reset return info deprecation": [
                "reset (env.py:19) takes return_info, which is of the old API. Always return"
                " (observation, info)."
            ]
        },
    ),
    "every episode is one step": (
        returning(terminated="True"),
        {
            "Episode lifecycle": [
                "Every episode ended at its first step, so there is nothing to learn from later"
                " ones."
            ]
        },
    ),
    "a process that outlives close": (
        at_start("import subprocess", "self.kid = subprocess.Popen(['sleep', '60'])"),
        {"Episode lifecycle": ["close() leaves 1 process(es) running: sleep."]},
    ),
    "cannot be closed twice": (
        walk() + "    def close(self):\n        del self.at\n",
        {"Episode lifecycle": ["Closing twice raised AttributeError; trainers may do that."]},
    ),
    "makes a new generator at every reset": (
        walk(
            reset_head="    def reset(self, *, seed=None, options=None):\n"
            "        self.random = np.random.default_rng(seed)\n",
            start="int(self.random.integers(0, 1_000)) / 100",
            step_return="        return self.look(), -0.1, False, self.steps >= 50, {}\n",
        ),
        {
            "Reset seed": [
                "reset() (env.py:19) after reset(seed=123) is not determined by that seed. Make a"
                " new generator only when seed is not None.",
                "reset (env.py:19) does not call super().reset(seed=seed), so self.np_random is not"
                " seeded.",
            ]
        },
    ),
    "frames that cannot be drawn": (
        walk(init="    def __init__(self, size=10, render_mode=None):\n").replace(
            '"render_modes": []', '"render_modes": ["rgb_array"]'
        )
        + "    def render(self):\n        return np.zeros((4, 4), np.float32)\n",
        {
            "Episode lifecycle": [
                "render() returned float32 (4, 4), not a uint8 array of shape (height, width, 3)."
            ]
        },
    ),
}
