"""An episode as it was played, kept as an animation and as a table."""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

MOST_FRAMES = 3_000
MOST_SIDE = 480
FRAMES_A_SECOND = 30.0


class Recording:
    """Takes the messages of one episode; writes them once it is over.

    Attributes:
        paths: The files, once they are written.
        steps: How many steps were recorded.
    """

    def __init__(self, folder: Path, name: str) -> None:
        """Make an empty recording.

        Args:
            folder: Where the files go.
            name: Their name without a suffix; a number is added where that is taken.
        """
        self._folder, self._name = folder, name
        self._rows: list[dict[str, Any]] = []
        self._frames: list[Any] = []
        self._began = False
        self.paths: list[Path] = []

    @property
    def steps(self) -> int:
        """How many steps there are so far."""
        return len(self._rows)

    def begin(self) -> None:
        """An episode begins: what came before is not of it."""
        self._began = True
        self._rows.clear()
        self._frames.clear()

    def take(self, step: Mapping[str, Any], frame: Any) -> None:
        """Take a step and, where there is one, the frame that belongs to it."""
        if not self._began:
            return
        row = {"episode": step.get("episode"), "step": step.get("step")}
        row |= dict(columns("observation", step.get("observation")))
        row |= dict(columns("action", step.get("action")))
        for key in ("reward", "return", "terminated", "truncated", "latency_ms"):
            row[key] = step.get(key)
        self._rows.append(row)
        self.take_frame(frame)

    def take_frame(self, frame: Any) -> None:
        """Take a frame without a step, as the one that an episode begins with."""
        if self._began and frame is not None and len(self._frames) < MOST_FRAMES:
            self._frames.append(frame)

    @property
    def is_worth_writing(self) -> bool:
        """Whether an episode was recorded from its beginning."""
        return self._began and bool(self._rows)

    def write(self, speed: float) -> list[Path]:
        """Write the files; the animation only when there were frames.

        Args:
            speed: Frames a second of the animation.

        Raises:
            OSError: They cannot be written.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        base = self._free()
        self.paths = [_aside(base.with_name(base.name + ".csv"), self._write_csv)]
        if self._frames:
            path = base.with_name(base.name + ".gif")
            self.paths.append(_aside(path, lambda to: self._write_gif(to, speed)))
        return self.paths

    def _free(self) -> Path:
        number = 1
        while True:
            name = self._name if number == 1 else f"{self._name}-{number}"
            base = self._folder / name
            if not any(base.with_name(name + end).exists() for end in (".csv", ".gif")):
                return base
            number += 1

    def _write_csv(self, path: Path) -> None:
        names = list(dict.fromkeys(name for row in self._rows for name in row))
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(self._rows)

    def _write_gif(self, path: Path, speed: float) -> None:
        from PIL import Image

        images = [Image.fromarray(frame) for frame in self._frames]
        for image in images:
            image.thumbnail((MOST_SIDE, MOST_SIDE))
        # Viewers take less than two hundredths of a second for a mistake, and play slowly then.
        duration = max(20, round(1000 / min(speed or FRAMES_A_SECOND, FRAMES_A_SECOND)))
        images[0].save(
            path, format="GIF", save_all=True, append_images=images[1:], duration=duration, loop=0
        )


def _aside(path: Path, write: Any) -> Path:
    """Write a file aside, then rename it, so that it is whole or not there."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    os.close(handle)
    aside = Path(name)
    try:
        write(aside)
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise
    return path


def columns(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (column, value) of an observation or action, nested or not: `observation[0]`."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from columns(f"{name}.{key}", item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for at, item in enumerate(value):
            yield from columns(f"{name}[{at}]", item)
    else:
        yield name, value
