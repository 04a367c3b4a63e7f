"""`arena doctor` tells whose `arena` a shell would run, and never claims more than it saw."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from arena_sdk import cli
from arena_sdk.cli.doctor import FAIL, OK, WARN, check_program, is_ours


def program(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "arena"
    path.write_text(text)
    path.chmod(0o755)
    return path


OURS = "#!/usr/bin/python3\nimport sys\nfrom arena_sdk.cli import main\nsys.exit(main())\n"
THEIRS = "#!/usr/bin/python3\nimport sys\nfrom agilerl.arena.cli import main\nsys.exit(main())\n"


def test_a_script_of_ours_is_told_from_another(tmp_path: Path) -> None:
    assert is_ours(program(tmp_path / "a", OURS))
    assert not is_ours(program(tmp_path / "b", THEIRS))


def test_the_first_program_on_path_is_the_one_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs, ours = program(tmp_path / "theirs", THEIRS), program(tmp_path / "ours", OURS)
    monkeypatch.setenv("PATH", f"{theirs.parent}:{ours.parent}")
    finding = check_program()
    assert finding.status == FAIL
    assert str(theirs) in finding.found
    assert "--force-reinstall" in finding.advice
    monkeypatch.setenv("PATH", f"{ours.parent}:{theirs.parent}")
    assert check_program().status == OK


def test_a_script_of_theirs_in_our_environment_starts_ours(tmp_path: Path) -> None:
    """Whichever package was installed last, `arena` of this environment is ours."""
    packages = tmp_path / "packages"
    packages.mkdir()
    hook = Path(cli.__file__).with_name("arena_program.pth")
    (packages / "arena_program.pth").write_text(hook.read_text())
    theirs = program(tmp_path / "bin", THEIRS)
    start = f"import site, sys; site.addsitedir({str(packages)!r}); import runpy"
    arguments = f"sys.argv[:] = [{str(theirs)!r}, 'version']"
    run = f"runpy.run_path({str(theirs)!r}, run_name='__main__')"
    faked = f"{start}; {arguments}; {run}"
    result = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.orig_argv[1:] = [{str(theirs)!r}]; {faked}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("arena-tui ")


def test_no_program_at_all_says_how_to_run_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    finding = check_program()
    assert finding.status == WARN
    assert "-m arena_sdk.cli" in finding.advice
