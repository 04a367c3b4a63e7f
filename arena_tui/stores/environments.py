"""Environments and their versions, what is known of each, and what is done with them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from arena_tui.stores.base import Polled
from arena_tui.stores.work import Job

if TYPE_CHECKING:
    from arena_tui.stores.hub import Hub

MOST_FRAMES = 300
Listing = dict[str, dict[str, dict[str, Any]]]


class Environments(Polled[Listing]):
    """`{name: {version: {"validated", "profiled"}}}`, as the service lists them.

    Attributes:
        chosen: Name and version of what was looked at last; resources are measured by it.
    """

    def __init__(self, hub: Hub) -> None:
        super().__init__(hub, self._list, every=2)
        self._sources: dict[tuple[str, str], Path] = {}
        self._details: dict[tuple[str, str], Polled[dict[str, Any]]] = {}
        self._animations: dict[tuple[str, str], Polled[list[Any]]] = {}
        self.chosen: tuple[str, str] | None = None

    async def _list(self) -> Listing:
        listing = await self.hub.client.list_environments()
        return {str(name): dict(versions) for name, versions in listing.items()}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One row a version: key, name, version, validated, profiled."""
        return [
            {
                "key": f"{name}\0{version}",
                "name": name,
                "version": str(version),
                "validated": bool(marks.get("validated")),
                "profiled": bool(marks.get("profiled")),
            }
            for name, versions in sorted((self.value or {}).items())
            for version, marks in versions.items()
        ]

    def details(self, name: str, version: str) -> Polled[dict[str, Any]]:
        """Return the store of all that is known of one version; asked for once, then on refresh."""
        key = (name, version)
        if key not in self._details:

            async def fetch() -> dict[str, Any]:
                return dict(await self.hub.client.get_environment(name, version))

            self._details[key] = Polled(self.hub, fetch, every=None)
        return self._details[key]

    def animation(self, name: str, version: str) -> Polled[list[Any]]:
        """Return the store of the frames of a random episode; asked for once."""
        key = (name, version)
        if key not in self._animations:

            async def fetch() -> list[Any]:
                return frames_of(await self.hub.client.get_environment_rollout(name, version))

            self._animations[key] = Polled(self.hub, fetch, every=None)
        return self._animations[key]

    def forget(self) -> None:
        """Drop the data, those of single versions too."""
        super().forget()
        self._details.clear()
        self._animations.clear()

    def refresh(self) -> None:
        """Ask for the list and for the details on the screen again."""
        super().refresh()
        for store in self._details.values():
            store.refresh()

    def validate_folder(
        self,
        name: str,
        version: str,
        source: Path,
        *,
        entrypoint: str | None = None,
        do_rollouts: bool = False,
    ) -> Job:
        """Upload a folder and validate it, with the `env_config` and requirements inside it."""

        self._sources[name, version] = source

        async def do(job: Job) -> Any:
            options: dict[str, Any] = {"do_rollouts": do_rollouts}
            if entrypoint:
                options["entrypoint"] = entrypoint
            return await self._streamed(
                job, "validate_environment", name=name, version=version, source=source, **options
            )

        return self.hub.work.start("validate", (name, version), do)

    def manifest_beside(self, name: str, version: str) -> Path | None:
        """Return the manifest in the folder that a version was validated from in this session."""
        source = self._sources.get((name, version))
        found = source / "manifest.yaml" if source is not None else None
        return found if found is not None and found.is_file() else None

    def validate_again(self, name: str, version: str) -> Job:
        """Validate a version that the service has."""

        async def do(job: Job) -> Any:
            return await self._streamed(job, "validate_environment", name=name, version=version)

        return self.hub.work.start("validate", (name, version), do)

    def profile(self, name: str, version: str) -> Job:
        """Measure a version."""

        async def do(job: Job) -> Any:
            return await self._streamed(job, "profile_environment", name=name, version=version)

        return self.hub.work.start("profile", (name, version), do)

    async def _streamed(self, job: Job, method: str, **arguments: Any) -> Any:
        try:
            return await self.hub.streamed(job, method, **arguments)
        finally:
            self.refresh()

    async def delete(self, name: str, version: str | None) -> None:
        """Delete one version, or all of them."""
        await self.hub.call(
            lambda: self.hub.client.delete_environment(name=name, version=version, confirm=True)
        )
        self.refresh()

    async def duplicate(self, name: str, version: str, new_version: str) -> None:
        """Copy a version under a new name."""
        await self.hub.call(
            lambda: self.hub.client.duplicate_environment_version(
                name=name, new_version=new_version, version=version
            )
        )
        self.refresh()


def scaffold(folder: Path, name: str) -> list[str]:
    """Write a small working environment into a new folder; returns the files made.

    Raises:
        OSError: The folder cannot be written.
        ValueError: The folder is not empty, or the name cannot be used.
    """
    from arena_sdk import scaffold as scaffolds

    made = scaffolds.create(folder, name=name)
    return [str(path) for path in made or sorted(folder.rglob("*"))]


def frames_of(gif: bytes) -> list[Any]:
    """Return the frames of an animation, uint8 of shape (height, width, 3); [] where none can be.

    Pillow reads them; without it there are none.
    """
    import io

    try:
        import numpy as np
        from PIL import Image, ImageSequence
    except ImportError:
        return []
    try:
        with Image.open(io.BytesIO(gif)) as image:
            return [
                np.asarray(frame.convert("RGB"))
                for _, frame in zip(range(MOST_FRAMES), ImageSequence.Iterator(image), strict=False)
            ]
    except (OSError, ValueError):
        return []
