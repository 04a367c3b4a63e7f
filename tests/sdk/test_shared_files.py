"""One `~/.arena` for the published client and ours: what either writes, the other one uses."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sdk_keycloak import Keycloak, keycloak_running
from sdk_program import Published, program_of
from sdk_service import Service, running
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from arena_sdk.cli import root

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PROJECTS = [
    {"name": name, "type": "simulation", "description": None} for name in ("theirs", "ours")
]
ADA = {"first_name": "Ada", "last_name": "L.", "email": "ada@arena.example"}
DUE = 30.0
"""Seconds that a token may still be good for when it is renewed before it is used."""

Program = Callable[..., str]


@dataclass(frozen=True)
class Both:
    """Both programs on one home, one service and one identity server.

    Attributes:
        published: The published program.
        variables: Environment of either.
        home: Their common `~/.arena`.
        service: What answers only those who are logged in.
        keycloak: Where they log in.
    """

    published: Published
    variables: dict[str, str]
    home: Path
    service: Service
    keycloak: Keycloak

    def theirs(self, *words: str, code: int = 0) -> str:
        """Run the published program."""
        done = self.published.run(*words)
        assert done.code == code, (words, done)
        return done.output

    def ours(self, *words: str, code: int = 0) -> str:
        """Run our program."""
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.delenv("ARENA_HOME")  # so that it finds `~/.arena` as users' programs do
            for key, value in self.variables.items():
                patch.setenv(key, value)
            with pytest.raises(SystemExit) as ended:
                root.run(list(words))
        said = out.getvalue() + err.getvalue()
        assert ended.value.code == code, (words, said)
        return said

    def pairs(self) -> list[tuple[str, Program, Program]]:
        """Return who writes and who reads, in both directions."""
        return [("theirs", self.theirs, self.ours), ("ours", self.ours, self.theirs)]

    def stored(self, name: str = "credentials.json") -> dict[str, Any]:
        """Return what a file of the home holds."""
        path = self.home / name
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def last_token(self) -> str:
        """Return the access token that the last request carried."""
        return self.service.calls[-1].headers["authorization"].removeprefix("Bearer ")


@pytest.fixture(scope="module")
def both(oracle_python: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    """Both programs, logged in nowhere yet; to start the published one takes seconds."""
    root_folder = tmp_path_factory.mktemp("shared")
    service = Service()
    with keycloak_running() as keycloak, running(service) as url:
        service.url = url

        def for_ada(answer: Any) -> Callable[[Request], Response]:
            refused = JSONResponse({"message": "who are you?"}, 401)
            return lambda request: JSONResponse(answer) if keycloak.accepts(request) else refused

        service.on("GET", "//api/users/current", for_ada(ADA))
        service.on("GET", "/projects", for_ada(PROJECTS))
        service.on("GET", "/experiments/list", for_ada([{"name": "e"}]))
        variables = {
            "HOME": str(root_folder),
            "ARENA_BASE_URL": url,
            "ARENA_KEYCLOAK_URL": keycloak.url,
            "BROWSER": "true",  # the published program opens one wherever it is
        }
        kept = {key: value for key, value in os.environ.items() if not key.startswith("ARENA_")}
        with program_of(oracle_python, {**kept, **variables}) as published:
            yield Both(published, variables, root_folder / ".arena", service, keycloak)


def test_a_login_of_one_is_used_renewed_and_ended_by_the_other(both: Both) -> None:
    keycloak = both.keycloak
    for name, first, second in both.pairs():
        keycloak.script = ["pending", "ok"]
        first("login")
        path = both.home / "credentials.json"
        assert path.stat().st_mode & 0o777 == 0o600
        made = both.stored()["access_token"]
        assert "ada@arena.example" in second("user", "profile")
        assert both.last_token() == made, f"the login that was made by {name}"

        # Each renews what the other one has stored, and then the other way round.
        keycloak.lifetime = DUE
        both.home.joinpath("credentials.json").write_text(
            json.dumps({**both.stored(), **keycloak.tokens()}), encoding="utf-8"
        )
        keycloak.lifetime = 300.0
        before = len(keycloak.asked)
        second("user", "profile")
        renewed = both.stored()["access_token"]
        assert renewed in keycloak.valid
        assert renewed != made
        assert path.stat().st_mode & 0o777 == 0o600
        first("user", "profile")
        assert both.last_token() == renewed
        assert len(keycloak.asked) == before + 1, "one renewal, by the second one only"

        refresh = both.stored()["refresh_token"]
        second("logout")
        assert refresh in keycloak.revoked
        assert not path.exists()
        assert "no credential" in both.ours("--profile", "hosted", "whoami", code=3)


def test_a_default_project_of_one_is_the_other_ones(both: Both) -> None:
    both.home.mkdir(mode=0o700, exist_ok=True)
    for name, first, second in both.pairs():
        both.keycloak.script = ["ok"]
        first("login")
        mine = {"arena_url_of_somebody_else": "x", "profiles": {"work": {"realm": "r"}}}
        path = both.home / "config.json"
        path.write_text(json.dumps(mine), encoding="utf-8")
        first("projects", "set-default", name)
        assert name in second("projects", "get-default")
        assert both.stored("config.json") == {**mine, "default_project": name}
        second("experiments", "list")
        assert ("project", name) in both.service.calls[-1].query
