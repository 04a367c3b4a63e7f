"""Where everything of an embedded Arena lies below its data folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class DataPaths:
    """Names of the files and folders below one data folder.

    Args:
        root: The data folder.
    """

    root: Path

    def create(self) -> None:
        """Make the data folder, closed to others, and its subfolders."""
        self.root.mkdir(parents=True, exist_ok=True, mode=0o700)
        for folder in (
            self.uploads,
            self.sources,
            self.overlays,
            self.jobs,
            self.experiments,
            self.datasets,
        ):
            folder.mkdir(exist_ok=True)

    @property
    def token(self) -> Path:
        """The bearer token, readable by the owner only."""
        return self.root / "token"

    @property
    def server_info(self) -> Path:
        """Where the running server says who and where it is."""
        return self.root / "server.json"

    @property
    def lock(self) -> Path:
        """Locked for as long as a server runs."""
        return self.root / "server.lock"

    @property
    def log(self) -> Path:
        """The server's own log."""
        return self.root / "server.log"

    @property
    def database(self) -> Path:
        """The SQLite store."""
        return self.root / "arena.db"

    @property
    def uploads(self) -> Path:
        """Uploads on their way in."""
        return self.root / "uploads"

    @property
    def sources(self) -> Path:
        """Unpacked sources of environments, a folder a content digest."""
        return self.root / "sources"

    @property
    def overlays(self) -> Path:
        """Virtual environments with the requirements of environments, a folder a key."""
        return self.root / "overlays"

    @property
    def jobs(self) -> Path:
        """Private folders of worker processes."""
        return self.root / "jobs"

    @property
    def experiments(self) -> Path:
        """Logs and checkpoints of experiments, a folder an id."""
        return self.root / "experiments"

    @property
    def datasets(self) -> Path:
        """Files of datasets as they were uploaded, a folder each."""
        return self.root / "datasets"

    def source(self, digest: str) -> Path:
        """The unpacked source with that digest."""
        return self.sources / digest

    def overlay(self, key: str) -> Path:
        """The overlay environment with that key."""
        return self.overlays / key

    def experiment(self, experiment_id: int) -> Path:
        """The folder of one experiment."""
        return self.experiments / str(experiment_id)

    def dataset(self, folder: str) -> Path:
        """The folder of one dataset."""
        return self.datasets / folder
