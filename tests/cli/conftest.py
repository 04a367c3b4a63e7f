"""Fixtures of the command line's tests: the program in this process, and services for it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from oracle import oracle_python

from arena_sdk.cli import root
from tests.cli.cli_arena import furnished, here
from tests.cli.cli_running import Done, Run
from tests.cli.llm_service import LanguageService
from tests.sdk.sdk_service import Service, running

__all__ = ["furnished", "here", "oracle_python"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Run `arena` in this process, up to its exit."""

    def command(*words: str) -> Done:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            root.run(list(words))
        said = capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        assert "Traceback" not in said.err
        return Done(code, said.out, said.err)

    return command


@pytest.fixture
def language_service(monkeypatch: pytest.MonkeyPatch) -> Iterator[LanguageService]:
    """A service with a language model called `chatter`, which commands talk to."""
    service = LanguageService()
    with running(service) as url:
        service.url = url
        monkeypatch.setenv("ARENA_BASE_URL", url)
        monkeypatch.setenv("ARENA_API_KEY", "arena_pat_test")
        yield service


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """A service that commands talk to, and that answers as it is told."""
    made = Service()
    with running(made) as url:
        made.url = url
        monkeypatch.setenv("ARENA_BASE_URL", url)
        monkeypatch.setenv("ARENA_API_KEY", "arena_pat_test")
        yield made
