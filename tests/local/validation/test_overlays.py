"""Requirements: what is here already, what cannot be, and overlays that are shared."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest

from arena_sdk.local.services import overlays as module
from arena_sdk.local.services.overlays import Overlays, overlay_key
from arena_sdk.local.services.requirements import (
    InstallError,
    Pin,
    explain_failure,
    installed,
    missing,
    parse_resolution,
    requirement_lines,
    stack,
    to_install,
)

Told = list[tuple[str, dict[str, Any] | None]]


def prepare(folder: Path, requirements: str, **options: Any) -> tuple[str | None, Told]:
    """Install requirements into a fresh folder's overlays; return the key and what was told."""
    told: Told = []
    overlays = Overlays(folder, **options)
    key = asyncio.run(
        overlays.prepare(requirements, lambda text, detail: told.append((text, detail)))
    )
    return key, told


def refusal(folder: Path, requirements: str, **options: Any) -> InstallError:
    """Return why requirements were not installed, having seen that nothing of them was kept."""
    with pytest.raises(InstallError) as caught:
        prepare(folder, requirements, **options)
    assert [path.name for path in folder.iterdir() if path.name != "arena-home"] == []
    return caught.value


def test_comments_blank_lines_and_continuations_are_no_requirements() -> None:
    text = (
        "# first\nrich>=13  # tables\n\nnumpy \\\n  >=2\n--extra-index-url https://x.org/simple\n"
    )
    assert requirement_lines(text) == [
        "rich>=13",
        "numpy    >=2",
        "--extra-index-url https://x.org/simple",
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "-r more.txt",
            "requirements.txt has the line '-r more.txt', which cannot be followed here; write the"
            " packages themselves.",
        ),
        (
            "-e .",
            "requirements.txt has the line '-e .', which cannot be followed here; write the"
            " packages themselves.",
        ),
        (
            "two words",
            "requirements.txt has the line 'two words', which is no requirement (Expected"
            " semicolon (after name with no version specifier) or end).",
        ),
    ],
)
def test_a_line_that_is_no_requirement_is_named(tmp_path: Path, line: str, message: str) -> None:
    error = refusal(tmp_path, line)
    assert error.message == message
    assert error.reason == "invalid"


def test_what_the_stack_has_is_not_missing() -> None:
    assert missing(["numpy", "gymnasium>=1", "gymnasium[box2d]", "torch>=2.11"]) == []
    assert missing(["numpy>=99", "some-absent-package", 'absent; python_version < "3"']) == [
        "numpy>=99",
        "some-absent-package",
    ]
    assert missing(["gymnasium[jax]"]) == ["gymnasium[jax]"]


def test_a_local_version_label_does_not_count() -> None:
    assert "+" not in installed()["torch"]
    assert stack()["torch"] == installed()["torch"]


def test_satisfied_requirements_need_no_overlay(tmp_path: Path) -> None:
    assert prepare(tmp_path, "# nothing\n") == (None, [])
    key, told = prepare(tmp_path, "numpy\ngymnasium[classic-control]\n")
    assert key is None
    assert told == [("The training stack has all that is required.", None)]


def pin(name: str, version: str, *parents: str, direct: bool = False) -> Pin:
    return Pin(name, version, f"{name}=={version}", parents, direct)


def test_only_what_something_new_needs_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    here = {"torch": "2.13.0", "numpy": "2.4.6"}
    monkeypatch.setattr("arena_sdk.local.services.requirements.installed", lambda: here)
    pins = [
        pin("torch", "2.13.0", "torchvision"),
        pin("cuda-runtime", "13", "torch"),
        pin("numpy", "2.4.6", "torchvision"),
        pin("torchvision", "0.28", direct=True),
        pin("tiny", "1", "torchvision"),
    ]
    assert [p.name for p in to_install(pins, ["torchvision"])] == ["torchvision", "tiny"]


def test_an_extra_of_what_is_here_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "arena_sdk.local.services.requirements.installed", lambda: {"gymnasium": "1.4"}
    )
    pins = [pin("gymnasium", "1.4", direct=True), pin("mujoco", "4", "gymnasium")]
    assert [p.name for p in to_install(pins, ["gymnasium[mujoco]"])] == ["mujoco"]


def test_a_resolution_is_read_with_its_reasons() -> None:
    text = (
        "rich==14.3.3              # via -c stack.txt, -r requirements.txt\n"
        "Markdown_It-py==4.0       # via rich\n"
        "own @ git+https://x.org/own@1  # via -r requirements.txt\n"
    )
    assert parse_resolution(text) == [
        Pin("rich", "14.3.3", "rich==14.3.3", (), True),
        Pin("markdown-it-py", "4.0", "Markdown_It-py==4.0", ("rich",), False),
        Pin(
            "own",
            "git+https://x.org/own@1",
            "own @ git+https://x.org/own@1",
            (),
            True,
        ),
    ]


FAILURES = {
    "offline": (
        "error: Request failed after 3 retries\n"
        "  cause: Failed to fetch: `https://index.example/simple/rich/`\n  cause: dns error\n",
        "The package index at https://index.example could not be reached, so the requirements were"
        " not installed; check the network and try again.",
        None,
    ),
    "missing": (
        "error: No solution found when resolving dependencies\n  cause: Because ritch was not found"
        " in the package registry and you require ritch, we can conclude that your requirements are"
        " unsatisfiable.\n",
        "The package 'ritch' was not found in the package index; check its spelling in"
        " requirements.txt.",
        "ritch",
    ),
    "build": (
        "  × Failed to build `pygraphviz==1.11`\n  ├─▶ The build backend returned an error\n",
        "The package 'pygraphviz' could not be built from its source.",
        "pygraphviz",
    ),
    "failed": ("something else\n", "The requirements could not be installed.", None),
}


@pytest.mark.parametrize("reason", FAILURES)
def test_a_failure_is_told_by_its_kind(reason: str) -> None:
    output, message, package = FAILURES[reason]
    error = explain_failure(output, ["ritch", "rich"])
    assert (error.message, error.reason, error.package) == (message, reason, package)
    assert error.lines == [line.rstrip() for line in output.splitlines()]


def test_a_conflict_names_the_requirement_and_what_it_conflicts_with(tmp_path: Path) -> None:
    error = refusal(tmp_path, "numpy<1\n")
    version = installed()["numpy"]
    assert error.message == (
        f"The requirement 'numpy<1' cannot be met beside numpy {version}, which the training stack"
        " here needs; loosen it or leave it out."
    )
    assert error.detail()["error_code"] == "INSTALL_FAILED"
    assert error.detail()["package"] == "numpy"
    assert error.detail()["reason"] == "incompatible"
    assert any("unsatisfiable" in line for line in error.lines)


def test_no_network_is_told_from_a_missing_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.delenv("PIP_FIND_LINKS", raising=False)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "arena-home"))
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    error = refusal(tmp_path, "some-absent-package\n")
    assert error.reason == "offline"
    assert error.message.startswith("The package index at http://127.0.0.1:9 could not be reached")


def test_installing_has_a_time_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = tmp_path / "arena-home" / "uv"
    stuck.parent.mkdir()
    stuck.write_text("#!/bin/sh\nexec sleep 60\n")
    stuck.chmod(0o755)
    monkeypatch.setattr(module, "_find_uv", lambda: str(stuck))
    error = refusal(tmp_path, "some-absent-package\n", time_limit=0.5)
    assert error.reason == "timeout"
    assert subprocess.run(["pgrep", "-f", str(stuck)], capture_output=True).returncode == 1


def test_the_key_is_of_the_content(monkeypatch: pytest.MonkeyPatch) -> None:
    assert overlay_key(["a", "b"]) == overlay_key(["b", "a"])
    assert overlay_key(["a"]) != overlay_key(["a>1"])


def small_wheel(folder: Path) -> Path:
    """Write a package `arena_tiny_thing` as a wheel; return the folder that it is in."""
    import zipfile

    folder.mkdir(parents=True)
    info = "arena_tiny_thing-1.0.dist-info"
    with zipfile.ZipFile(folder / "arena_tiny_thing-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("arena_tiny_thing.py", "VALUE = 42\n")
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: arena-tiny-thing\nVersion: 1.0\n"
        )
        wheel.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{info}/RECORD", "")
    return folder


def test_an_overlay_holds_what_is_missing_and_sees_the_stack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels = small_wheel(tmp_path / "wheels")
    monkeypatch.setenv("UV_FIND_LINKS", str(wheels))
    monkeypatch.setenv("UV_OFFLINE", "1")
    folder = tmp_path / "overlays"
    key, told = prepare(folder, "arena-tiny-thing==1.0\n")
    assert key is not None
    assert told[-1] == (
        "Installed arena-tiny-thing 1.0 (1/1)",
        {"package": "arena-tiny-thing", "version": "1.0", "count": 1, "total": 1},
    )
    python = Overlays(folder).python(key)
    assert python is not None
    code = (
        "import arena_tiny_thing, arena_sdk.local.workers.channel, gymnasium, numpy;"
        "print(arena_tiny_thing.VALUE, numpy.__version__)"
    )
    ran = subprocess.run([python, "-P", "-c", code], capture_output=True, text=True)
    assert ran.stdout.split() == ["42", installed()["numpy"]], ran.stderr
    again, told = prepare(folder, "\n# the same\narena-tiny-thing==1.0  # too\n")
    assert again == key
    assert told == [("The requirements are installed already.", None)]
    assert [path.name for path in folder.iterdir()] == [key]


@pytest.mark.slow
def test_a_package_is_installed_from_the_index(tmp_path: Path) -> None:
    """Needs the network."""
    key, told = prepare(tmp_path / "overlays", "humanize\n")
    assert key is not None
    assert told[-1][0].startswith("Installed humanize ")
