"""Environments that would break training, by hazard, with the failures that they get."""

from __future__ import annotations

from typing import Any

from tests.local.validation.sources import HEAD, WALK, at_start, before_step, returning, walk

DICT_SPACE = (
    'spaces.Dict({"pos": spaces.Box(0.0, 1.0, (1,), np.float32),'
    ' "time": spaces.Box(0.0, 1.0, (1,), np.float32)})'
)
DICT_LOOK = (
    '        return {"pos": np.array([self.at / self.size], np.float32),'
    ' "time": np.array([self.steps / 50])}\n'
)
FIVE = "(observation, reward, terminated, truncated, info)"
SIGNATURE = "def reset(self, *, seed=None, options=None)"


FAILING: dict[str, tuple[Any, dict[str, str]]] = {
    "float64 in one key of a Dict": (
        walk(space=DICT_SPACE, look=DICT_LOOK),
        {
            "Reset": "The observation['time'] of reset(seed=0) is float64 where its space declares"
            " float32. Return it .astype(np.float32), or declare dtype=np.float64.",
            "Step": "The observation['time'] at step 1 of the episode with seed 0 is float64 where"
            " its space declares float32. Return it .astype(np.float32), or declare"
            " dtype=np.float64.",
        },
    ),
    "leaves its bounds after a while": (
        walk(look="        return np.array([self.at / 10, self.steps / 20], np.float32)\n"),
        {
            "Step": "The observation at step 21 of the episode with seed 1 at index 1 is"
            " 1.04999995, above its bound 1. Clip the value or widen the space."
        },
    ),
    "not a number in the observation": (
        walk(
            look="        late = self.steps == 4\n"
            "        return np.array([0.5, np.nan if late else 0.0], np.float32)\n"
        ),
        {
            "Step": "The observation at step 4 of the episode with seed 1 has nan at index 1. Find"
            " where it comes from: a division by zero, a logarithm?"
        },
    ),
    "another shape": (
        walk(look="        return np.array([self.at / self.size], np.float32)\n"),
        {
            "Reset": "The observation of reset(seed=0) has shape (1,) where its space has (2,)."
            " Make the two agree.",
            "Step": "The observation at step 1 of the episode with seed 0 has shape (1,) where its"
            " space has (2,). Make the two agree.",
        },
    ),
    "a float in a Discrete space": (
        walk(space="spaces.Discrete(11)", look="        return float(self.at)\n"),
        {
            "Reset": "The observation of reset(seed=0) is a float, not an integer. Its space is"
            " Discrete(11).",
            "Step": "The observation at step 1 of the episode with seed 0 is a float, not an"
            " integer. Its space is Discrete(11).",
        },
    ),
    "a missing key of a Dict": (
        walk(
            space=DICT_SPACE,
            look='        return {"pos": np.array([self.at / self.size], np.float32)}\n',
        ),
        {
            "Reset": "The observation of reset(seed=0) lacks the key 'time'. Return every key that"
            " the Dict space declares.",
            "Step": "The observation at step 1 of the episode with seed 0 lacks the key 'time'."
            " Return every key that the Dict space declares.",
        },
    ),
    "four values from step, a bare observation from reset": (
        walk(
            step_return="        return self.look(), -0.1, self.steps >= 50, {}\n",
            reset_return="        return self.look()\n",
        ),
        {
            "Reset return type": "reset (env.py:19) returned only an observation (ndarray), as in"
            " the old API. Return (observation, info), where info is a dict, which may be empty.",
            "Step": "step (env.py:24) returned four values, as in the old API. Return"
            f" {FIVE}: terminated when the task ended, truncated when a time limit did.",
        },
    ),
    "three values from step": (
        walk(step_return="        return self.look(), -0.1, False\n"),
        {"Step": f"step (env.py:24) returned 3 values. Return {FIVE}."},
    ),
    "nothing from step": (
        walk(step_return="        self.look()\n"),
        {"Step": f"step (env.py:24) returned None. Return {FIVE}."},
    ),
    "reset without seed and options": (
        walk(
            reset_head="    def reset(self):\n"
            "        self._np_random, _ = gym.utils.seeding.np_random(0)\n"
        ),
        {
            "Reset seed": f"reset (env.py:19) takes no seed. Declare {SIGNATURE}, and begin with"
            " super().reset(seed=seed).",
            "Reset options": f"reset (env.py:19) takes no options. Declare {SIGNATURE}.",
        },
    ),
    "info of reset is None": (
        walk(reset_return="        return self.look(), None\n"),
        {
            "Reset return type": "reset (env.py:19) returned None as info. Return a dict,"
            " which may be empty."
        },
    ),
    "the old gym, which is not installed": (
        walk(imports="import gym\nimport numpy as np\nfrom gym import spaces\n"),
        {
            "Environment class path": "Importing env raised ModuleNotFoundError: No module named"
            " 'gym' (env.py:1). Gym is replaced by Gymnasium: import gymnasium as gym."
        },
    ),
    "a space that is none": (
        walk(actions="[0, 1]"),
        {
            "Action space": "action_space is a builtins.list, not a gymnasium.spaces.Space. Use one"
            " of gymnasium.spaces, such as Box or Discrete."
        },
    ),
    "no observation space": (
        walk(space="None"),
        {
            "Observation space": "The environment has no observation_space. Set"
            " self.observation_space in __init__."
        },
    ),
    "an empty Dict space": (
        walk(space="spaces.Dict({})"),
        {"Observation space": "observation_space is an empty Dict. Give it at least one space."},
    ),
    "an array for a reward": (
        returning(reward="np.array([1.0])"),
        {
            "Step": "The reward at step 1 of the episode with seed 0 is an array of shape (1,), not"
            " a number. Return float(reward)."
        },
    ),
    "text for a reward": (
        returning(reward='"good"'),
        {
            "Step": "The reward at step 1 of the episode with seed 0 is a str ('good'), not a"
            " number. Return a float."
        },
    ),
    "None for a reward": (
        returning(reward="None"),
        {
            "Step": "The reward at step 1 of the episode with seed 0 is None, not a number. Return"
            " a float."
        },
    ),
    "a reward that is not a number": (
        returning(reward="float('nan') if self.steps == 3 else 0.0"),
        {
            "Step": "The reward at step 3 of the episode with seed 0 is nan. Find where it comes"
            " from: a division by zero, a logarithm?"
        },
    ),
    "an infinite reward": (
        returning(reward="-np.inf"),
        {
            "Step": "The reward at step 1 of the episode with seed 0 is -inf. Find where it comes"
            " from: a division by zero, a logarithm?"
        },
    ),
    "flags that are arrays": (
        returning(terminated="np.array([True, False])"),
        {
            "Step": "terminated at step 1 of the episode with seed 0 is an array of bool of shape"
            " (2,), not a bool. Return bool(terminated)."
        },
    ),
    "info that is None": (
        returning(info="None"),
        {
            "Step": "info at step 1 of the episode with seed 0 is None, not a dict. Return {} at"
            " least."
        },
    ),
    "never ends": (
        walk(
            look="        return np.array([self.at / self.size, 0.0], np.float32)\n",
            step_return="        return self.look(), -0.1, False, False, {}\n",
        ),
        {
            "Episode lifecycle": "No episode ended within 10,000 steps of 2 random episodes;"
            " evaluating a policy would never end. Return truncated=True after a set number of"
            " steps, or wrap it in gymnasium.wrappers.TimeLimit."
        },
    ),
    "opens a window in its constructor": (
        at_start("raise RuntimeError('No available video device')"),
        {
            "Preliminary environment": "Walk(…) raised RuntimeError: No available video device"
            " (env.py:12). It needs a display, which a worker does not have; open windows in"
            ' render(), and only for render_mode="human".'
        },
    ),
    "opens a file by a relative path": (
        at_start("self.map = open('data/map.txt').read()"),
        {
            "Preliminary environment": "Walk(…) raised FileNotFoundError: [Errno 2] No such file or"
            " directory: 'data/map.txt' (env.py:12). A relative path depends on the folder that"
            " Python was started in; resolve it beside the module: Path(__file__).parent /"
            " 'data/map.txt'."
        },
    ),
    "raises in its constructor": (
        at_start("self.depth = {}['depth']"),
        {"Preliminary environment": "Walk(…) raised KeyError: 'depth' (env.py:12)."},
    ),
    "an argument without a default": (
        walk(init="    def __init__(self, size):\n"),
        {
            "Preliminary environment": "Walk needs the argument 'size'. Give it in env_config.yaml,"
            " or give the parameter a default."
        },
    ),
    "raises in a step": (
        before_step("assert self.steps < 3, 'fell off'"),
        {
            "Step": "step(1), step 4 of the episode with seed 1, raised AssertionError: fell off"
            " (env.py:25)."
        },
    ),
    "breaks on an action at its bound": (
        walk(
            actions="spaces.Box(-1.0, 1.0, (1,), np.float32)",
            step_head="    def step(self, action):\n"
            "        assert action[0] < 1.0, 'too far'\n        action = action[0] > 0\n",
        ),
        {
            "Step": "step([1.]), step 3 of the episode with seed 1, raised AssertionError: too far"
            " (env.py:25)."
        },
    ),
    "does not implement step": (
        HEAD + WALK.split("    def step")[0],
        {
            "Environment class path": "No class that derives from gymnasium.Env was found in the 1"
            " Python file of the source. Derive one that defines step, or name it with"
            " --entrypoint module:Class."
        },
    ),
    "leaves by os._exit": (
        before_step("import os", "os._exit(3)"),
        {
            "Step": "The environment ended its process with exit code 3, as os._exit does. Raise an"
            " error instead."
        },
    ),
    "leaves by sys.exit": (
        before_step("raise SystemExit(2)"),
        {
            "Step": "step(1), step 1 of the episode with seed 0, left Python by sys.exit(2)"
            " (env.py:25). Raise an error instead."
        },
    ),
    "is killed": (
        before_step("import os, signal", "os.kill(os.getpid(), signal.SIGKILL)"),
        {
            "Step": "The environment's process was ended by SIGKILL, as the system does when memory"
            " is short."
        },
    ),
    "closes descriptors that are not its own": (
        at_start("import os", "os.closerange(3, 200)"),
        {
            "Preliminary environment": "The environment closed file descriptors that are not its"
            " own."
        },
    ),
    "a mask of the wrong length": (
        returning(info='{"action_mask": np.ones(3, np.int8)}'),
        {
            "Step": 'info["action_mask"] at step 1 of the episode with seed 0 has shape (3,) where'
            " there are 2 actions. Give it one element for each action."
        },
    ),
    "no class": (
        "x = 1\n",
        {
            "Environment class path": "No class that derives from gymnasium.Env was found in the 1"
            " Python file of the source. Derive one that defines step, or name it with"
            " --entrypoint module:Class."
        },
    ),
    "does not parse": (
        "class Env(\n",
        {"Environment class path": "env.py:1 cannot be parsed: '(' was never closed."},
    ),
    "a package that is not there": (
        "import some_absent_package\n" + walk(),
        {
            "Environment class path": "Importing env raised ModuleNotFoundError: No module named"
            " 'some_absent_package' (env.py:1). Add the package that provides"
            " 'some_absent_package' to requirements.txt."
        },
    ),
    "a sibling imported as if it were at the top": (
        {"pkg/env.py": "import helper\n" + walk(), "pkg/helper.py": ""},
        {
            "Environment class path": "Importing pkg.env raised ModuleNotFoundError: No module"
            " named 'helper' (pkg/env.py:1). The source has pkg/helper.py; import it by its"
            " package, or relatively."
        },
    ),
}
