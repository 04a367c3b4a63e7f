"""`arena manifest`: what goes to stdout, what to stderr, and the exit codes."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from arena_sdk.cli import root

GOOD = "algorithm: {name: DQN}\nenvironment: {name: CartPole-v1}\n"
BAD = "algorithm: {name: DQN, lrr: 1}\nenvironment: {name: CartPole-v1}\n"
OLD = (
    "algorithm:\n  name: SFT  # tune\n  pretrained_model_name_or_path: m\n"
    "environment: {env_type: sft, dataset: d}\n"
)


@dataclass
class Ran:
    """What a command wrote, and how it ended."""

    exit_code: int
    stdout: str
    stderr: str


Run = Callable[..., Ran]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run `arena manifest` as the program does."""

    def ran(*arguments: str, stdin: str = "") -> Ran:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        with pytest.raises(SystemExit) as ended:
            root.run(["manifest", *arguments])
        written = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Ran(ended.value.code, written.out, written.err)

    return ran


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Paths of a good, a bad, an old and an unreadable manifest."""
    texts = {"good": GOOD, "bad": BAD, "old": OLD, "broken": "a: [\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.yaml").write_text(text, encoding="utf-8")
    return {name: str(tmp_path / f"{name}.yaml") for name in (*texts, "absent")}


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (["good"], 0),
        (["old"], 0),
        (["bad"], 1),
        (["broken"], 2),
        (["absent"], 2),
        (["good", "bad"], 1),
        (["bad", "absent", "good"], 2),
    ],
)
def test_validate_exits_with_the_worst_verdict(
    run: Run, files: dict[str, str], names: list[str], code: int
) -> None:
    result = run("validate", *(files[name] for name in names))
    assert result.exit_code == code
    assert result.stdout == ""
    assert result.stderr


def test_validate_names_file_place_and_remedy(run: Run, files: dict[str, str]) -> None:
    assert run("validate", files["bad"]).stderr == (
        f"{files['bad']}: line 1, column 24: algorithm.lrr: There is no such field."
        " Did you mean 'lr'?\n"
    )


def test_validate_prints_only_the_payload_to_stdout(run: Run, files: dict[str, str]) -> None:
    result = run("validate", "--payload", files["good"])
    payload = json.loads(result.stdout)
    assert payload["algorithm"]["name"] == "DQN"
    assert result.stderr == f"{files['good']}: valid\n"


def test_validate_json_is_one_document_a_line_in_order(run: Run, files: dict[str, str]) -> None:
    result = run("validate", "--json", files["bad"], files["good"])
    first, second = map(json.loads, result.stdout.splitlines())
    assert result.exit_code == 0
    assert (first["ok"], second["ok"]) == (False, True)
    assert first["payload"] is None
    assert first["errors"] == [
        {
            "path": "algorithm.lrr",
            "message": "There is no such field.",
            "kind": "extra_forbidden",
            "line": 1,
            "column": 24,
            "suggestion": "lr",
        }
    ]
    assert second["payload"]["environment"]["name"] == "CartPole-v1"
    assert set(second) >= {"ok", "errors", "payload", "manifest_version"}


def test_validate_prints_problems_as_data(run: Run, files: dict[str, str]) -> None:
    result = run("validate", files["bad"], "-o", "json")
    (row,) = json.loads(result.stdout)
    assert (result.exit_code, result.stderr, list(row)) == (1, "", ["path", "message"])
    assert row["path"] == "algorithm.lrr"
    both = run("validate", files["good"], files["bad"], "-o", "csv")
    assert both.stdout.splitlines()[0] == "file,path,message"
    assert json.loads(run("validate", files["good"], "-o", "json").stdout) == []
    assert run("validate", files["bad"], "-o", "json", "--json").exit_code == 2


def test_validate_json_exits_2_for_what_cannot_be_read(run: Run, files: dict[str, str]) -> None:
    result = run("validate", "--json", files["absent"])
    assert result.exit_code == 2
    assert json.loads(result.stdout)["ok"] is False
    assert "No such file" in result.stderr


def test_validate_reads_standard_input(run: Run) -> None:
    assert run("validate", "-", stdin=GOOD).exit_code == 0
    assert run("validate", "-", stdin=BAD).exit_code == 1
    assert run("validate", "-", stdin="\x00").exit_code == 2


def test_validate_says_that_old_spellings_can_be_migrated(run: Run, files: dict[str, str]) -> None:
    result = run("validate", files["old"])
    assert "warning: line 4" in result.stderr
    assert "arena manifest migrate" in result.stderr


def test_infinite_numbers_are_null_in_json(run: Run) -> None:
    text = GOOD + "training: {target_score: .inf}\n"
    result = run("validate", "--json", "-", stdin=text)
    assert json.loads(result.stdout)["payload"]["training"]["target_score"] is None


def test_a_long_word_does_not_flood_the_terminal(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "long.yaml"
    path.write_text(GOOD + f"{'x' * 5000}: 1\n", encoding="utf-8")
    assert len(run("validate", str(path)).stderr) < 1000


def test_schema_is_json_schema(run: Run) -> None:
    printed = json.loads(run("schema").stdout)
    assert printed["$schema"].endswith("2020-12/schema")


@pytest.mark.parametrize(("algorithm", "env"), [("DQN", "CartPole-v1"), ("GRPO", "gsm8k")])
def test_init_writes_a_valid_manifest(run: Run, algorithm: str, env: str, tmp_path: Path) -> None:
    target = tmp_path / "new.yaml"
    arguments = ("init", "--algorithm", algorithm, "--env", env)
    printed = run(*arguments)
    assert run(*arguments, "--output-file", str(target)).exit_code == 0
    assert target.read_text(encoding="utf-8") == printed.stdout
    assert run("validate", str(target)).exit_code == 0
    again = run(*arguments, "--output-file", str(target))
    assert (again.exit_code, "--force" in again.stderr) == (2, True)
    assert run(*arguments, "--output-file", str(target), "--force").exit_code == 0


def test_init_answers_an_unknown_algorithm_with_the_closest(run: Run) -> None:
    result = run("init", "--algorithm", "DNQ", "--env", "x")
    assert result.exit_code == 2
    assert "Did you mean 'DQN'?" in result.stderr


def test_explain_says_what_a_field_is(run: Run) -> None:
    result = run("explain", "algorithm.lr", "--algorithm", "DQN")
    assert result.stdout == (
        "algorithm.lr  (DQN)\n"
        "what        Learning rate of the optimizer.\n"
        "may be      number, at least 0\n"
        "default     0.0001\n"
        "mutated by  mutation.rl_hp_selection.lr, with chance mutation.probabilities.rl_hp_mut\n"
    )


def test_explain_groups_the_algorithms_that_have_a_field(run: Run) -> None:
    found = json.loads(run("explain", "algorithm.lr", "--json").stdout)
    defaults = {tuple(one["algorithms"]): one["default"] for one in found}
    assert defaults["NeuralTS",] == "0.003"
    assert defaults["SFT",] == "5e-05"


@pytest.mark.parametrize(
    "path",
    [
        "mutation.probabilities", "training.evo_steps", "network.encoder_config.hidden_size",
        "environment.env_services.0.containers", "replay_buffer.group_replay_max_age",
        "tournament_selection.n_winners", "selection_strategy.elitism", "network",
        "algorithm.vllm_config.sleep_mode", "mutation.rl_hp_selection.lr.min",
    ],
)  # fmt: skip
def test_explain_reaches_every_kind_of_field(run: Run, path: str) -> None:
    result = run("explain", path)
    assert result.exit_code == 0, result.stderr
    assert "what " in result.stdout


def test_explain_answers_an_unknown_field_with_the_closest(run: Run) -> None:
    result = run("explain", "algorithm.learning_rate")
    assert result.exit_code == 2
    assert "Did you mean 'algorithm.lr'?" in result.stderr


def test_diff_compares_what_is_meant(run: Run, files: dict[str, str], tmp_path: Path) -> None:
    other = tmp_path / "other.yaml"
    other.write_text(
        "algorithm: {name: DQN, lr: 1e-4, double: false}\n"
        "environment: {name: CartPole-v1}\nnetwork: {latent_dim: 64}\n",
        encoding="utf-8",
    )
    result = run("diff", files["good"], str(other))
    assert result.exit_code == 1
    assert result.stdout.splitlines()[0] == "~ algorithm.double: true -> false"
    assert any(line.startswith("+ network") for line in result.stdout.splitlines())
    lines = run("diff", files["good"], str(other), "--json").stdout.splitlines()
    assert json.loads(lines[0]) == {"path": "algorithm.double", "old": True, "new": False}
    assert run("diff", files["good"], files["good"]).exit_code == 0
    assert run("diff", files["good"], files["absent"]).exit_code == 2


def test_migrate_rewrites_in_place_and_says_what(run: Run, files: dict[str, str]) -> None:
    result = run("migrate", files["old"])
    text = Path(files["old"]).read_text(encoding="utf-8")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "`sft` is called `dataset` now" in result.stderr
    assert "name: SFT  # tune" in text
    assert yaml.safe_load(text)["environment"]["objective"] == "sft"
    again = run("migrate", files["old"])
    assert again.stderr == "Nothing is retired.\n"


def test_migrate_check_changes_nothing(run: Run, files: dict[str, str]) -> None:
    assert run("migrate", "--check", files["old"]).exit_code == 1
    assert Path(files["old"]).read_text(encoding="utf-8") == OLD
    assert run("migrate", "--check", files["good"]).exit_code == 0


def test_migrate_filters_standard_input(run: Run) -> None:
    result = run("migrate", "-", stdin=OLD)
    assert "env_type: dataset" in result.stdout
    assert run("validate", "-", stdin=result.stdout).exit_code == 0


def test_migrate_says_what_is_still_wrong(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "old.yaml"
    path.write_text(OLD.replace("SFT  # tune", "SFT\n  lrr: 1"), encoding="utf-8")
    result = run("migrate", str(path))
    assert result.exit_code == 1
    assert "still wrong" in result.stderr


def test_migrate_leaves_unreadable_files_alone(run: Run, files: dict[str, str]) -> None:
    assert run("migrate", files["broken"]).exit_code == 2
    assert run("migrate", files["absent"]).exit_code == 2


@pytest.mark.parametrize("command", ["validate", "schema", "init", "explain", "diff", "migrate"])
def test_every_command_has_help_with_an_example(run: Run, command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert "Example: arena manifest" in result.stdout


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("rand_seed", {"mutation.rand_seed"}),
        ("seed", {"algorithm.seed", "mutation.rand_seed"}),
        ("learning_rate", {"algorithm.lr"}),
        ("no_mut", {"mutation.probabilities.no_mut"}),
    ],
)
def test_explain_finds_a_bare_name_in_all_sections(run: Run, name: str, paths: set[str]) -> None:
    done = run("explain", name, "--json")
    assert {one["path"] for one in json.loads(done.stdout)} == paths


def test_explain_names_the_paths_of_a_name_that_is_close(run: Run) -> None:
    done = run("explain", "rand_sed")
    assert done.exit_code == 2
    assert "Did you mean mutation.rand_seed?" in done.stderr


def test_explain_lists_first_what_every_run_heeds(run: Run) -> None:
    from arena_sdk.manifest.training import OF_LANGUAGE_MODELS, Training

    (found,) = json.loads(run("explain", "training", "--json").stdout)
    fields = found["fields"]
    assert sorted(fields) == sorted(Training.model_fields)
    assert fields[:3] == ["name", "max_steps", "evo_steps"]
    assert set(fields[-len(OF_LANGUAGE_MODELS) :]) == OF_LANGUAGE_MODELS
