"""Pictures of every screen from a real run: `python -m arena_tui.screenshots [OUT_DIR] [--url …]`.

Without `--url` it starts an Arena of its own in a temporary folder, writes and validates an
environment, trains a small population, deploys its best agent and lets it play, and ends all of it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import web_picture

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from arena_sdk import AsyncArenaClient
    from arena_tui.app import ArenaApp

SIZE = (120, 36)
SMALL = (80, 24)
SMALL_ONES = frozenset(
    {
        "overview",
        "experiments",
        "experiment-charts",
        "experiment-population",
        "compare-charts",
        "playground",
    }
)
ENVIRONMENT = "beacon"
PROJECT = "first-steps"
RUN = "beacon-dqn"
LONG = f"{RUN}-long"
LIVE = f"{RUN}-live"
BROKEN = "beacon-broken"
FILMED_GENERATIONS, FRAMES_A_GENERATION = 15, 4
FILMED_EVERY = 1.0
"""Seconds between two frames of what is filmed live, at least."""
PATIENCE = 180.0
"""Seconds that anything may take."""


class ScreenshotError(Exception):
    """A picture could not be made; the message is one sentence."""


@dataclass
class Place:
    """Where the pictures are taken.

    Attributes:
        url: Base URL of the Arena.
        token: What it wants to be shown.
        folder: Where environments and manifests are written.
    """

    url: str
    token: str
    folder: Path

    def client(self) -> AsyncArenaClient:
        """Make a client."""
        from arena_sdk import AsyncArenaClient

        return AsyncArenaClient(self.token, base_url=self.url, profile="local")


@contextlib.contextmanager
def own_arena() -> Iterator[Place]:
    """Start an Arena in a temporary folder; end it, and remove the folder."""
    from arena_tui.launch import ensure

    with tempfile.TemporaryDirectory(prefix="arena-screenshots-") as name:
        folder = Path(name)
        local = ensure(folder / "arena")
        try:
            yield Place(local.url, local.token, folder)
        finally:
            local.stop()


# What there is to see -----------------------------------------------------------------------------


async def prepare(place: Place) -> None:
    """Make a project, a valid and an invalid environment, a run, and a deployed agent."""
    from arena_sdk import scaffold

    source = place.folder / ENVIRONMENT
    scaffold.create(source, name=ENVIRONMENT)
    async with place.client() as client:
        await client.create_project(PROJECT, "A beacon is found by its light", False)
        await client.set_default_project(PROJECT)
        await client.validate_environment(
            name=ENVIRONMENT,
            version="v1",
            source=source,
            env_config=source / "env_config.yaml",
            requirements=source / "requirements.txt",
            do_rollouts=True,
        )
        document = yaml_of(source / "manifest.yaml")
        document["environment"] |= {"name": ENVIRONMENT, "version": "v1"}
        await submit(client, document, RUN)
        await ended(client, RUN)
        await client.deploy_agent(RUN)
        longer = {
            **document,
            "algorithm": {**document["algorithm"], "lr": 0.0003, "batch_size": 32},
            "training": {**document["training"], "max_steps": 200_000},
        }
        await submit(client, longer, LONG)
        await asyncio.sleep(12)


def yaml_of(path: Path) -> dict[str, Any]:
    """Return a manifest as it is written."""
    import yaml

    document: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return document


async def submit(client: AsyncArenaClient, document: dict[str, Any], name: str) -> None:
    """Submit a run on this machine."""
    await client.submit_experiment(
        document, resource_id="local", num_nodes=1, project=PROJECT, experiment_name=name
    )


async def ended(client: AsyncArenaClient, name: str) -> None:
    """Wait for the end of a run.

    Raises:
        ScreenshotError: It failed, or takes too long.
    """
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while asyncio.get_running_loop().time() < deadline:
        row = await client.get_experiment(name)
        if row["state"] == "completed":
            return
        if row["state"] in ("failed", "interrupted", "stopped"):
            raise ScreenshotError(f"{name} {row['state']}: {row.get('error')}")
        await asyncio.sleep(0.5)
    raise ScreenshotError(f"{name} did not end within {PATIENCE:.0f} s.")


# Pictures -----------------------------------------------------------------------------------------


@dataclass
class Camera:
    """Takes pictures of one running app."""

    app: ArenaApp
    pilot: Pilot[Any]
    out: Path
    suffix: str
    wanted: frozenset[str] | None

    async def until(self, holds: Callable[[], Any], what: str) -> None:
        """Wait until something is to be seen.

        Raises:
            ScreenshotError: It does not come.
        """
        deadline = asyncio.get_running_loop().time() + PATIENCE
        while not holds():
            if asyncio.get_running_loop().time() > deadline:
                raise ScreenshotError(f"{what} did not come.")
            await self.pilot.pause(0.05)
        await self.pilot.pause(0.6)

    async def take(self, name: str) -> None:
        """Write what is on the screen into a file."""
        if self.wanted is not None and name not in self.wanted:
            return
        path = self.out / f"{name}{self.suffix}.svg"
        path.write_text(self.app.export_screenshot(title="arena-tui"), encoding="utf-8")
        print(path)


@contextlib.asynccontextmanager
async def camera(
    place: Place, out: Path, size: tuple[int, int], theme: str, suffix: str
) -> AsyncIterator[Camera]:
    """Run the dashboard without a terminal."""
    from arena_tui.app import ArenaApp
    from arena_tui.settings import Settings
    from arena_tui.stores.hub import Hub

    app = ArenaApp(Hub(place.client, refresh_seconds=0.5), settings=Settings(theme=theme))
    async with app.run_test(size=size) as pilot:
        wanted = SMALL_ONES if size == SMALL else None
        taken = Camera(app, pilot, out, suffix, wanted)
        await taken.until(lambda: app.hub.connection.is_usable, "The connection")
        yield taken


async def tabs(shot: Camera) -> None:
    """Take the seven main screens."""
    from arena_tui.registry import TABS

    hub = shot.app.hub
    ready: dict[str, Callable[[], Any]] = {
        "overview": lambda: hub.experiments.value and hub.machine.value and hub.activity.value,
        "environments": lambda: hub.environments.value and _details(hub),
        "datasets": lambda: hub.datasets.state != "loading",
        "projects": lambda: hub.projects.value,
        "resources": lambda: hub.resources.value,
        "experiments": lambda: hub.experiments.value,
        "agents": lambda: hub.deployments.running,
    }
    for spec in TABS:
        await shot.pilot.press(str(spec.tab))
        await shot.until(ready[spec.id], spec.title)
        await shot.take(spec.id)


def _details(hub: Any) -> Any:
    return hub.environments.details(ENVIRONMENT, "v1").value


async def one_run(shot: Camera) -> None:
    """Take the tabs of the finished run."""
    await shot.app.open_experiment(RUN)
    run = shot.app.hub.run(RUN)
    await shot.until(lambda: run.columns.count, "Metrics")
    for tab in ("charts", "population", "hyperparameters", "checkpoints", "logs", "manifest"):
        await shot.until(lambda: True, tab)
        await shot.take(f"experiment-{tab}")
        await shot.pilot.press("tab")
    await shot.pilot.press("question_mark")
    await shot.until(lambda: True, "Help")
    await shot.take("help")
    await shot.pilot.press("escape")


async def compare(shot: Camera) -> None:
    """Take both runs beside each other."""
    names = (RUN, LONG)
    shot.app.hub.marks.set(names)
    await shot.app.open_compare(names)
    runs = shot.app.hub.runs(names)
    await shot.until(lambda: all(run.columns.generation > 2 for run in runs), "Both runs")
    for tab in ("charts", "runs", "manifests"):
        await shot.until(lambda: all(run.details.value for run in runs), tab)
        await shot.take(f"compare-{tab}")
        await shot.pilot.press("tab")
    shot.app.hub.marks.set(())


async def new_experiment(shot: Camera, place: Place) -> None:
    """Take the form of a new experiment, with a typo in its manifest."""
    path = place.folder / "typo.yaml"
    source = (place.folder / ENVIRONMENT / "manifest.yaml").read_text(encoding="utf-8")
    path.write_text(source.replace("evo_steps", "evo_stepps"), encoding="utf-8")
    await shot.app.open_new(manifest=path)
    await shot.until(lambda: shot.app.hub.resources.value, "Resources")
    await shot.take("new-experiment")


async def validation(shot: Camera, place: Place) -> None:
    """Take a validation that fails, as it is seen live."""
    from arena_tui.screens.validation import ValidationScreen

    source = place.folder / BROKEN
    from arena_sdk import scaffold

    scaffold.create(source, name=BROKEN)
    for module in source.glob("*.py"):
        text = module.read_text(encoding="utf-8")
        module.write_text(text.replace("dtype=np.float32", "dtype=np.float64"), encoding="utf-8")
    await shot.app.go("environments")
    job = shot.app.hub.environments.validate_folder(BROKEN, "v1", source)
    await shot.app.push_screen(ValidationScreen(job))
    await shot.until(lambda: not job.is_running, "The validation's end")
    await shot.take("validation")


async def playground(shot: Camera) -> None:
    """Take the playground after some episodes."""
    await shot.app.open_playground(RUN)
    screen: Any = shot.app.screen
    await shot.until(lambda: screen.game and screen.game.frame is not None, "A frame")
    await shot.until(lambda: len(screen.game.episodes) >= 6, "Episodes")
    await shot.take("playground")


async def live(place: Place, out: Path) -> None:
    """Film a run from its first generation to its end, and a look into its charts."""
    from arena_tui.animation import animated, frame_of

    document = yaml_of(place.folder / ENVIRONMENT / "manifest.yaml")
    document["environment"] |= {"name": ENVIRONMENT, "version": "v1"}
    document["training"] |= {
        "max_steps": FILMED_GENERATIONS * int(document["training"]["evo_steps"])
    }
    async with place.client() as client:
        await submit(client, document, LIVE)
    frames, seconds = [], []
    async with camera(place, out, SIZE, "arena-dark", "") as shot:

        def film(time: float) -> None:
            frames.append(frame_of(shot.app))
            seconds.append(time)

        await shot.app.open_experiment(LIVE)
        run = shot.app.hub.run(LIVE)
        await shot.until(lambda: run.columns.generation > 0, "The first generation")
        generation, due = 0, 0
        while run.is_active:
            if run.columns.generation != generation:
                generation, due = run.columns.generation, FRAMES_A_GENERATION
            if due:
                film(0.3)
                due -= 1
            await shot.pilot.pause(FILMED_EVERY)
        for key in ("z", "enter", "c", *["left"] * 4, "escape", "c", "z", "tab"):
            await shot.pilot.press(key)
            await shot.pilot.pause(0.5)
            film(0.5 if key == "left" else 1.2)
    path = out / "live.svg"
    path.write_text(animated(frames, seconds, f"arena-tui · {LIVE}"), encoding="utf-8")
    print(path)


async def pictures(place: Place, out: Path) -> None:
    """Take all pictures: dark ones large and small, light ones, and one that moves."""
    await prepare(place)
    await live(place, out)
    for size, theme, suffix in (
        (SIZE, "arena-dark", ""),
        (SMALL, "arena-dark", "-80x24"),
        (SIZE, "arena-light", "-light"),
    ):
        async with camera(place, out, size, theme, suffix) as shot:
            steps: list[Awaitable[None]] = [tabs(shot), one_run(shot), compare(shot)]
            if not suffix:
                steps += [new_experiment(shot, place), validation(shot, place)]
            steps.append(playground(shot))
            for step in steps:
                await step
    picture = out / "web.png"
    taken = await asyncio.to_thread(web_picture.take, place.url, place.token, RUN, picture)
    print(picture if taken else f"{picture} is left out: no Chromium, or it drew nothing.")


def main(arguments: list[str] | None = None) -> int:
    """Make the pictures; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m arena_tui.screenshots", description=__doc__)
    parser.add_argument("out", nargs="?", type=Path, default=Path("screenshots"), metavar="OUT_DIR")
    parser.add_argument("--url", help="an Arena that runs; its token is taken from ARENA_API_KEY")
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    from arena_sdk.errors import ArenaError
    from arena_tui.launch import LaunchError

    try:
        with contextlib.ExitStack() as stack:
            if options.url:
                import os

                folder = stack.enter_context(tempfile.TemporaryDirectory())
                place = Place(options.url, os.environ.get("ARENA_API_KEY", ""), Path(folder))
            else:
                place = stack.enter_context(own_arena())
            asyncio.run(pictures(place, options.out))
    except (ArenaError, LaunchError, ScreenshotError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
