"""`arena manifest`: check, explain, compare and write training manifests.

Data goes to stdout, all else to stderr. `validate` exits 0 when all files are valid, 1 when one is
not and 2 when one cannot be read; with `--json` 0 for either verdict.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena_sdk.cli.commands import Group
from arena_sdk.cli.exits import REFUSED, USAGE, Failure
from arena_sdk.cli.output import FORMATS, Sink, echo, note
from arena_sdk.text import safe_text, shorten_words

if TYPE_CHECKING:
    from arena_sdk.manifest import Problem, TrainingManifest


@click.group(cls=Group)
def manifest() -> None:
    """Check, explain, compare and write training manifests.

    Example: arena manifest validate dqn.yaml
    """


def _say(line: str) -> None:
    """Write one line about a manifest to stderr; it quotes what somebody wrote."""
    note(shorten_words(safe_text(line)))


def _load(source: str) -> TrainingManifest:
    """Read and check a manifest, or end with what is wrong with it."""
    from arena_sdk.manifest import ManifestError, ManifestUnreadable, TrainingManifest

    try:
        return TrainingManifest.load(_existing(source))
    except ManifestError as error:
        for problem in error.problems:
            _say(f"{source}: {problem}")
        code = USAGE if isinstance(error, ManifestUnreadable) else REFUSED
        raise click.exceptions.Exit(code) from None


def _existing(source: str) -> str | Path:
    """Return a path for what names a file, so that it is never taken for a manifest's text."""
    return source if source == "-" else Path(source)


def _as_json(problem: Problem) -> dict[str, Any]:
    return {key: value for key, value in vars(problem).items() if key != "severity"}


def _verdict(source: str, *, with_payload: bool) -> tuple[dict[str, Any], list[Problem], int]:
    """Check one manifest.

    Returns:
        The document of `--json`, what is to be said of it, and the exit code.
    """
    from importlib.metadata import version

    from arena_sdk.manifest import ManifestError, ManifestUnreadable, TrainingManifest

    document: dict[str, Any] = {"file": source, "ok": True, "errors": [], "warnings": []}
    problems: list[Problem] = []
    code = 0
    try:
        loaded = TrainingManifest.load(_existing(source))
        document["warnings"] = [_as_json(problem) for problem in loaded.warnings]
        problems = loaded.warnings
        document["payload"] = loaded.payload() if with_payload else None
    except ManifestError as error:
        code = USAGE if isinstance(error, ManifestUnreadable) else REFUSED
        problems = error.problems
        document |= {"ok": False, "errors": [_as_json(one) for one in problems], "payload": None}
    document["manifest_version"] = version("arena-tui")
    return document, problems, code


@manifest.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True)
@click.option("--payload", "with_payload", is_flag=True, help="Print what would be submitted.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document a line and file.")
@click.option(
    "-o",
    "--output",
    "output_format",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    help="Print the problems as data in this format; a table says them on stderr.",
)
def validate(files: tuple[str, ...], with_payload: bool, as_json: bool, output_format: str) -> None:
    """Check manifests; `-` reads standard input.

    Exit 0 when all are valid, 1 when one is not, 2 when one cannot be read; with --json 0 for
    either verdict.

    Example: arena manifest validate dqn.yaml
    """
    if output_format != "table":
        if as_json or with_payload:
            raise click.UsageError("-o goes neither with --json nor with --payload.")
        raise click.exceptions.Exit(_print_problems(files, Sink(output_format)))
    worst = 0
    for source in files:
        document, problems, code = _verdict(source, with_payload=with_payload or as_json)
        if as_json:
            echo(json.dumps(_finite(document), ensure_ascii=False))
            if code == USAGE:
                _report(source, problems, code, True)
            code = USAGE if code == USAGE else 0
        else:
            _report(source, problems, code, len(files) > 1 or source != "-")
            if with_payload and not code:
                echo(json.dumps(_finite(document["payload"]), ensure_ascii=False, indent=2))
        worst = max(worst, code)
    raise click.exceptions.Exit(worst)


def _print_problems(files: tuple[str, ...], sink: Sink) -> int:
    """Print what is wrong in all files, warnings not among it; return the exit code."""
    rows: list[dict[str, Any]] = []
    worst = 0
    for source in files:
        _, problems, code = _verdict(source, with_payload=False)
        worst = max(worst, code)
        named = {"file": source} if len(files) > 1 else {}
        rows += [{**named, "path": one.path, "message": one.message} for one in problems if code]
    sink.rows(rows, ("file", "path", "message") if len(files) > 1 else ("path", "message"))
    return worst


def _report(source: str, problems: list[Problem], code: int, named: bool) -> None:
    prefix = f"{source}: " if named else ""
    for problem in problems:
        word = "warning: " if problem.severity == "warning" else ""
        _say(f"{prefix}{word}{problem}")
    if not code:
        retired = any(problem.kind == "retired" for problem in problems)
        hint = "; `arena manifest migrate` rewrites retired spellings" if retired else ""
        _say(f"{source}: valid{hint}")


def _finite(value: Any) -> Any:
    """Return a value as JSON can write it; infinity and NaN become null, as in the contract."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return None
    return value


@manifest.command()
def schema() -> None:
    """Print the JSON Schema of manifests, for editors.

    Example: arena manifest schema > manifest.schema.json
    """
    from arena_sdk.manifest import TrainingManifest

    echo(json.dumps(TrainingManifest.schema(), ensure_ascii=False, indent=2))


@manifest.command()
@click.option("--algorithm", required=True, help="Name of the algorithm, as DQN or PPO.")
@click.option("--env", required=True, help="Environment; a data set for language models.")
@click.option("--output-file", type=click.Path(), help="Write it there instead of to stdout.")
@click.option("--force", is_flag=True, help="Overwrite the output file.")
def init(algorithm: str, env: str, output_file: str | None, force: bool) -> None:
    """Write a commented manifest to begin with.

    Example: arena manifest init --algorithm DQN --env CartPole-v1 > dqn.yaml
    """
    from arena_sdk.manifest import ManifestError
    from arena_sdk.manifest.starting import starting_text

    try:
        text = starting_text(algorithm, env)
    except ManifestError as error:
        raise click.UsageError(str(error)) from None
    if output_file is None:
        echo(text, nl=False)
        return
    path = Path(output_file)
    if path.exists() and not force:
        raise Failure(f"{path} exists already; --force overwrites it.", USAGE)
    path.write_text(text, encoding="utf-8")
    note(f"Wrote {path}")


@manifest.command()
@click.argument("path")
@click.option("--algorithm", help="Of which algorithm; without it all that have the field.")
@click.option("--json", "as_json", is_flag=True, help="Print it as JSON.")
def explain(path: str, algorithm: str | None, as_json: bool) -> None:
    """Say what a field is, its bounds and default, and what mutates it.

    Example: arena manifest explain algorithm.lr
    """
    from arena_sdk.manifest.explaining import explanations

    try:
        found = explanations(path, algorithm)
    except ValueError as error:
        raise Failure(str(error), USAGE) from None
    if as_json:
        echo(json.dumps([one.as_dict() for one in found], ensure_ascii=False, indent=2))
        return
    for index, one in enumerate(found):
        if index:
            echo()
        echo("\n".join(one.lines()))


@manifest.command()
@click.argument("old", metavar="A")
@click.argument("new", metavar="B")
@click.option("--json", "as_json", is_flag=True, help="One JSON document a line and difference.")
def diff(old: str, new: str, as_json: bool) -> None:
    """Compare what two manifests mean, after defaults.

    Exit 0 when they mean the same, 1 when they differ, 2 when one cannot be read.

    Example: arena manifest diff dqn.yaml other.yaml
    """
    from arena_sdk.manifest.comparing import differences

    found = differences(_load(old).payload(), _load(new).payload())
    for one in found:
        if as_json:
            echo(json.dumps(_finite(one.as_dict()), ensure_ascii=False))
        else:
            echo(safe_text(str(one)))
    if not found:
        note("They mean the same.")
    raise click.exceptions.Exit(REFUSED if found else 0)


@manifest.command()
@click.argument("file")
@click.option("--check", is_flag=True, help="Only say what would be changed; exit 1 if anything.")
def migrate(file: str, check: bool) -> None:
    """Rewrite retired spellings in a file, keeping its comments; `-` filters.

    Example: arena manifest migrate grpo.yaml
    """
    from arena_sdk.manifest import ManifestError, ManifestUnreadable
    from arena_sdk.manifest.migrate import migrate_text
    from arena_sdk.manifest.source import text_of

    try:
        text = text_of(_existing(file))
        rewritten, changes = migrate_text(text)
    except ManifestError as error:
        for problem in error.problems:
            _say(f"{file}: {problem}")
        code = USAGE if isinstance(error, ManifestUnreadable) else REFUSED
        raise click.exceptions.Exit(code) from None
    for change in changes:
        _say(f"{file}: {change}")
    if not check:
        _write(file, text, rewritten)
    note(f"{len(changes)} change{'s' * (len(changes) != 1)}." if changes else "Nothing is retired.")
    raise click.exceptions.Exit(_after_migration(file, rewritten, changes, check=check))


def _write(file: str, text: str, rewritten: str) -> None:
    if file == "-":
        sys.stdout.write(rewritten)
    elif rewritten != text:
        path = Path(file)
        aside = path.with_name(f".{path.name}.new")
        aside.write_text(rewritten, encoding="utf-8", newline="")
        aside.chmod(path.stat().st_mode)
        aside.replace(path)


def _after_migration(file: str, text: str, changes: list[Problem], *, check: bool) -> int:
    """Say what is still wrong, and return the exit code."""
    from arena_sdk.manifest.document import TrainingManifest
    from arena_sdk.manifest.source import parse

    left = TrainingManifest.problems_in(parse(text))
    for problem in left:
        _say(f"{file}: still wrong: {problem}")
    return REFUSED if left or (check and changes) else 0
