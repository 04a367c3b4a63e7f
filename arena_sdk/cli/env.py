"""`arena env`: scaffold, validate, profile and manage custom environments."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from arena_sdk._files import write_whole
from arena_sdk.cli.commands import Group
from arena_sdk.cli.context import Globals, confirm_or_refuse, pass_globals
from arena_sdk.cli.env_check import check
from arena_sdk.cli.exits import NOT_FOUND, USAGE, Failure
from arena_sdk.cli.fitting import show_algorithms
from arena_sdk.cli.names import complete, name_argument
from arena_sdk.cli.output import Sink, as_row, echo, note, with_closing_sink, with_sink
from arena_sdk.cli.progress import Teller, bytes_text


@click.group(cls=Group)
def env() -> None:
    """Scaffold, validate, profile and manage environments.

    Example: arena env list
    """


env.add_command(check)


@env.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--name", help="Name of the environment; the folder's own when left out.")
def init(directory: Path, name: str | None) -> None:
    """Write a small working environment, its test and a matching manifest.

    Example: arena env init my-env
    """
    from arena_sdk import scaffold

    for path in scaffold.create(directory, name=name):
        echo(str(path))
    shown = name or directory.resolve().name
    note(
        f"Next: arena env validate {shown} --source {directory}"
        f" --env-config {directory / 'env_config.yaml'}"
    )


@env.command(name="list")
@click.option("--name", shell_complete=complete("environment"), help="Only this environment.")
@click.option(
    "--include-arena/--no-include-arena", default=False, help="Also those that Arena provides."
)
@with_sink
@pass_globals
def list_(flags: Globals, sink: Sink, name: str | None, include_arena: bool) -> None:
    """List environments and their versions.

    Example: arena env list -o json
    """
    with flags.client() as client:
        found = client.list_environments(name=name, include_arena=include_arena)
    rows = [
        {"name": key, "version": version, **marks}
        for key, versions in found.items()
        for version, marks in versions.items()
    ]
    sink.rows(
        rows,
        ("name", "version", "validated", "profiled"),
        empty="No environments yet: `arena env init DIR` scaffolds one.",
    )


@env.command()
@name_argument("name", "environment")
@click.option("--version", shell_complete=complete("version"), help="Only this version.")
@with_sink
@pass_globals
def exists(flags: Globals, sink: Sink, name: str, version: str | None) -> None:
    """Say whether an environment is registered; prints yes or no.

    Example: arena env exists merge-env --version v1
    """
    with flags.client() as client:
        sink.value(client.environment_exists(name, version))


@env.command()
@name_argument("name", "environment", picked=True)
@click.option(
    "--version", shell_complete=complete("version"), help="Which version; the latest when left out."
)
@with_sink
@pass_globals
def entrypoints(flags: Globals, sink: Sink, name: str, version: str | None) -> None:
    """List the classes of an environment that could be trained on.

    Example: arena env entrypoints merge-env
    """
    with flags.client() as client:
        found = client.list_environment_entrypoints(name, version)
    sink.rows([{"entrypoint": entrypoint} for entrypoint in found], ("entrypoint",))


@env.command()
@name_argument("name", "environment", picked=True)
@click.option(
    "--version", shell_complete=complete("version"), help="Which version; the latest when left out."
)
@with_sink
@pass_globals
def show(flags: Globals, sink: Sink, name: str, version: str | None) -> None:
    """Show one version: checks, spaces, profile.

    Example: arena env show merge-env -o json
    """
    with flags.client() as client:
        found = as_row(client.get_environment(name, version))
    sink.one(found, [key for key in found if key != "algorithms"])
    show_algorithms(sink, found.get("algorithms") or [])


def _planned(source: str | None, options: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what an upload would consist of: files of the source, and those that go beside it."""
    from arena_sdk import uploads

    if source is None:
        raise click.UsageError("--dry-run lists what --source would upload; give both.")
    rows = [
        {"file": entry.name, "bytes": entry.size, "executable": entry.executable}
        for entry in uploads.collect(Path(source).expanduser())
    ]
    for option in ("env_config", "requirements"):
        if options[option] is not None:
            path = Path(options[option]).expanduser()
            (entry,) = uploads.collect(path)
            rows.append({"file": path.name, "bytes": entry.size, "executable": False})
    return rows


@env.command()
@name_argument("name", "environment")
@click.option(
    "--version",
    shell_complete=complete("version"),
    help="Name of the version.  [default: v1 with --source, else latest]",
)
@click.option("--source", type=click.Path(), help="Folder, file or .tar.gz with the environment.")
@click.option("--env-config", type=click.Path(), help="Constructor arguments, YAML or JSON.")
@click.option("--requirements", type=click.Path(), help="A requirements.txt to install first.")
@click.option("--entrypoint", help="module:Class, where there is more than one.")
@click.option("--description", help="What the environment is.")
@click.option("--multi-agent/--single-agent", default=False, help="PettingZoo, or Gymnasium.")
@click.option("--language-based/--classic", default=False, help="GEM, or Gymnasium.")
@click.option("--do-rollouts/--no-do-rollouts", default=False, help="Play 100 random episodes too.")
@click.option("--no-fail", is_flag=True, help="Exit 0 even when a check fails.")
@click.option("--dry-run", is_flag=True, help="Only list what would be uploaded.")
@with_closing_sink
@pass_globals
def validate(
    flags: Globals,
    sink: Sink,
    /,
    name: str,
    source: str | None,
    no_fail: bool,
    dry_run: bool,
    **options: Any,
) -> None:
    """Validate an environment; with --source, upload it as a new version first.

    Checks are told on stderr as they come; exit 1 when one fails.

    Example: arena env validate merge-env --source merge-env/
    """
    if dry_run:
        rows = _planned(source, options)
        sink.rows(rows, ("file", "bytes"))
        if not sink.quiet:
            total = bytes_text(sum(row["bytes"] for row in rows))
            files = "1 file" if len(rows) == 1 else f"{len(rows):,} files"
            note(f"{files}, {total}; nothing was uploaded.")
        return
    teller = Teller(quiet=sink.quiet)
    with flags.client(on_event=teller) as client:
        try:
            result = client.validate_environment(
                name=name, source=source, on_progress=teller.bar, **options
            )
        finally:
            teller.bar.clear()
    sink.one(result, [key for key, value in result.items() if not isinstance(value, dict | list)])
    show_algorithms(sink, result.get("algorithms") or [])
    if not no_fail and (teller.failed or result.get("validated") is False):
        failed = ", ".join(event.check for event in teller.failed) or "the validation"
        raise Failure(f"{name} is not valid: {failed} failed.")


@env.command()
@name_argument("name", "environment", picked=True)
@click.option(
    "--version", shell_complete=complete("version"), help="Which version; the latest when left out."
)
@with_closing_sink
@pass_globals
def profile(flags: Globals, sink: Sink, name: str, version: str | None) -> None:
    """Measure an environment's speed, CPU and memory.

    Example: arena env profile merge-env
    """
    with flags.client(on_event=Teller(quiet=sink.quiet)) as client:
        sink.one(client.profile_environment(name=name, version=version))


@env.command()
@name_argument("name", "environment", picked=True)
@click.option(
    "--version", shell_complete=complete("version"), help="Which version; the latest when left out."
)
@click.option("--output-file", help="GIF to write.  [default: NAME.gif]")
@click.option("--force", is_flag=True, help="Overwrite the file.")
@pass_globals
def rollout(
    flags: Globals, name: str, version: str | None, output_file: str | None, force: bool
) -> None:
    """Save the frames of a random episode, which --do-rollouts kept.

    Example: arena env rollout merge-env --output-file merge.gif
    """
    path = Path(output_file or f"{name}.gif").expanduser()
    path = path / f"{name}.gif" if path.is_dir() else path
    if path.exists() and not force:
        raise Failure(f"{path} exists already; --force overwrites it.", USAGE)
    with flags.client() as client:
        frames = client.get_environment_rollout(name, version)
    echo(str(write_whole(path, f"{name}.gif", frames)))


@env.command()
@name_argument("name", "environment")
@click.option(
    "--version",
    shell_complete=complete("version"),
    help="Only this version; all of them when left out.",
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@pass_globals
def delete(flags: Globals, name: str, version: str | None, yes: bool) -> None:
    """Delete an environment, or one version of it.

    Example: arena env delete merge-env --version v1 --yes
    """
    what = f"version {version!r} of {name!r}" if version else f"{name!r} with all its versions"
    confirm_or_refuse(f"Delete {what}?", yes=yes)
    with flags.client() as client:
        if not client.environment_exists(name, version):
            missing = f"{name!r} has a version {version!r}" if version else f"is named {name!r}"
            raise Failure(
                f"No environment {missing}: `arena env list` shows what there is.", NOT_FOUND
            )
        client.delete_environment(name=name, version=version, confirm=True)
    note(f"Deleted {what}.")


@env.command()
@name_argument("name", "environment")
@click.argument("new_version")
@click.option(
    "--version",
    shell_complete=complete("version"),
    help="Which version to copy; the latest when left out.",
)
@with_closing_sink
@pass_globals
def duplicate(flags: Globals, sink: Sink, name: str, new_version: str, version: str | None) -> None:
    """Copy a version under a new version name.

    Example: arena env duplicate merge-env v2 --version v1
    """
    with flags.client() as client:
        sink.one(
            client.duplicate_environment_version(
                name=name, new_version=new_version, version=version
            )
        )
