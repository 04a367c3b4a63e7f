"""From a manifest to a trained population: submit, follow, and say how it ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sdk_service import Service, ndjson
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from arena_sdk import ArenaClient, ArenaTrainer, ArenaTrainingError, ArenaValidationError

MANIFEST = """
algorithm: {name: DQN}
environment: {name: CartPole-v1}
training: {max_steps: 1000}
replay_buffer: {max_size: 1000}
"""


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    path = tmp_path / "dqn.yaml"
    path.write_text(MANIFEST)
    return path


def accept(service: Service, detail: dict[str, Any], state: str = "completed") -> None:
    done = {"kind": "status", "status": "completed", "detail": {"accepted": True, **detail}}
    service.on("POST", "/experiments/jobs/submit", ndjson(done))
    service.on("GET", "/projects", [{"name": "p"}])
    service.on("GET", "/experiments/list", [{"name": "e", "state": state}])
    csv = "fitness\n1\n"
    service.on("GET", "/experiments/metrics", lambda request: Response(csv, media_type="text/csv"))


def test_a_manifest_is_submitted(service: Service, client: ArenaClient, manifest: Path) -> None:
    accept(service, {"experiment_id": 7})
    trainer = ArenaTrainer.from_manifest(manifest, client)
    answer = trainer.train(project="p", experiment_name="e")
    assert answer == {"accepted": True, "experiment_id": 7}
    assert service.calls[-1].json["manifest"]["algorithm"]["name"] == "DQN"


def test_a_client_is_made_from_the_settings(
    service: Service, manifest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    accept(service, {})
    monkeypatch.setenv("ARENA_BASE_URL", service.url)
    monkeypatch.setenv("ARENA_API_KEY", "from-environment")
    ArenaTrainer.from_manifest(manifest).train(project="p")
    assert service.calls[-1].headers["authorization"] == "Bearer from-environment"


def test_waiting_gives_the_end(service: Service, client: ArenaClient, manifest: Path) -> None:
    accept(service, {"experiment_name": "e"})
    outcome = ArenaTrainer.from_manifest(manifest, client).train(project="p", wait=True)
    assert outcome == {"name": "e", "state": "completed"}


def test_details_are_told_where_there_are_any(
    service: Service, client: ArenaClient, manifest: Path
) -> None:
    accept(service, {"experiment_name": "e"})
    service.on("GET", "/capabilities", {"features": {"experiment_details": {}}})
    service.on("GET", "/experiments/one", {"name": "e", "state": "completed", "best_fitness": 3.0})
    outcome = ArenaTrainer.from_manifest(manifest, client).train(project="p", wait=True)
    assert outcome["best_fitness"] == 3.0


def test_a_run_that_failed_is_an_error(
    service: Service, client: ArenaClient, manifest: Path
) -> None:
    accept(service, {}, state="failed")
    trainer = ArenaTrainer.from_manifest(manifest, client)
    with pytest.raises(ArenaTrainingError, match="e failed"):
        trainer.train(project="p", experiment_name="e", wait=True)


def test_a_run_without_a_name_cannot_be_followed(
    service: Service, client: ArenaClient, manifest: Path
) -> None:
    accept(service, {})
    with pytest.raises(ArenaTrainingError, match="how the experiment is named"):
        ArenaTrainer.from_manifest(manifest, client).train(project="p", wait=True)


def test_a_manifest_that_is_not_valid_is_not_sent(service: Service, client: ArenaClient) -> None:
    def never(request: Request) -> Response:
        return JSONResponse({}, 500)

    service.on("POST", "/experiments/jobs/submit", never)
    with pytest.raises(ArenaValidationError):
        ArenaTrainer.from_manifest({"algorithm": {"name": "DQNN"}}, client)
    assert service.calls == []


def test_the_keyword_form_is_the_same_manifest(tmp_path: Path, manifest: Path) -> None:
    built = ArenaTrainer(
        "DQN", {"name": "CartPole-v1"}, {"max_steps": 1000}, replay_buffer={"max_size": 1000}
    )
    assert built.to_manifest() == ArenaTrainer.from_manifest(manifest).to_manifest()


def test_sections_can_be_models_and_only_what_was_set_counts() -> None:
    from arena_sdk.manifest.training import Training

    built = ArenaTrainer("DQN", "CartPole-v1", Training(max_steps=500))
    assert built.to_manifest() == ArenaTrainer("DQN", "CartPole-v1", {"max_steps": 500}).manifest


def test_a_typo_in_a_section_is_told_where() -> None:
    with pytest.raises(ArenaValidationError, match=r"algorithm\.lrr"):
        ArenaTrainer({"name": "DQN", "lrr": 1}, "CartPole-v1")


def test_the_published_names_for_what_follows(
    service: Service, client: ArenaClient, manifest: Path
) -> None:
    service.on("GET", "/experiments/jobs/checkpoints", [{"steps": 10}])
    service.on("GET", "/experiments/list", [{"name": "e"}])
    service.on("POST", "/experiments/jobs/resume", {"state": "queued"})
    trainer = ArenaTrainer.from_manifest(manifest, client=client)
    assert trainer.list_checkpoints("e")[0].steps == 10
    assert trainer.list_experiments("p")[0].name == "e"
    assert trainer.resume_from_checkpoint("e", 20).state == "queued"
    assert service.calls[-1].json == {"experiment_name": "e", "max_steps": 20}
