"""`arena datasets`, `arena models` and `arena open`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from arena_sdk.cli import web
from tests.cli.cli_running import Run
from tests.sdk.sdk_service import Service

MAPPING = '{"prompt": "p", "target": "t"}'


def test_a_dataset_is_made_from_options_as_the_contract_has_them(
    run: Run, service: Service, tmp_path: Path
) -> None:
    service.on("POST", "/datasets/create", {"is_ready": True})
    mapping = tmp_path / "map.json"
    mapping.write_text(MAPPING)
    words = ["datasets", "create", "d", "--category", "sft"]
    done = run(
        *words, "--column-mapping-file", str(mapping), "--hf-dataset", "a/b", "--hf-split", "train",
        "--hf-config", "main", "--config", "c", "--description", "what", "-o", "json",
    )  # fmt: skip
    assert json.loads(done.out) == {"is_ready": True}
    sent = {key: parts[0].content.decode() for key, parts in service.calls[-1].form.items()}
    assert sent == {
        "name": "d", "category": "sft", "column_mapping": MAPPING, "description": "what",
        "hf_dataset_name": "a/b", "hf_split": "train", "hf_config": "main", "config": "c",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 2, "--column-mapping"),
        (["--column-mapping", MAPPING, "--column-mapping-file", "x"], 2, "either"),
        (["--column-mapping-file", "nowhere.json"], 2, "nowhere.json"),
        (["--column-mapping-file", "/dev/zero"], 2, "more than 16 MB"),
        (["--column-mapping", "{"], 1, "JSON"),
        (["--column-mapping", "{}"], 1, "'prompt'"),
        (["--column-mapping", MAPPING, "--file", "nowhere.csv"], 2, "nowhere.csv"),
    ],
)
def test_what_makes_no_dataset(
    run: Run, service: Service, words: list[str], code: int, said: str
) -> None:
    done = run("datasets", "create", "d", "--category", "sft", *words)
    assert done.code == code
    assert said in done.err
    assert service.calls == []


def test_a_search_says_when_the_hub_was_not_asked(
    run: Run, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_HOME", str(tmp_path))
    (tmp_path / "local").mkdir()
    (tmp_path / "local" / "token").write_text("secret")
    info = {"url": service.url, "pid": os.getpid()}
    (tmp_path / "local" / "server.json").write_text(json.dumps(info))
    found = [{"name": "acme/qa", "hf_dataset_id": "acme/qa"}]
    service.on("GET", "/capabilities", {"features": {"dataset_search": {}}})
    service.on("GET", "/datasets/search", {"datasets": found, "warnings": ["It is offline."]})
    words = ["datasets", "list", "--search", "qa", "-o", "json"]
    done = run("--profile", "local", *words)
    assert json.loads(done.out) == found
    assert done.err == "warning: It is offline.\n"
    service.on("GET", "/capabilities", {"features": {}})
    service.on("GET", "/datasets", [{"name": "of the contract"}])
    done = run("--profile", "local", *words)
    assert [row["name"] for row in json.loads(done.out)] == ["of the contract"]


def test_what_is_odd_about_a_new_dataset_is_said(
    run: Run, service: Service, tmp_path: Path
) -> None:
    file = tmp_path / "qa.csv"
    file.write_text("p,t\n1,\n")
    service.on("POST", "/datasets/create", {"name": "d", "warnings": ["1 of 1 rows is empty."]})
    words = ["datasets", "create", "d", "--category", "sft", "--column-mapping", MAPPING]
    done = run(*words, "--file", str(file), "-q")
    assert done.code == 0
    assert "warning: 1 of 1 rows is empty." in run(*words, "--file", str(file)).err


def test_deleting_asks_and_says_what_is_not_there(here: Run) -> None:
    assert json.loads(here("datasets", "exists", "qa", "-o", "json").out)["exists"] is True
    assert here("datasets", "exists", "nope", "-q").out == "no\n"
    assert "--yes" in here("datasets", "delete", "qa", code=2).err
    assert "'nope'" in here("datasets", "delete", "nope", "--yes", code=4).err
    assert len(json.loads(here("datasets", "list", "--search", "nowhere", "-o", "json").out)) == 0


def test_models_are_listed_and_shown(run: Run, service: Service) -> None:
    row = {"model_name": "Qwen/Qwen3-4B", "num_params": 4022468096, "max_context_length": 40960}
    service.on("GET", "/models", [row])
    service.on("POST", "/models/info", {**row, "lora_info": {"q_proj": []}})
    assert run("models", "list", "-q").out == "Qwen/Qwen3-4B\n"
    found = json.loads(run("models", "info", "Qwen/Qwen3-4B", "-o", "json").out)
    assert found["lora_info"] == {"q_proj": []}
    assert service.calls[-1].json == {"model_name": "Qwen/Qwen3-4B"}


def test_supported_models_ask_no_server(run: Run) -> None:
    rows = json.loads(run("models", "supported").out)
    assert all(row["hub_id"] and row["max_context_length"] > 0 for row in rows)


def test_pages_have_addresses_that_are_printed(
    run: Run, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("click.launch", opened.append)
    monkeypatch.setenv("DISPLAY", ":0")
    assert run("open").out == f"{service.url}\n"
    assert run("open", "experiment", "a b/c").out == f"{service.url}/experiments/a%20b%2Fc\n"
    assert opened == []  # stdout is no terminal
    assert service.calls == []
    assert set(web.SECTIONS) == {"agent", "dataset", "environment", "experiment", "project"}


def test_an_arena_on_this_machine_has_no_pages(here: Run) -> None:
    done = here("open", "experiment", "high")
    assert done.out == ""
    assert "arena-tui" in done.err
