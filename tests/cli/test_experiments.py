"""`arena experiments`: metrics, comparisons, following, deletion; `arena projects show`."""

from __future__ import annotations

import csv
import io
import json
import os
from datetime import datetime
from pathlib import Path

import pytest
from starlette.responses import Response

from tests.cli.cli_arena import MANIFEST, Furnished
from tests.cli.cli_running import Run
from tests.sdk.sdk_service import Service

# --- metrics --------------------------------------------------------------------------------------


def test_metrics_go_to_a_file_with_a_preview(
    here: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = here("experiments", "metrics", "high")
    rows = list(csv.DictReader((tmp_path / "high_metrics.csv").open()))
    assert len(rows) == 4
    assert {"fitness", "steps", "member"} <= set(rows[0])
    assert len(done.out.splitlines()) == 1 + 4
    assert "high_metrics.csv" in done.err
    again = here("experiments", "metrics", "high", code=2)
    assert "--force" in again.err
    assert here("experiments", "metrics", "high", "--force", "--preview-rows", "0").out == ""


def test_metrics_of_a_choice(here: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    here("experiments", "metrics", "high", "--output-file", str(path), "--metric", "fitness")
    header = path.read_text().splitlines()[0].split(",")
    assert "fitness" in header
    assert "lr" not in header
    assert "score" not in header


def test_metrics_on_stdout_are_the_file(here: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    here("experiments", "metrics", "high", "--output-file", str(path))
    assert here("experiments", "metrics", "high", "--output-file", "-").out == path.read_text()
    rows = json.loads(here("experiments", "metrics", "high", "-o", "json").out)
    flat = list(csv.DictReader(io.StringIO(path.read_text())))
    assert len(rows) == len(flat)
    assert [row["fitness"] for row in rows] == [float(row["fitness"]) for row in flat]
    picked = here("experiments", "metrics", "high", "-o", "csv", "--columns", "steps,fitness").out
    assert picked.splitlines()[0] == "steps,fitness"


@pytest.mark.parametrize("where", ["no/such/folder/m.csv", "read-only/m.csv", "taken.csv"])
def test_a_file_that_cannot_be_written_is_a_mistake_of_usage(
    here: Run, tmp_path: Path, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "read-only").mkdir()
    (tmp_path / "taken.csv").write_text("mine")
    real = os.access
    monkeypatch.setattr(  # who runs as root may write everywhere
        os, "access", lambda path, mode: "read-only" not in str(path) and real(path, mode)
    )
    done = here("experiments", "metrics", "high", "--output-file", str(tmp_path / where), code=2)
    assert where.rsplit("/", maxsplit=1)[-1] in done.err
    assert (tmp_path / "taken.csv").read_text() == "mine"
    assert done.out == ""


def test_metrics_as_a_chart(here: Run) -> None:
    drawn = here("experiments", "metrics", "high", "--plot", "--metric", "score").out
    assert "high" in drawn
    assert "score" in drawn
    wrong = here("experiments", "metrics", "high", "--plot", "--metric", "scre", code=4)
    assert "'scre'" in wrong.err
    assert "score" in wrong.err


def test_rows_that_the_service_kept_back_are_said(
    run: Run, service: Service, tmp_path: Path
) -> None:
    from starlette.responses import Response

    text = "fitness\n" + "1\n" * 50_000
    service.on("GET", "/experiments/metrics", lambda request: Response(text, media_type="text/csv"))
    for words in (["--output-file", str(tmp_path / "m.csv"), "-q"], ["--output-file", "-"]):
        done = run("experiments", "metrics", "e", *words)
        assert done.code == 0
        assert "only the first 50,000 rows" in done.err
        assert dict(service.calls[-1].query)["preview_rows"] == "50000"
    text = "fitness\n1\n"
    done = run("experiments", "metrics", "e", "--output-file", "-")
    assert done.err == ""


# --- comparing ------------------------------------------------------------------------------------


def test_runs_side_by_side_show_where_they_differ(here: Run) -> None:
    table = here("experiments", "compare", "low", "high").out
    lines = [line.split() for line in table.splitlines()]
    assert lines[0] == ["low", "high"]
    assert ["algorithm.lr", "5e-04", "0.002"] in lines or [
        "algorithm.lr",
        "0.0005",
        "0.002",
    ] in lines
    assert not any(line[0].startswith("network") for line in lines[1:])
    rows = json.loads(here("experiments", "compare", "low", "high", "-o", "json").out)
    assert [row["name"] for row in rows] == ["low", "high"]
    assert [row["algorithm.lr"] for row in rows] == [0.0005, 0.002]
    assert all(row["seconds"] > 0 for row in rows)


def test_a_metric_is_compared_and_drawn(here: Run) -> None:
    words = ["experiments", "compare", "low", "high", "--metric", "score"]
    rows = json.loads(here(*words, "-o", "json").out)
    assert all(row["score (highest)"] >= row["score (last best)"] for row in rows)
    drawn = here(*words, "--plot").out
    assert all(word in drawn for word in ("low", "high", "score"))


def test_one_run_alone_and_one_that_is_not_there(here: Run) -> None:
    assert "two" in here("experiments", "compare", "low", "low", code=2).err
    assert "nope" in here("experiments", "compare", "low", "nope", code=4).err


# --- following ------------------------------------------------------------------------------------


def test_watching_prints_every_record_as_data(here: Run) -> None:
    lines = here("experiments", "watch", "high", "-o", "ndjson").out.splitlines()
    records = [json.loads(line) for line in lines]
    assert [record["seq"] for record in records] == list(range(1, len(records) + 1))
    assert {"metrics", "state", "checkpoint"} <= {record["kind"] for record in records}
    assert records[-1]["state"] == "completed"
    assert json.loads(here("experiments", "watch", "high", "-o", "json").out) == records
    assert here("experiments", "watch", "high").out.count("generation ") == 2
    assert here("experiments", "watch", "high", "-q").out == ""


def test_logs_are_lines_or_documents(here: Run) -> None:
    lines = here("experiments", "logs", "high").out.splitlines()
    rows = json.loads(here("experiments", "logs", "high", "-o", "json").out)
    assert [row["line"] for row in rows] == lines
    assert here("experiments", "logs", "high", "-f").out.splitlines() == lines
    assert here("experiments", "logs", "high", "-n", "1").out.splitlines() == lines[-1:]
    assert "ndjson" in here("experiments", "logs", "high", "-f", "-o", "json", code=2).err


def test_a_run_is_waited_for_and_deleted(here: Run, furnished: Furnished, tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(MANIFEST.format(lr=0.001).replace("max_steps: 800", "max_steps: 20000000"))
    here("experiments", "submit", str(path), "--resource-id", "local", "--experiment-name", "gone")
    assert "still" in here("experiments", "wait", "gone", "--timeout", "0", code=5).err
    here("experiments", "wait", "gone", "--until", "running", "--timeout", "60")
    assert "--yes" in here("experiments", "delete", "gone", code=2).err
    here("experiments", "stop", "gone")
    done = here("experiments", "wait", "gone", "--timeout", "60", code=1)
    assert "gone is stopped, not completed" in done.err
    counts = json.loads(here("projects", "show", "walk", "-o", "json").out)["by_state"]
    assert counts == {"completed": 2, "stopped": 1}
    here("experiments", "delete", "gone", "--yes")
    here("experiments", "delete", "gone", "--yes", code=4)
    assert json.loads(here("projects", "show", "walk", "-o", "json").out)["experiments"] == 2
    here("projects", "show", "nope", code=4)


def test_a_service_that_only_lists_experiments_is_good_enough(run: Run, service: Service) -> None:
    service.on("GET", "/projects", [{"name": "p"}, {"name": "q"}])
    service.on("GET", "/experiments/list", [{"name": "e", "status": "COMPLETED", "steps": 3}])
    assert json.loads(run("experiments", "show", "e", "-o", "json").out)["steps"] == 3
    assert run("experiments", "wait", "e").code == 0
    done = run("experiments", "show", "other")
    assert done.code == 4
    assert "'other'" in done.err


def test_a_submission_that_is_refused_exits_1(run: Run, service: Service, tmp_path: Path) -> None:
    from tests.sdk.sdk_service import ndjson

    refused = {"kind": "status", "status": "completed", "detail": {"accepted": False}}
    service.on("POST", "/experiments/jobs/submit", ndjson(refused))
    path = tmp_path / "m.yaml"
    path.write_text(MANIFEST.format(lr=0.001))
    done = run("experiments", "submit", str(path), "--project", "p")
    assert done.code == 1
    assert "not accepted" in done.err
    body = service.calls[-1].json
    assert (body["resource_id"], body["num_nodes"]) == ("arena-medium", 2)


def test_a_submission_that_is_watched_prints_one_document(here: Run, tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(MANIFEST.format(lr=0.001).replace("max_steps: 800", "max_steps: 400"))
    words = ["experiments", "submit", str(path), "--resource-id", "local"]
    done = here(*words, "--experiment-name", "brief", "--watch", "-o", "json")
    assert json.loads(done.out)["experiment_name"] == "brief"
    here("experiments", "wait", "brief")
    here("experiments", "delete", "brief", "--yes")


@pytest.fixture
def accepting(service: Service, tmp_path: Path) -> str:
    """A manifest, and a service that accepts it as `first` and stops it as run 7."""
    from tests.sdk.sdk_service import ndjson

    accepted = {"accepted": True, "experiment_id": 7, "experiment_name": "first"}
    done = {"kind": "status", "status": "completed", "detail": accepted}
    service.on("POST", "/experiments/jobs/submit", ndjson(done))
    service.on("POST", "/experiments/jobs/stop", {"id": 7, "status": "stopping"})
    path = tmp_path / "m.yaml"
    path.write_text(MANIFEST.format(lr=0.001))
    return str(path)


def test_an_unknown_column_of_work_that_is_done_is_a_warning(run: Run, accepting: str) -> None:
    words = ["experiments", "submit", accepting, "--project", "p", "--columns", "foo"]
    done = run(*words, "-o", "json")
    assert done.code == 0
    assert json.loads(done.out)["experiment_name"] == "first"
    assert "warning: There is no column 'foo'; there are: accepted, " in done.err
    assert run(*words).out.startswith("accepted ")
    assert run("experiments", "stop", "first", "--columns", "foo").code == 0


def test_the_one_word_of_a_change_is_the_name_of_the_run(run: Run, accepting: str) -> None:
    assert run("experiments", "submit", accepting, "--project", "p", "-q").out == "first\n"
    assert run("experiments", "stop", "first", "-q").out == "first\n"


def test_a_run_without_metrics_leaves_no_file(
    run: Run, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = Response("generation,member,time\n", media_type="text/csv")
    service.on("GET", "/experiments/metrics", lambda request: answer)
    done = run("experiments", "metrics", "e")
    assert (done.code, done.out) == (0, "")
    assert done.err == "e has no metrics yet; no file was written.\n"
    assert list(tmp_path.iterdir()) == []


def test_the_time_of_a_row_is_that_of_the_clock_for_people(
    run: Run, service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = Response("generation,time\n1,1796277571.250\n", media_type="text/csv")
    service.on("GET", "/experiments/metrics", lambda request: answer)
    shown = datetime.fromtimestamp(1796277571.25).strftime("%Y-%m-%d %H:%M:%S")
    assert shown in run("experiments", "metrics", "e").out
    assert (tmp_path / "e_metrics.csv").read_bytes() == answer.body
    (row,) = json.loads(run("experiments", "metrics", "e", "-o", "json").out)
    assert row["time"] == 1796277571.25


def test_a_run_is_not_compared_with_itself(run: Run, service: Service) -> None:
    done = run("experiments", "compare", "q2", "q2")
    assert (done.code, service.calls) == (2, [])
    assert "'q2' and 'q2' are the same experiment" in done.err
