"""What can be done with environments: scaffold, validate, profile, copy, delete, train."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from arena_tui.screens.base import ArenaScreen
from arena_tui.screens.validation import ValidationScreen
from arena_tui.stores.environments import scaffold
from arena_tui.widgets.dialogs import ChoiceDialog, ConfirmDialog
from arena_tui.widgets.form_dialog import Field, FormDialog
from arena_tui.widgets.path_dialog import PathDialog

ALL_VERSIONS = "\0all"


class EnvironmentActions(ArenaScreen):
    """Mixed into the screen of environments."""

    def environment_in_hand(self) -> tuple[str, str] | None:
        """Return name and version of what the actions are about."""
        return None

    def folder_to_start(self) -> Path:
        """Return the folder that pickers start in."""
        return Path.cwd()

    def _why_none(self) -> str | None:
        return None if self.environment_in_hand() else "Choose an environment first."

    why_not_again = why_not_profile = why_not_train = _why_none
    why_not_duplicate = why_not_delete = _why_none

    # From a folder -------------------------------------------------------------------------------

    async def act_validate(self) -> None:
        """Ask for a folder and a name, upload it, and show the checks as they come."""
        folder = await self.app.push_screen_wait(
            PathDialog("Validate which folder?", self.folder_to_start(), check=_check_source)
        )
        if folder is not None:
            await self.validate_folder(folder)

    async def validate_folder(self, folder: Path) -> None:
        """Ask how to name a folder's environment, and validate it."""
        from arena_sdk.names import name_problem

        if self.arena.memory is not None:
            self.arena.memory.set("folder", str(folder.parent))

        def check(values: dict[str, Any]) -> dict[str, str] | None:
            for field, what in (("name", "environment"), ("version", "version")):
                problem = name_problem(what, str(values[field]))
                if problem:
                    return {field: problem}
            return None

        name = suggested_name(folder)
        answer = await self.app.push_screen_wait(
            FormDialog(
                "Validate an environment",
                [
                    Field("name", "Name", value=name, required=True),
                    Field("version", "Version", value=self._next_version(name), required=True),
                    Field("entrypoint", "Entrypoint", help="module:Class, when there are several"),
                    Field("do_rollouts", "Run 100 random episodes too", "switch", False),
                ],
                submit="Validate",
                intro=upload_summary(folder),
                check=check,
            )
        )
        if answer is None:
            return
        job = self.hub.environments.validate_folder(
            str(answer["name"]),
            str(answer["version"]),
            folder,
            entrypoint=answer["entrypoint"],
            do_rollouts=bool(answer["do_rollouts"]),
        )
        await self.app.push_screen(ValidationScreen(job))

    def _next_version(self, name: str) -> str:
        """Return the first `v<n>` that a name does not have."""
        have = (self.hub.environments.value or {}).get(name, {})
        number = 1
        while f"v{number}" in have:
            number += 1
        return f"v{number}"

    async def act_new(self) -> None:
        """Write a small environment into a new folder, and offer to validate it."""
        start = self.folder_to_start() / "my-env"

        def check(values: dict[str, Any]) -> dict[str, str] | None:
            folder = Path(str(values["folder"])).expanduser()
            if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
                return {"folder": f"{folder} exists and is not empty; choose another."}
            return None

        answer = await self.app.push_screen_wait(
            FormDialog(
                "Scaffold an environment",
                [
                    Field(
                        "folder",
                        "New folder",
                        "path",
                        str(start),
                        required=True,
                        help="Gets a small working environment, a test and a manifest.",
                    )
                ],
                submit="Write",
                check=check,
            )
        )
        if answer is None:
            return
        folder = absolute_path(answer["folder"])
        files = scaffold(folder, suggested_name(folder))
        sure = await self.app.push_screen_wait(
            ConfirmDialog(
                "Validate it now?",
                f"Wrote {len(files)} files into {folder}.",
                confirm="Validate",
                danger=False,
            )
        )
        if sure:
            await self.validate_folder(folder)

    # With one that there is ----------------------------------------------------------------------

    async def act_again(self) -> None:
        """Validate the selected version again."""
        name, version = self.environment_in_hand() or ("", "")
        job = self.hub.environments.validate_again(name, version)
        await self.app.push_screen(ValidationScreen(job))

    async def act_profile(self) -> None:
        """Measure the selected version."""
        name, version = self.environment_in_hand() or ("", "")
        job = self.hub.environments.profile(name, version)
        await self.app.push_screen(ValidationScreen(job))

    async def act_train(self) -> None:
        """Use the selected version in a new experiment."""
        name, version = self.environment_in_hand() or ("", "")
        await self.arena.open_new(
            environment=name,
            version=version,
            manifest=self.hub.environments.manifest_beside(name, version),
        )

    async def act_duplicate(self) -> None:
        """Copy the selected version to a new one."""
        name, version = self.environment_in_hand() or ("", "")
        answer = await self.app.push_screen_wait(
            FormDialog(
                f"Duplicate {name} {version}",
                [Field("version", "New version", value=self._next_version(name), required=True)],
                submit="Duplicate",
            )
        )
        if answer:
            await self.hub.environments.duplicate(name, version, str(answer["version"]))
            self.tell(f"Made {name} {answer['version']}.")

    async def act_delete(self) -> None:
        """Delete the selected version, or the environment with all versions."""
        name, version = self.environment_in_hand() or ("", "")
        versions = list((self.hub.environments.value or {}).get(name, {}))
        which: str | None = version
        if len(versions) > 1:
            which = await self.app.push_screen_wait(
                ChoiceDialog(
                    f"Delete which of {name}?",
                    [
                        (f"version {version} only", version),
                        (f"all {len(versions)} versions", ALL_VERSIONS),
                    ],
                )
            )
        if which is None:
            return
        everything = which == ALL_VERSIONS
        sure = await self.app.push_screen_wait(
            ConfirmDialog(
                f"Delete {name}{'' if everything else ' ' + version}?",
                "Its source and the results of its checks are gone then.",
                loses=[f"version {item}" for item in versions] if everything else (),
                typed=name if everything else None,
            )
        )
        if sure:
            await self.hub.environments.delete(name, None if everything else version)
            self.tell(f"Deleted {name}{'' if everything else ' ' + version}.")


def absolute_path(text: Any) -> Path:
    """Return what was typed as an absolute path."""
    return Path(str(text)).expanduser().absolute()


def suggested_name(folder: Path) -> str:
    """Return a name for a folder's environment that the service takes."""
    cleaned = re.sub(r"[^\w .-]+", "-", folder.name).strip(" ._-")
    return cleaned[:100] or "environment"


def _check_source(folder: Path) -> str | None:
    """Return what is wrong with a folder as the source of an environment."""
    if any(folder.glob("*.py")) or any(folder.glob("*/*.py")):
        return None
    return f"{folder} holds no Python file, so it holds no environment."


def upload_summary(folder: Path) -> str:
    """Return what would be uploaded of a folder: how many files, how large, and their names."""
    from arena_sdk.uploads import collect

    entries = collect(folder)
    size = sum(entry.size for entry in entries)
    names = ", ".join(entry.name for entry in entries[:8])
    more = f" and {len(entries) - 8} more" if len(entries) > 8 else ""
    return f"{folder}\nUploads {len(entries)} files, {size / 1024:,.1f} kB: {names}{more}"
