"""Further hazards, of kinds that people report of their environments, with what each is told.

`BROKEN` are failures, `ODD` warnings; the source line stands where it is known.
"""

from __future__ import annotations

from typing import Any

from tests.local.validation.sources import (
    HEAD,
    at_start,
    before_step,
    returning,
    walk,
)

SEED_RESET = "    def reset(self, *, seed=None, options=None):\n        super().reset(seed=seed)\n"
FIVE = "(observation, reward, terminated, truncated, info)"
STEP_1 = "at step 1 of the episode with seed 0"
BOTH = ("of reset(seed=0)", STEP_1)


def unseen(problem: str) -> dict[str, str]:
    """Return the failures of an observation that is wrong from the start."""
    return {
        check: f"The observation {when} {problem}"
        for check, when in zip(("Reset", "Step"), BOTH, strict=True)
    }


OWN_BOX = """
class Grid(spaces.Box):
    pass


"""

BROKEN: dict[str, tuple[Any, dict[str, str]]] = {
    "returns the space instead of a value": (
        walk(look="        return self.observation_space\n"),
        unseen("is a space, not a value of one. Return what is seen, as numbers."),
    ),
    "declares another space at reset": (
        walk(
            reset_head=SEED_RESET
            + "        self.observation_space = spaces.Box(0.0, 1.0, (3,), np.float32)\n",
            look="        return np.zeros(self.observation_space.shape, np.float32)\n",
        ),
        dict.fromkeys(
            ("Reset", "Step"),
            "observation_space has become Box(0.0, 1.0, (3,), float32) while the environment"
            " ran, and networks cannot follow. Declare it in __init__, large enough for all that"
            " comes.",
        ),
    ),
    "has a space of a class of its own": (
        walk(imports=HEAD + OWN_BOX, space="Grid(0.0, 1.0, (2,), np.float32)"),
        {
            "Observation space": "observation_space is of the class Grid of env.py, which a trainer"
            " cannot import. Use the spaces of gymnasium.spaces themselves."
        },
    ),
    "keeps its state on the class": (
        walk(
            reset_return="        Walk.shared = 0\n        return self.look(), {}\n",
            step_head="    shared = 0\n\n    def step(self, action):\n        Walk.shared += 1\n",
            look="        return np.array([self.at / self.size, Walk.shared / 500], np.float32)\n",
        ),
        {
            "Episode lifecycle": "A second copy in the same process changes the first:"
            " observation[1] at step 2 is 0.004000000189989805 alone and 0.006000000052154064"
            " beside it. Keep all state on self, not on the class or the module."
        },
    ),
    "asks at the keyboard": (
        before_step("action = int(input('move? '))"),
        {
            "Step": "step(1), step 1 of the episode with seed 0, raised EOFError: EOF when reading"
            " a line (env.py:25). A worker has no keyboard; take what input() asks for from"
            " env_config."
        },
    ),
    "reads the command line when it is imported": (
        "import argparse\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--size', required=True)\nparser.parse_args()\n" + walk(),
        {
            "Environment class path": "Importing env left Python by sys.exit(2) (env.py:4). Put"
            ' what a program does under if __name__ == "__main__".'
        },
    ),
    "has a file name that no import takes": (
        {"my-env.py": walk()},
        {
            "Environment class path": "No class that derives from gymnasium.Env was found in the 1"
            " Python file of the source. Derive one that defines step, or name it with"
            " --entrypoint module:Class. my-env.py cannot be imported by that name; rename it, as"
            " in my_env.py."
        },
    ),
    "steps as a coroutine": (
        walk(step_head="    async def step(self, action):\n"),
        {"Step": f"step (env.py:24) returned a coroutine. Return {FIVE}."},
    ),
    "yields from reset": (
        walk(reset_return="        yield self.look()\n"),
        {
            "Reset return type": "reset (env.py:19) returned only an observation (generator), as in"
            " the old API. Return (observation, info), where info is a dict, which may be empty.",
            "Reset": "The observation of reset(seed=0) is a generator, not a numeric array. Return"
            " np.asarray(…, dtype=np.float32).",
            "Step": "step(1), step 1 of the episode with seed 0, raised AttributeError: 'Walk'"
            " object has no attribute 'at' (env.py:25).",
        },
    ),
    "takes a config as RLlib gives it": (
        walk(init="    def __init__(self, config):\n"),
        {
            "Preliminary environment": "Walk needs the argument 'config'. Give it in"
            " env_config.yaml, or give the parameter a default."
        },
    ),
    "an array of one for a Discrete space": (
        walk(space="spaces.Discrete(11)", look="        return np.array([self.at])\n"),
        unseen("is an array of int64, not an integer. Its space is Discrete(11)."),
    ),
    "counts beyond a Discrete space": (
        walk(
            space="spaces.Discrete(10)",
            look="        return self.at\n",
            start="self.size",
        ),
        unseen("is 10, outside 0 to 9. Its space is Discrete(10)."),
    ),
    "a float picture for a uint8 one": (
        walk(
            space="spaces.Box(0, 255, (4, 4, 3), np.uint8)",
            look="        return np.zeros((4, 4, 3), np.float32)\n",
        ),
        unseen(
            "is float32 where its space declares uint8. Return it .astype(np.uint8), or declare"
            " dtype=np.float32."
        ),
    ),
    "a scalar for an array of one": (
        walk(
            space="spaces.Box(0.0, 1.0, (1,), np.float32)",
            look="        return np.float32(self.at / self.size)\n",
        ),
        unseen("has shape () where its space has (1,). Make the two agree."),
    ),
    "a list of unequal rows": (
        walk(look="        return [[0.0, 0.1], [0.2]]\n"),
        unseen("is a ragged list, not an array. Its space has shape (2,)."),
    ),
    "an array of objects": (
        walk(look="        return np.array([self, None], object)\n"),
        unseen(
            "is an array of object, not a numeric array. Return np.asarray(…, dtype=np.float32)."
        ),
    ),
    "None for an observation": (
        walk(look="        return None\n"),
        unseen("is None, not a numeric array. Return np.asarray(…, dtype=np.float32)."),
    ),
    "a Box whose bounds are the wrong way round": (
        walk(actions="spaces.Box(1.0, -1.0, (1,), np.float32)"),
        {
            "Preliminary environment": "Walk(…) raised ValueError: Box all low values must be less"
            " than or equal to high (some values break this), low=[1.], high=[-1.] (env.py:14)."
        },
    ),
    "recurses without end": (
        before_step("return self.step(action)"),
        {
            "Step": "step(1), step 1 of the episode with seed 0, raised RecursionError: maximum"
            " recursion depth exceeded (env.py:25)."
        },
    ),
    "raises KeyboardInterrupt": (
        before_step("raise KeyboardInterrupt"),
        {
            "Step": "step(1), step 1 of the episode with seed 0, raised KeyboardInterrupt"
            " (env.py:25)."
        },
    ),
    "raises an error whose text cannot be had": (
        "class Mute(Exception):\n    def __str__(self):\n        raise ValueError\n\n"
        + before_step("raise Mute"),
        {
            "Step": "step(1), step 1 of the episode with seed 0, raised Mute: its message cannot be"
            " shown (env.py:29)."
        },
    ),
    "cannot be reset after the end of an episode": (
        walk(
            reset_head="    done = False\n\n"
            + SEED_RESET
            + "        assert not self.done, 'over'\n",
            step_return="        self.done = self.steps >= 50\n"
            "        return self.look(), -0.1, False, self.done, {}\n",
        ),
        {
            "Step": "reset(seed=1) raised AssertionError: over (env.py:23).",
        },
    ),
    "a complex reward": (
        returning(reward="1j"),
        {"Step": f"The reward {STEP_1} is a complex, not a number. Return a float."},
    ),
    "an old Discrete with its own n": (
        walk(actions="2"),
        {
            "Action space": "action_space is a builtins.int, not a gymnasium.spaces.Space. Use one"
            " of gymnasium.spaces, such as Box or Discrete."
        },
    ),
}

ODD: dict[str, tuple[Any, dict[str, list[str]]]] = {
    "the same info again": (
        walk(
            init="    def __init__(self, size=10):\n        self.info = {}\n",
            step_return="        self.info['steps'] = self.steps\n"
            "        return self.look(), -0.1, self.at == self.size, self.steps >= 50, self.info\n",
        ),
        {
            "Step": [
                "step changes the info that it returned before, so whoever keeps one finds it"
                " altered. Return a new dict at every step."
            ]
        },
    ),
    "scales the action that it is given": (
        walk(
            actions="spaces.Box(-1.0, 1.0, (1,), np.float32)",
            step_head="    def step(self, action):\n        action *= 2\n"
            "        action = action[0] > 0\n",
        ),
        {
            "Step": [
                "step changes the action it is given, so whoever keeps one finds it altered. Work"
                " on a copy: action = action.copy()."
            ]
        },
    ),
    "a function in info": (
        returning(info='{"draw": lambda: 1}'),
        {
            "Step": [
                "info['draw'] is a function, which no process can send to another; copies in"
                " processes of their own would fail. Leave it out."
            ]
        },
    ),
    "actions that begin at one": (
        walk(
            actions="spaces.Discrete(2, start=1)",
            step_head="    def step(self, action):\n        action -= 1\n",
        ),
        {
            "Action space limits": [
                "action_space runs from 1 to 2, where agents choose from 0 to 1. Begin it at 0."
            ]
        },
    ),
    "observations that begin below zero": (
        walk(space="spaces.Discrete(12, start=-1)", look="        return self.at\n"),
        {
            "Observation space limits": [
                "observation_space runs from -1 to 10, where networks take 0 to 11. Begin it at 0."
            ]
        },
    ),
    "seeds the global generator": (
        walk(
            reset_head=SEED_RESET + "        np.random.seed(seed)\n",
            start="8 * np.random.rand()",
            step_return="        return self.look(), -0.1, False, self.steps >= 50, {}\n",
        ),
        {
            "Reset seed": [
                "reset() (env.py:19) after reset(seed=123) is not determined by that seed. Make a"
                " new generator only when seed is not None.",
                "reset (env.py:19) uses the generator of np.random, which all copies of the"
                " environment in a process share. Keep a generator on self.",
            ]
        },
    ),
    "a module that hides another": (
        {"env.py": walk(), "queue.py": "SIZE = 3\n"},
        {
            "Environment class path": [
                "queue.py hides the module 'queue' that others import; rename it."
            ]
        },
    ),
    "there can only be one": (
        walk(
            init="    port = None\n\n    def __init__(self, size=10):\n"
            "        assert Walk.port is None, 'address in use'\n        Walk.port = 8000\n"
        ),
        {
            "Episode lifecycle": [
                "Making a second copy while the first is open raised AssertionError: address in use"
                " (env.py:14). Several copies in one process will fail so."
            ]
        },
    ),
    "a thread that outlives close": (
        at_start(
            "import threading, time",
            "stop = time.monotonic() + 10",
            "pause = lambda: time.sleep(max(0, stop - time.monotonic()))",
            "threading.Thread(target=pause, name='simulator').start()",
        ),
        {"Episode lifecycle": ["close() leaves 2 thread(s) running: simulator, simulator."]},
    ),
    "a seed that is always the same": (
        walk(
            reset_head="    def reset(self, *, seed=1, options=None):\n"
            "        super().reset(seed=seed)\n"
        ),
        {
            "Reset seed": [
                "reset's seed is 1 by default, so every episode is the same one. Make it None."
            ]
        },
    ),
    "the old spelling of render_modes": (
        walk().replace('"render_modes": []', '"render.modes": ["human"]'),
        {
            "Preliminary environment": [
                'metadata["render.modes"] is the old spelling; call it "render_modes".'
            ]
        },
    ),
    "frames that are None": (
        walk().replace('"render_modes": []', '"render_modes": ["rgb_array"]')
        + "    def render(self):\n        return None\n",
        {
            "Episode lifecycle": [
                "render() returned None, not a uint8 array of shape (height, width, 3)."
            ]
        },
    ),
    "a bound that is its other bound": (
        walk(
            space="spaces.Box(np.zeros(2, np.float32), np.array([1, 0], np.float32))",
            look="        return np.array([self.at / self.size, 0.0], np.float32)\n",
        ),
        {
            "Observation space limits": [
                "observation_space has elements whose low is their high, so they tell nothing."
            ]
        },
    ),
    "float64 all along": (
        walk(
            space="spaces.Box(0.0, 1.0, (2,), np.float64)",
            look="        return np.array([self.at / self.size, self.steps / 50])\n",
        ),
        {
            "Observation space limits": [
                "observation_space is float64; networks compute in float32, which takes half the"
                " space."
            ]
        },
    ),
}
