"""The environments' routes of a real Arena, as clients use them."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.local.conftest import ArenaServer, wait_until
from tests.local.validation.sources import walk
from tests.local.validation.uploading import form, result, upload


def refused(answer: httpx.Response, status: int, message: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert body["message"] == message
    return body


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses."""
    return str(request.node.name.split("[")[0]).replace("_", "-")[:90]


def test_a_sound_environment_is_validated_and_profiled(api: httpx.Client, name: str) -> None:
    begun = time.monotonic()
    events = upload(api, name, walk(), env_config="size: 8\n")
    seconds = time.monotonic() - begun
    checks = [event["detail"] for event in events if event["kind"] == "check"]
    assert len(checks) == 15
    assert all(check["result"]["success"] for check in checks)
    found = result(events)
    assert found["validated"] is True
    assert found["profiled"] is True
    assert found["entrypoint"] == "env:Walk"
    assert found["profile"]["steps_per_second"] > 1_000
    assert {event["stage"] for event in events} == {"upload", "validation", "profiling"}
    listed = api.get("/environments", params={"name": name, "include_arena": "false"}).json()
    assert listed == {name: {"v1": {"validated": True, "profiled": True}}}
    assert seconds < 12, "the target is 4 s on a quiet machine"


def test_failed_checks_end_the_stream_in_an_ordinary_way(api: httpx.Client, name: str) -> None:
    broken = walk(step_return="        return self.look(), None, False, self.steps >= 50, {}\n")
    found = result(upload(api, name, broken))
    assert found["validated"] is False
    assert found["failed_checks"] == ["Step"]
    activity = api.get("/activity").json()[0]
    assert activity["subject"] == "environment"
    assert activity["name"] == name
    assert activity["message"] == "v1: Not valid: Step failed."
    details = api.get("/environments/details", params={"name": name, "version": ""}).json()
    step = next(check for check in details["checks"] if check["check"] == "Step")
    assert step["error"] == (
        "The reward at step 1 of the episode with seed 0 is None, not a number. Return a float."
    )


def test_a_constructor_that_raises_is_one_sentence_with_its_line(
    api: httpx.Client, name: str
) -> None:
    broken = walk(init="    def __init__(self, size=10):\n        raise RuntimeError('no map')\n")
    events = upload(api, name, broken)
    last = [event["detail"] for event in events if event["kind"] == "check"][-1]
    assert last == {
        "check": "Preliminary environment",
        "result": {
            "success": False,
            "warnings": [],
            "error": "Walk(…) raised RuntimeError: no map (env.py:12).",
        },
    }


def test_printing_at_every_step_does_not_matter(api: httpx.Client, name: str) -> None:
    loud = walk(step_head='    def step(self, action):\n        print(\'{"kind": "result"}\')\n')
    assert result(upload(api, name, loud))["validated"] is True


def test_two_environments_in_one_source_are_ambiguous(api: httpx.Client, name: str) -> None:
    two = walk() + "\n\nclass Second(Walk):\n    def step(self, action):\n        pass\n"
    events = upload(api, name, two)
    assert events[-1]["status"] == "failed"
    assert events[-1]["detail"]["error_code"] == "AMBIGUOUS_ENTRYPOINT"
    assert events[-1]["detail"]["available_entrypoints"] == ["env:Walk", "env:Second"]
    params = {"name": name, "version": ""}
    found = api.get("/environments/entrypoints", params=params).json()
    assert found == ["env:Walk", "env:Second"]
    body = {"name": name, "version": None, "do_rollouts": False, "entrypoint": "env:Walk"}
    answer = api.post("/environments/validate", json=body, timeout=60)
    events = [json.loads(line) for line in answer.text.splitlines()]
    assert result(events)["entrypoint"] == "env:Walk"
    assert result(events)["validated"] is True


def test_an_entrypoint_that_names_no_class_is_not_remembered(api: httpx.Client, name: str) -> None:
    failed = result(upload(api, name, walk(), entrypoint="env:Nope"))
    assert failed["failed_checks"] == ["Class exists in path"]
    assert result(upload(api, name, walk()))["entrypoint"] == "env:Walk"


def test_an_entrypoint_that_was_named_is_remembered_once_it_is_found(
    api: httpx.Client, name: str
) -> None:
    two = walk() + "\n\nclass Second(Walk):\n    def step(self, action):\n        pass\n"
    failed = result(upload(api, name, two, entrypoint="env:Second"))
    assert failed["failed_checks"] == ["Step"]
    assert result(upload(api, name, two))["entrypoint"] == "env:Second"


def test_the_same_content_again_is_recognised(api: httpx.Client, name: str) -> None:
    upload(api, name, walk())
    events = upload(api, name, walk())
    assert events[0]["message"] == (
        f"{name} v1 has this very content already; validating it again."
    )
    assert result(events)["validated"] is True


def test_a_valid_version_never_changes(api: httpx.Client, name: str) -> None:
    upload(api, name, walk())
    answer = api.post("/environments/create-and-validate", **form(name, walk() + "# other\n"))
    body = refused(
        answer,
        409,
        f"Environment '{name}' version 'v1' is validated and never changes; upload this content as"
        " a new version: --version v2.",
    )
    assert body["next_version"] == "v2"


def test_an_invalid_version_is_replaced_and_its_files_go(
    api: httpx.Client, arena_server: ArenaServer, name: str
) -> None:
    first = upload(api, name, walk(actions="None"))
    assert result(first)["validated"] is False
    digest = first[0]["detail"]["digest"]
    assert (arena_server.data_dir / "sources" / digest).is_dir()
    second = upload(api, name, walk() + "# mended\n")
    assert second[0]["message"] == f"{name} v1 was not valid; it is replaced by this content."
    assert result(second)["validated"] is True
    assert not (arena_server.data_dir / "sources" / digest).exists()


@pytest.mark.parametrize(
    ("source", "fields", "message"),
    [
        (
            b"no archive",
            {},
            "The upload is not a whole gzip tar archive (not a gzip file); make one with"
            " `tar -czf source.tar.gz -C DIR .`",
        ),
        (
            {"../env.py": ""},
            {},
            "The archive holds a path that leaves the folder: '../env.py'. Nothing of it was kept.",
        ),
        (
            {"env.py": ""},
            {"env_config": "- 1\n"},
            "The env_config must be a mapping of constructor arguments, not a list.",
        ),
        (
            {"env.py": ""},
            {"env_config": "a: [1\n"},
            "The env_config cannot be read: expected ',' or ']', but got '<stream end>' in line 2.",
        ),
        (
            {"env.py": ""},
            {"env_config": "a: {day: 2024-01-01}\n"},
            "The env_config has a date at a.day, which JSON cannot say; put it in quotes.",
        ),
        (
            {"env.py": ""},
            {"env_config": f"a: &a [1]\nb: &b [{'*a, ' * 99}*a]\nc: [{'*b, ' * 99}*b]\n"},
            "The env_config has more than 10,000 values.",
        ),
        (
            {"env.py": ""},
            {"version": "v/1"},
            "The version name has '/' at position 2; use letters, digits, spaces, dots, hyphens and"
            " underscores.",
        ),
    ],
    ids=["no archive", "escape", "list", "yaml", "date", "aliases", "version"],
)
def test_an_upload_that_cannot_be_taken_is_one_sentence(
    api: httpx.Client,
    arena_server: ArenaServer,
    name: str,
    source: Any,
    fields: dict[str, str],
    message: str,
) -> None:
    before = set((arena_server.data_dir / "sources").iterdir())
    answer = api.post("/environments/create-and-validate", **form(name, source, **fields))
    refused(answer, 422, message)
    assert set((arena_server.data_dir / "sources").iterdir()) == before
    exists = api.get("/environments/exists", params={"name": name, "version": ""}).json()
    assert exists == {"exists": False}


def test_settings_are_taken_from_the_source(api: httpx.Client, name: str) -> None:
    files = {
        "env.py": walk(),
        "env_config.yaml": "size: 7\n",
        "requirements.txt": "numpy  # is here\n",
    }
    assert result(upload(api, name, files))["validated"] is True
    details = api.get("/environments/details", params={"name": name}).json()
    assert details["env_config"] == {"size": 7}
    assert details["requirements"] == "numpy  # is here\n"


def test_what_is_uploaded_goes_before_what_lies_in_the_source(api: httpx.Client, name: str) -> None:
    files = {"env.py": walk(), "env_config.json": '{"size": 7}'}
    upload(api, name, files, env_config="size: 9\n")
    assert api.get("/environments/details", params={"name": name}).json()["env_config"] == {
        "size": 9
    }


def test_requirements_that_exclude_the_stack_stop_it(api: httpx.Client, name: str) -> None:
    events = upload(api, name, walk(), requirements="numpy<1\n")
    assert events[-1]["kind"] == "status"
    assert events[-1]["status"] == "failed"
    assert events[-1]["detail"]["error_code"] == "INSTALL_FAILED"
    assert events[-1]["detail"]["package"] == "numpy"
    assert not [event for event in events if event["kind"] == "check"], "nothing ran"


def test_a_version_is_copied_and_deleted(
    api: httpx.Client, arena_server: ArenaServer, name: str
) -> None:
    digest = upload(api, name, walk() + f"# {name}\n")[0]["detail"]["digest"]
    body = {"name": name, "new_version_name": "v2", "version": None}
    copied = api.post("/environments/duplicate", json=body).json()
    assert copied == {"name": name, "version": "v2", "source_version": "v1"}
    refused(
        api.post("/environments/duplicate", json=body),
        409,
        f"Environment '{name}' has a version 'v2' already; 'v3' is free.",
    )
    gone = api.request("DELETE", "/environments/delete", json={"name": name, "version": "v1"})
    assert gone.json() == {"name": name, "version": "v1", "deleted": ["v1"]}
    assert (arena_server.data_dir / "sources" / digest).is_dir(), "v2 still needs it"
    listed = api.get("/environments", params={"name": name}).json()
    assert listed == {name: {"v2": {"validated": True, "profiled": True}}}
    api.request("DELETE", "/environments/delete", json={"name": name, "version": None})
    assert not (arena_server.data_dir / "sources" / digest).exists()
    refused(
        api.request("DELETE", "/environments/delete", json={"name": name, "version": "v2"}),
        404,
        f"No environment is named '{name}'; there are: "
        + ", ".join(sorted(api.get("/environments").json())[:8])
        + ".",
    )


def test_profiling_again_gives_numbers_only(api: httpx.Client, name: str) -> None:
    upload(api, name, walk())
    answer = api.post("/environments/profile", json={"name": name, "version": None}, timeout=60)
    found = result([json.loads(line) for line in answer.text.splitlines()])
    assert {"avg_cpu_per_env", "peak_cpu_per_env", "memory_per_env_gb", "steps_per_second"} <= set(
        found
    )
    assert all(isinstance(value, int | float) for value in found.values())


def test_gymnasiums_own_are_listed_when_asked_for(api: httpx.Client) -> None:
    found = api.get("/environments", params={"name": "", "include_arena": "true"}).json()
    assert found["CartPole-v1"] == {"v1": {"validated": True, "profiled": False}}
    assert "CartPole-v1" not in api.get("/environments").json()


def test_rollouts_are_kept_as_an_animation(api: httpx.Client, name: str) -> None:
    drawn = walk(init="    def __init__(self, size=10, render_mode=None):\n").replace(
        '"render_modes": []', '"render_modes": ["rgb_array"]'
    )
    drawn += "\n    def render(self):\n        return np.full((8, 8, 3), self.steps, np.uint8)\n"
    found = result(upload(api, name, drawn, do_rollouts="true"))
    assert found["rollouts"]["episodes"] == 100
    assert found["rollouts"]["return"]["mean"] < 0
    animation = api.get("/environments/rollout", params={"name": name})
    assert animation.headers["content-type"] == "image/gif"
    assert animation.content.startswith(b"GIF89a")
    assert result(upload(api, name, drawn))["validated"] is True  # the same, without rollouts
    kept = api.get("/environments/rollout", params={"name": name})
    assert kept.content == animation.content


def slow_to_make(seconds: float) -> str:
    return walk(
        init="    def __init__(self, size=10):\n"
        f"        import time\n        time.sleep({seconds})\n"
    )


def first_lines(api: httpx.Client, name: str, source: str) -> Iterator[str]:
    """Yield the first line of a validation, then leave it."""
    url = "/environments/create-and-validate"
    with api.stream("POST", url, **form(name, source), timeout=60) as answer:
        yield next(answer.iter_lines())


def test_a_client_that_leaves_does_not_end_the_validation(
    api: httpx.Client, arena_server: ArenaServer, name: str
) -> None:
    (first,) = first_lines(api, name, slow_to_make(1.5))
    assert "is stored" in first
    listed = api.get("/environments", params={"name": name}).json()
    assert listed == {name: {"v1": {"validated": False, "profiled": False}}}

    def is_valid() -> bool:
        return bool(api.get("/environments", params={"name": name}).json()[name]["v1"]["profiled"])

    assert wait_until(is_valid, 40)


def test_who_asks_again_meanwhile_hears_the_same_validation(api: httpx.Client, name: str) -> None:
    list(first_lines(api, name, slow_to_make(1.5)))
    different = api.post("/environments/create-and-validate", **form(name, walk()))
    refused(
        different,
        409,
        f"Environment '{name}' version 'v1' is being validated; upload this content as a new"
        " version: --version v2.",
    )
    gone = api.request("DELETE", "/environments/delete", json={"name": name, "version": None})
    refused(gone, 409, f"Environment '{name}' version 'v1' is being validated; wait for its end.")
    events = upload(api, name, slow_to_make(1.5))
    assert events[0]["message"] == f"{name} v1 is stored."
    assert result(events)["validated"] is True
    activity = [row for row in api.get("/activity").json() if row["name"] == name]
    assert len(activity) == 1, "it was validated once"


def test_events_arrive_while_the_work_goes_on(api: httpx.Client, name: str) -> None:
    url = "/environments/create-and-validate"
    times: dict[str, float] = {}
    source = slow_to_make(1.0)
    with api.stream("POST", url, **form(name, source), timeout=60) as answer:
        for line in answer.iter_lines():
            times.setdefault(json.loads(line).get("message", ""), time.monotonic())
    apart = times["Preliminary environment: passed"] - times["Class exists in path: passed"]
    assert apart > 0.8
