"""What a language model is trained on: a data set, or an environment that it talks to.

The rules that cross its fields are in `environment_llm_rules.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from arena_sdk.manifest.base import Fault, Section, about, refine
from arena_sdk.manifest.environment import Environment, Made
from arena_sdk.manifest.environment_services import Service

DATASET_FIELDS = ("dataset", "dataset_path", "hf_dataset_id")


class Rows(Section):
    """A data set and how its rows become prompts."""

    dataset: str | None = about("Registered data set, or one of the Hugging Face Hub.", None)
    dataset_path: str | None = about("File or folder of a data set.", None)
    hf_dataset_id: str | None = about("Data set of the Hugging Face Hub.", None)
    columns: dict[str, str] | None = about("Columns of the data set under the names used.", None)
    response_column: str | None = about("Column with the answer to learn.", None)
    prompt_template: dict[str, Any] | None = about("Messages with {column} places.", None)
    train_test_split: float | None = about("Share of rows to learn from.", None, ge=0.0, le=1.0)
    objective: Literal["preference", "sft"] | None = about("What the rows teach.", None)


class Rewards(Section):
    """What an answer is worth."""

    unordered: ClassVar[frozenset[str]] = frozenset({"reward"})

    rubric_file_path: str | None = about(
        "Python file with the reward function.", None, also="reward_file_path"
    )
    rubric_name: str | None = about(
        "Name of the reward function in that file.",
        None,
        also="reward_fn_name",
        min_length=1,
    )
    max_reward: float | None = about("Largest reward there is.", None)
    min_reward: float | None = about("Smallest reward there is.", None)


class Turns(Section):
    """How long a conversation may get, and what is kept of it."""

    max_turns: int | None = about("Turns of one episode, at most.", None, ge=1)
    segment_prompt_tokens: int | None = about("Tokens at which the context restarts.", None, ge=1)
    segment_max_images: int | None = about("Images at which the context restarts.", None, ge=1)
    restart_keep_turns: int = about("Turns that a restart keeps.", 0, ge=0)
    restart_older_obs_field: str = about("Part that a restart keeps of older observations.", "")
    restart_older_images: bool = about("Whether a restart keeps older images.", True)


class Messages(Section):
    """How observations become text, and text becomes actions."""

    observation_field: str | None = about("Part of the observation that is the text.", None)
    observation_processor: str | None = about("`module:function` that makes the text.", None)
    action_processor: str | None = about("`module:function` that changes the answer.", None)
    action_field: str | None = about("Part of the action that the answer goes to.", None)
    action_error_field: str = about("Part of the observation that tells of a bad action.", "")
    screenshot_field: str | None = about("Part of the observation that is a picture.", None)
    goal_images_field: str | None = about(
        "Part of the observation with pictures of the goal.", None
    )
    answer_tool: str | None = about("Tool whose call ends the episode.", None)
    strict_chat_template_boundary: bool | None = about(
        "Refuse templates that change earlier turns.", None
    )
    chat_template_path: str | None = about("File of the chat template.", None)
    chat_template_kwargs: dict[str, Any] = about("Arguments of the chat template.", dict)
    apply_chat_template: bool = about("Put messages into the chat template.", True)


class Tasks(Section):
    """Which tasks are drawn, and how they are begun."""

    adaptive_task_sampling: bool = about("Draw tasks more often that teach more.", False)
    task_family_field: str | None = about("Part that says which family a task is of.", None)
    task_family_prior_strength: float = about("How slowly the draw adapts.", 1.0, gt=0.0)
    max_concurrent_resets: int | None = about("Episodes that are begun side by side.", None, ge=1)
    request_timeout_s: float | None = about("Seconds that one request may take.", None, ge=0.0)


class Hosts(Section):
    """Where the environment runs."""

    env_url: str | list[str] | None = about("Address of a running environment.", None)
    env_image: str | None = about("Image that an environment is run from.", None)
    env_packages: dict[str, Any] | None = about("Packages to install: `pip` or `uv`.", None)
    env_hosts: int | None = about("Hosts that run copies of it.", None, ge=1)
    env_host_resource: str | None = about("Kind of machine for a host.", None)
    cpus_per_env_host: float | None = about("CPUs that a host reserves.", None, gt=0.0)
    env_host_memory_bytes: int | None = about("Memory that a host reserves.", None, gt=0)
    env_host_memory_limit_bytes: int | None = about("Memory that a host may use.", None, gt=0)
    env_host_ready_timeout_s: float | None = about("Seconds until it must be ready.", None, gt=0.0)
    env_port: int | None = about("Port that the environment serves on.", None, ge=1, le=65535)
    env_sessions_per_host: int | None = about("Episodes on one host.", None, ge=1)
    env_session_ports: dict[str, int] = about("First port of each variable, by session.", dict)
    env_services: list[Service] = about("Services that run beside it.", list)
    env_vars: dict[str, str] = about("Environment variables of the image.", dict)


@refine(
    num_envs={"type": int | None, "default": None},
    name={"type": str | None, "default": None},
)
class LlmEnvironment(Environment, Made, Rows, Rewards, Turns, Messages, Tasks, Hosts):
    """What a language model is trained on."""

    env_type: Literal["rollout", "dataset"] = about("`rollout` samples answers, `dataset` not.")
    env_config: dict[str, Any] | None = about("Arguments of the entrypoint.", None)

    @property
    def has_rows(self) -> bool:
        """Whether a data set is named."""
        return any(getattr(self, name) is not None for name in DATASET_FIELDS)

    def fill(self, context: str) -> None:
        """Fill in what follows from the kind of environment and its source."""
        if self.env_type == "dataset":
            self.response_column = _or(self.response_column, "response")
        else:
            self._fill_rollout()
        if self.has_rows or self.columns is not None or self.prompt_template is not None:
            self.train_test_split = _or(self.train_test_split, 0.9)
            if self.env_type == "rollout":
                self.rubric_name = _or(self.rubric_name, "reward_fn")

    def _fill_rollout(self) -> None:
        self.num_envs = _or(self.num_envs, 1)
        self.strict_chat_template_boundary = _or(self.strict_chat_template_boundary, True)
        if self.has_rows:
            self.max_turns = _or(self.max_turns, 1)
        else:
            self.action_field = _or(self.action_field, "message")
        if self.env_image is not None:
            self.env_port = _or(self.env_port, 8000)
            self.env_sessions_per_host = _or(self.env_sessions_per_host, 1)
            self.cpus_per_env_host = _or(self.cpus_per_env_host, 0.01)
            self.env_host_ready_timeout_s = _or(self.env_host_ready_timeout_s, 600.0)

    def faults(self) -> Iterator[Fault]:
        """Yield the broken rules."""
        from arena_sdk.manifest.environment_llm_rules import broken_rules

        yield from super().faults()
        yield from broken_rules(self)


def _or(value: Any, otherwise: Any) -> Any:
    return otherwise if value is None else value
