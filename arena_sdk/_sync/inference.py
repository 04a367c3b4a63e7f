# Made by `python -m arena_sdk._unasync` from arena_sdk/_async/inference.py; change that one.
"""Deployments: deploy, list, open, stop, play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from arena_sdk._http import given
from arena_sdk._network import is_address, is_loopback
from arena_sdk._sync.base import PREFIX, Endpoints
from arena_sdk.answers import Deployment
from arena_sdk.config import InferenceFile
from arena_sdk.errors import ArenaInferenceError

if TYPE_CHECKING:
    from arena_sdk._sync.agent import Agent
    from arena_sdk._sync.client import ArenaClient
    from arena_sdk._sync.play import PlaySession


class Inference(Endpoints):
    """Deployed agents."""

    def deploy_agent(
        self,
        experiment_name: str,
        checkpoint: str | None = None,
        memory_scope: str | None = None,
    ) -> Deployment:
        """Deploy an agent.

        Example:
            >>> client.deploy_agent("first", "step_5000")

        Args:
            experiment_name: Whose agent.
            checkpoint: `step_<n>`; the one of best fitness when None.
            memory_scope: `user` or `organization`, for LLM agents.
        """
        body = {"experiment_name": experiment_name, "checkpoint": checkpoint}
        if memory_scope is not None:
            body["memoryScope"] = memory_scope
        return Deployment(
            self._transport.document(
                "POST", f"{PREFIX}/inference/deploy", kind=ArenaInferenceError, body=body
            )
        )

    def list_inference_deployments(
        self,
        *,
        name: str | None = None,
        experiment_name: str | None = None,
        project_name: str | None = None,
    ) -> list[Deployment]:
        """Return deployments: `name`, `url`, `status` and more.

        Example:
            >>> [agent.name for agent in client.list_inference_deployments()]
        """
        return Deployment.each(
            self._transport.rows(
                "GET",
                f"{PREFIX}/inference/deployments/list",
                kind=ArenaInferenceError,
                params=_filters(name, experiment_name, project_name),
            )
        )

    def get_inference_deployment(
        self,
        name: str,
        experiment_name: str | None = None,
        project_name: str | None = None,
    ) -> Deployment:
        """Return one deployment; its `url` is empty while it is provisioned.

        Example:
            >>> client.get_inference_deployment("first").url
        """
        return Deployment(
            self._transport.document(
                "GET",
                f"{PREFIX}/inference/deployments/one",
                kind=ArenaInferenceError,
                params=_filters(name, experiment_name, project_name),
            )
        )

    def stop_deployment(self, name: str) -> Deployment:
        """Stop serving an agent (embedded Arena).

        Example:
            >>> client.stop_deployment("first")
        """
        with self._beyond_contract("deployment_stop", "to stop deployments"):
            answer = self._transport.document(
                "POST", f"{PREFIX}/inference/stop", kind=ArenaInferenceError, body={"name": name}
            )
        return Deployment(answer)

    def open_inference_agent(
        self,
        deployment_name: str,
        *,
        refresh: bool = False,
        experiment_name: str | None = None,
        project_name: str | None = None,
        timeout: float | None = None,
    ) -> Agent:
        """Return a connection to a deployed agent; its `metadata` is known.

        Example:
            >>> with client.open_inference_agent("first") as agent:
            ...     action, _ = agent.get_action([0.0, 0.1, 0.0, 0.2])

        Args:
            deployment_name: Which one.
            refresh: Look its address up though it is remembered.
            experiment_name: Only an agent of this experiment.
            project_name: Only an agent of this project.
            timeout: Seconds that a request to it may take.

        Raises:
            ArenaInferenceError: There is none, or it is not ready.
        """
        from arena_sdk._sync.agent import Agent  # with NumPy, which few calls need

        def locate() -> str:
            row = self.get_inference_deployment(deployment_name, experiment_name, project_name)
            url = row.get("url")
            if not url:
                raise _without_address(deployment_name, row)
            if not is_address(url):
                raise ArenaInferenceError(
                    f"The address of {deployment_name!r} is none: {url!r}.", status_code=200
                )
            if not self._transport.is_loopback:
                addresses.remember_url(deployment_name, url)
            return str(url).rstrip("/")

        # On this machine a port may have gone to another agent, and asking is quick.
        addresses = InferenceFile(service=self._transport.base_url)
        remembered = None
        if not (refresh or self._transport.is_loopback):
            remembered = addresses.url(deployment_name)
        if remembered is not None and (not is_address(remembered) or is_loopback(remembered)):
            remembered = None  # another client wrote it for another service
        agent = Agent(
            remembered or locate(),
            headers=self._transport.fresh_headers(),
            authorize=self._transport.fresh_headers,
            locate=locate,
            remembered=remembered is not None,
            timeout=timeout or self._transport.request_timeout,
        )
        try:
            agent.status()
        except BaseException:
            agent.close()
            raise
        return agent

    def play(
        self,
        deployment: str,
        *,
        environment: str | None = None,
        version: str | None = None,
        episodes: int = 0,
        baseline: bool = False,
        seed: int | None = None,
        render: bool = False,
        speed: float = 0.0,
        paused: bool = False,
    ) -> PlaySession:
        """Return a game of a deployed agent, to be opened as a context manager.

        Example:
            >>> with client.play("first", episodes=3) as session:
            ...     for message in session:
            ...         print(message)

        Args:
            deployment: Whose agent plays.
            environment: One of yours, or a Gymnasium id; the agent's own when None.
            version: Version of one of yours; the latest when None.
            episodes: How many to play; without end when 0.
            baseline: Play as many with random actions.
            seed: Seed of the first episode.
            render: Send frames.
            speed: Steps a second; as fast as it goes when 0.
            paused: Wait for a command before the first step.
        """
        from arena_sdk._sync.play import PlaySession  # with WebSockets, as rarely needed

        values = {
            "deployment": deployment,
            "environment": environment,
            "version": version,
            "episodes": episodes,
            "baseline": str(baseline).lower(),
            "seed": seed,
            "render": str(render).lower(),
            "speed": speed,
            "paused": str(paused).lower(),
        }
        parameters = {key: str(value) for key, value in values.items() if value is not None}
        return PlaySession(cast("ArenaClient", self), parameters)


def _filters(
    name: str | None, experiment_name: str | None, project_name: str | None
) -> list[tuple[str, str]]:
    return given(name=name, experimentName=experiment_name, projectName=project_name)


def _without_address(name: str, row: Mapping[str, Any]) -> ArenaInferenceError:
    """Say why an agent cannot be asked, and what brings it back."""
    status = row.get("status", "not ready")
    look = f"`arena agent list --name {name}` shows its state."
    again = f"`arena agent deploy {row.get('experiment_name') or name}` deploys it again."
    over = status in ("stopped", "failed")
    return ArenaInferenceError(
        f"{name!r} has no address: it is {status}.",
        status_code=409,
        hint_python="Deploy it again." if over else "Wait until its status is `running`.",
        hint_cli=again if over else look,
    )
