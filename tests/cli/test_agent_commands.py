"""`arena agent act`, `bench`, `play`, `run`: observations in, actions and figures out."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena_sdk import serde
from arena_sdk.cli import observations
from arena_sdk.cli.exits import Failure
from tests.cli.cli_arena import Furnished
from tests.cli.cli_running import Run
from tests.local.conftest import arena_environment
from tests.sdk.sdk_service import Service

ONE = "[0.01, -0.02, 0.03, 0.04]"


def act(
    furnished: Furnished, stdin: bytes, *words: str, code: int = 0
) -> subprocess.CompletedProcess[bytes]:
    """Run `arena agent act high` with something on standard input."""
    done = subprocess.run(
        [sys.executable, "-m", "arena_sdk.cli", "agent", "act", "high", *words],
        env=arena_environment(furnished.server.home),
        input=stdin,
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr
    return done


def test_an_observation_gives_an_action_as_json(here: Run) -> None:
    action = json.loads(here("agent", "act", "high", ONE).out)
    assert action in (0, 1)
    batch = json.loads(here("agent", "act", "high", f"[{ONE}, {ONE}, {ONE}]", "--batched").out)
    assert batch == [action] * 3


def test_an_observation_from_files_and_standard_input(
    here: Run, furnished: Furnished, tmp_path: Path
) -> None:
    action = here("agent", "act", "high", ONE).out
    array = np.array(json.loads(ONE), dtype=np.float32)
    np.save(tmp_path / "one.npy", array)
    (tmp_path / "one.json").write_text(json.dumps(json.loads(ONE), indent=1))
    assert here("agent", "act", "high", str(tmp_path / "one.npy")).out == action
    assert here("agent", "act", "high", str(tmp_path / "one.json")).out == action
    raw = io.BytesIO()
    np.save(raw, array)
    assert act(furnished, raw.getvalue()).stdout.decode() == action
    assert act(furnished, ONE.encode()).stdout.decode() == action
    three = act(furnished, f"{ONE}\n{ONE}\n\n{ONE}\n".encode(), "-")
    assert three.stdout.decode() == action * 3


@pytest.mark.parametrize(
    ("observation", "code", "words"),
    [
        ("[0.1, 0.2", 2, "no JSON and no file"),
        ("nowhere.npy", 2, "nowhere.npy"),
        ("[NaN, 0, 0, 0]", 1, "obs"),
        ('["a", "b"]', 1, "obs"),
        ("[1, 2]", 1, "shape"),
        ('{"a": [1]}', 1, "obs"),
    ],
)
def test_what_is_no_observation_is_said_in_a_sentence(
    here: Run, observation: str, code: int, words: str
) -> None:
    done = here("agent", "act", "high", observation, code=code)
    assert done.out == ""
    assert words in done.err
    assert len(done.err.splitlines()) < 4


def test_damaged_standard_input_is_said_in_a_sentence(furnished: Furnished) -> None:
    for stdin in (b"\x93NUMPY\x01", b"\xff\xfe", b"{", b""):
        done = act(furnished, stdin, code=2)
        assert b"standard input" in done.stderr
        assert done.stdout == b""


def test_nothing_is_deployed_under_a_wrong_name(here: Run) -> None:
    done = here("agent", "act", "nope", ONE, code=4)
    assert "nope" in done.err


@pytest.mark.parametrize("size", [1, 8])
def test_bench_measures_what_was_asked_for(here: Run, size: int) -> None:
    done = here(
        "agent", "bench", "high", "--requests", "20", "--batch-size", str(size), "-o", "json"
    )
    found = json.loads(done.out)
    assert found["requests"] == 20
    assert found["batch_size"] == size
    assert found["requests_per_second"] * found["seconds"] == pytest.approx(20)
    assert found["observations_per_second"] == pytest.approx(found["requests_per_second"] * size)
    assert 0 < found["p50_ms"] <= found["p90_ms"] <= found["p99_ms"] <= found["max_ms"]


def test_bench_goes_on_for_as_long_as_was_asked_for(here: Run) -> None:
    done = here("agent", "bench", "high", "--seconds", "0.2", "--observation", ONE, "-o", "json")
    assert json.loads(done.out)["seconds"] >= 0.2
    assert here("agent", "bench", "high", "--seconds", "nan", code=2).out == ""


def test_an_environment_that_does_not_fit_the_agent_is_named_with_it(here: Run) -> None:
    done = here("agent", "play", "high", "--env", "MountainCar-v0", "--episodes", "1", code=1)
    assert "The agent high does not fit the environment MountainCar-v0" in done.err


def test_play_compares_with_random_actions(here: Run) -> None:
    done = here("agent", "play", "high", "--episodes", "2", "--seed", "1", "-o", "json")
    agent, random = json.loads(done.out)
    assert (agent["policy"], random["policy"]) == ("agent", "random")
    assert len(agent["returns"]) == agent["episodes"] == 2
    assert done.err.count("episode") >= 4


def test_run_makes_an_agent_the_active_one(here: Run, furnished: Furnished) -> None:
    done = here("agent", "run", "high", "-o", "json")
    assert json.loads(done.out)["algo"] == "DQN"
    assert "arena agent act high" in done.err
    content = json.loads((furnished.server.home / "inference.json").read_text())
    assert content["active_agent"] == {"deployment": "high"}
    assert "high serves a DQN agent" in here("agent", "generate", "--prompt", "a", code=1).err


def test_a_dict_observation_goes_out_key_by_key(run: Run, service: Service) -> None:
    kind = {"algo": "PPO", "llm": False}
    service.on("GET", "/inference/deployments/one", {"name": "d", "url": service.url})
    service.on("GET", "//status", {"success": True, "agent": kind})
    service.on("POST", "//get_action", {"action": serde.encode_array(np.array([[0.5, -1.0]]))})
    given = '{"camera": [[1, 2], [3, 4]], "speed": 0.5}'
    done = run("agent", "act", "d", given)
    assert done.out == "[0.5, -1.0]\n"
    sent = {key: serde.decode_array(text) for key, text in service.calls[-1].json["obs"].items()}
    assert sent["camera"].tolist() == [[[1, 2], [3, 4]]]
    assert sent["speed"].tolist() == [0.5]
    assert run("agent", "act", "d", given, "-o", "yaml").out == "- 0.5\n- -1.0\n"


# --- spaces ---------------------------------------------------------------------------------------


def box(low: Any, high: Any, shape: list[int], dtype: str = "float32") -> dict[str, Any]:
    return {"type": "Box", "shape": shape, "dtype": dtype, "low": low, "high": high}


def test_zeros_of_a_space_lie_within_it() -> None:
    tree = {
        "type": "Dict",
        "spaces": {
            "far": box(2.0, "Infinity", [3]),
            "image": box(0, 255, [4, 4, 1], "uint8"),
            "each": box([-1.0, 5.0], [1.0, 6.0], [2], "float64"),
            "pair": {
                "type": "Tuple",
                "spaces": [
                    {"type": "Discrete", "n": 3, "start": 7},
                    {"type": "MultiDiscrete", "nvec": [2, 3], "shape": [2]},
                ],
            },
        },
    }
    value = observations.of_space(tree)
    assert value["far"].tolist() == [2.0, 2.0, 2.0]
    assert (value["image"].shape, value["image"].dtype) == ((4, 4, 1), np.uint8)
    assert value["each"].tolist() == [0.0, 5.0]
    assert value["pair"][0] == 7
    batch = observations.batch(value, 5)
    assert batch["image"].shape == (5, 4, 4, 1)
    assert batch["pair"][0].tolist() == [7] * 5
    with pytest.raises(Failure, match="--observation"):
        observations.of_space({"type": "Graph"})


JSON_VALUES = st.recursive(
    st.integers(-(2**31), 2**31) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON_VALUES)
def test_json_text_is_read_as_what_it_says(value: Any) -> None:
    assert list(observations.read(json.dumps(value))) == [value]


@given(st.lists(JSON_VALUES, min_size=1, max_size=5))
def test_lines_are_read_one_by_one(values: list[Any]) -> None:
    raw = b"\n".join(json.dumps(value).encode() for value in values)
    assert list(observations._lines_or_one(io.BytesIO(raw), "it")) == values


def test_actions_of_several_agents_are_json_too() -> None:
    action: Mapping[str, Any] = {"a": np.array([1, 2]), "b": np.float32(0.5), "c": (np.int64(1),)}
    assert observations.as_json(action) == {"a": [1, 2], "b": 0.5, "c": [1]}


def test_observations_come_from_a_pipe_of_the_shell_too() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"[1, 2]\n[3, 4]\n")
    os.close(writer)
    try:
        assert list(observations.read(f"/dev/fd/{reader}")) == [[1, 2], [3, 4]]
    finally:
        os.close(reader)
    with pytest.raises(Failure, match="no JSON and no file"):
        list(observations.read("."))


def test_a_file_without_end_is_no_observation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(observations, "SIZE_LIMIT", 1 << 20)
    with pytest.raises(Failure, match="holds more than 1 MB"):
        list(observations.read("/dev/zero"))


def test_an_array_larger_than_any_memory_is_none(tmp_path: Path) -> None:
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000,), }"
    padded = header + b" " * (117 - len(header)) + b"\n"
    path = tmp_path / "x.npy"
    path.write_bytes(
        b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded + b"12345678"
    )
    with pytest.raises(Failure, match="holds no array"):
        list(observations.read(str(path)))
