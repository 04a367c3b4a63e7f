"""What only some services have is said to be missing elsewhere; what they have answers itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from sdk_service import Service

from arena_sdk import ArenaAPIError, ArenaClient, AsyncArenaClient
from arena_sdk.cli.exits import code_for
from arena_sdk.errors import NOT_OFFERED

Call = Callable[[ArenaClient], Any]
BEYOND_THE_CONTRACT: list[tuple[str, str, Call]] = [
    ("activity", "lately", lambda c: c.list_activity()),
    ("dataset_details", "datasets", lambda c: c.get_dataset("x")),
    ("dataset_search", "search", lambda c: c.search_datasets("x")),
    ("deployment_stop", "stop", lambda c: c.stop_deployment("x")),
    ("environment_details", "environments", lambda c: c.get_environment("x")),
    ("environment_rollout", "pictures", lambda c: c.get_environment_rollout("x")),
    ("experiment_delete", "delete", lambda c: c.delete_experiment("x", confirm=True)),
    ("experiment_details", "experiments", lambda c: c.get_experiment("x")),
    ("experiment_records", "records", lambda c: c.experiment_records("x")),
    ("lineage", "lineages", lambda c: c.get_lineage("x")),
    ("logs", "logs", lambda c: c.experiment_logs("x")),
    ("logs", "logs", lambda c: list(c.iter_experiment_logs("x"))),
    ("machine", "machine", lambda c: c.get_machine()),
    ("play", "games", lambda c: c.play("x").__enter__()),
    ("reward_check", "reward files", lambda c: c.check_reward(b"", dataset="x")),
    ("population", "populations", lambda c: c.get_population("x")),
]


@pytest.mark.parametrize(("feature", "word", "call"), BEYOND_THE_CONTRACT)
def test_what_a_service_does_not_offer_is_said(
    service: Service, client: ArenaClient, feature: str, word: str, call: Call
) -> None:
    with pytest.raises(ArenaAPIError, match=f"{service.url} does not offer .*{word}") as caught:
        call(client)
    assert (caught.value.status_code, caught.value.error_code) == (404, NOT_OFFERED)
    assert code_for(caught.value) == 1  # nothing of that name is missing: 4 would say so
    assert "arena --local" in (caught.value.hint_cli or "")


@pytest.mark.parametrize(("feature", "word", "call"), BEYOND_THE_CONTRACT)
def test_where_it_is_offered_the_answer_counts(
    service: Service, client: ArenaClient, feature: str, word: str, call: Call
) -> None:
    service.on("GET", "/capabilities", {"features": {feature: {"path": "/x"}}})
    with pytest.raises(Exception, match=r"nothing at|HTTP 403") as caught:
        call(client)
    assert getattr(caught.value, "status_code", 0) in (403, 404)


async def test_the_async_client_says_the_same(
    service: Service, async_client: AsyncArenaClient
) -> None:
    with pytest.raises(ArenaAPIError, match="does not offer logs"):
        await async_client.experiment_logs("x")
    with pytest.raises(ArenaAPIError, match="does not offer games"):
        await async_client.play("x").__aenter__()


def test_what_is_asked_in_the_contract_costs_no_further_request(
    service: Service, client: ArenaClient
) -> None:
    service.on("GET", "/experiments/logs", {"lines": [], "next": 0, "ended": True})
    client.experiment_logs("x")
    assert [call.path for call in service.calls] == ["/api/cli/v1/experiments/logs"]
