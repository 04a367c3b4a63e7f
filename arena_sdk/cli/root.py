"""The `arena` group: global flags, and a table of commands that are imported when they are used."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

import click
from click.core import ParameterSource

from arena_sdk.cli.context import Globals

# name: (module, attribute, one-line help). The help stands here so that `arena --help` need not
# import the module.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "agent": ("agent", "agent", "Deploy trained agents, play and time them."),
    "config": ("config", "config", "Show and change settings, and where each came from."),
    "completion": ("completion", "completion", "Print the script that completes in a shell."),
    "datasets": ("datasets", "datasets", "Upload and manage datasets for language models."),
    "demo": ("demo", "demo", "Run the whole job once on this machine, then clean up."),
    "doctor": ("doctor", "doctor", "Check this installation and say what to mend."),
    "env": ("env", "env", "Scaffold, validate, profile and manage environments."),
    "experiments": ("experiments", "experiments", "Train populations; watch, stop, resume them."),
    "local": ("local", "local", "Run an Arena of your own on this machine."),
    "login": ("account", "login", "Log in to hosted Arena."),
    "logout": ("account", "logout", "Log out and forget the stored tokens."),
    "manifest": ("manifest", "manifest", "Check, explain and write training manifests."),
    "models": ("models", "models", "List language models that can be trained."),
    "open": ("web", "open_", "Open the web page of a thing on hosted Arena."),
    "projects": ("projects", "projects", "Group experiments into projects."),
    "resources": ("resources", "resources", "List what an experiment can run on."),
    "user": ("account", "user", "Show who you are and what credits are left."),
    "whoami": ("account", "whoami", "Show which Arena and which credential are in use."),
    "version": ("version", "version", "Print the version."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported on first use, so that help and completion are quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, sorted."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return one command, or None when there is no such name."""
        entry = COMMANDS.get(cmd_name)
        if entry is None:
            return None
        module, attribute, _ = entry
        command = getattr(importlib.import_module(f"arena_sdk.cli.{module}"), attribute)
        return command if isinstance(command, click.Command) else None

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; end quietly when the reader of its output has gone.

        Click would end such a command with exit code 1 and nothing said.
        """
        from arena_sdk.cli import exits

        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            exits.leave_quietly()

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table, importing none."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name][2]) for name in self.list_commands(ctx)])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name the closest one."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            close = get_close_matches(args[0], COMMANDS, n=1)
            if not close:
                raise
            message = f"{error.message} Did you mean `arena {close[0]}`?"
            raise click.UsageError(message, ctx) from None


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: arena demo",
)
@click.option("--api-key", help="Bearer secret: a personal access token or an access token.")
@click.option("--org-key", help="Organisation key; goes with --external-user-id.")
@click.option("--external-user-id", help="User id sent with an organisation key.")
@click.option("--base-url", help="Base URL of the Arena to talk to.  [env: ARENA_BASE_URL]")
@click.option("--keycloak-url", help="Identity server to log in at.  [env: ARENA_KEYCLOAK_URL]")
@click.option("--realm", help="Realm on the identity server.")
@click.option("--client-id", help="Client id on the identity server.")
@click.option(
    "--request-timeout",
    type=click.IntRange(min=1),
    default=30,
    show_default=True,
    help="Seconds a request may take.",
)
@click.option(
    "--upload-timeout",
    type=click.IntRange(min=1),
    default=300,
    show_default=True,
    help="Seconds an upload may take.",
)
@click.option(
    "--profile", help="Which Arena: `hosted`, `local` or one of your own.  [env: ARENA_PROFILE]"
)
@click.option("--local", "use_local", is_flag=True, help="The same as --profile local.")
@click.option("-v", "--verbose", is_flag=True, help="Say on stderr what is sent and retried.")
@click.version_option(package_name="arena-tui", prog_name="arena-tui")
@click.pass_context
def arena(ctx: click.Context, /, use_local: bool, profile: str | None, **flags: Any) -> None:
    """Reinforcement learning on Arena, hosted or on this machine, from the command line."""
    if use_local and profile not in (None, "local"):
        raise click.UsageError(f"--local and --profile {profile} exclude each other.")
    for name in ("request_timeout", "upload_timeout"):
        if ctx.get_parameter_source(name) is ParameterSource.DEFAULT:
            flags[name] = None  # what a profile says goes before a default
    ctx.obj = Globals(profile="local" if use_local else profile, **flags)


def _use_forgiving_streams() -> None:
    """Let a terminal that cannot show a character, or a closed stream, be no reason to crash."""
    if sys.stdin is None:  # so it is when the shell has closed it (`<&-`)
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        reconfigure = getattr(getattr(sys, name), "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _word_around(error: UnicodeEncodeError) -> str:
    """Return the word of a command that could not be sent, out of the document that it was in."""
    text = error.object
    begin = text.rfind('"', 0, error.start) + 1
    end = text.find('"', error.start)
    return text[begin:] if end < 0 else text[begin:end]


def run(arguments: list[str] | None = None) -> None:
    """Run the program and leave with its documented exit code."""
    from arena_sdk.cli import exits
    from arena_sdk.errors import ArenaError

    _use_forgiving_streams()
    try:
        result = arena.main(args=arguments, prog_name="arena", standalone_mode=False)
        sys.stdout.flush()
        code = result if isinstance(result, int) else exits.OK
    except BrokenPipeError:
        exits.leave_quietly()
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        code = exits.INTERRUPTED
    except click.UsageError as error:
        error.show()
        code = exits.USAGE
    except click.ClickException as error:
        exits.say_error(error.format_message())
        code = error.code if isinstance(error, exits.Failure) else error.exit_code
    except ArenaError as error:
        code = exits.report(error)
    except UnicodeEncodeError as error:
        exits.say_error(
            f"{_word_around(error)!r} holds bytes that are no UTF-8 text; none is sent."
        )
        code = exits.USAGE
    except OSError as error:
        where = f": {error.filename}" if error.filename else ""
        why = os.strerror(error.errno) if error.errno else str(error).rstrip(".")
        exits.say_error(f"{why}{where}.")
        code = exits.USAGE
    sys.exit(code)
