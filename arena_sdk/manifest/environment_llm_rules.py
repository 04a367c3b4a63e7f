"""The rules that cross the fields of a language model's environment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from arena_sdk.manifest.base import Fault, fault
from arena_sdk.manifest.environment_services import repeated

if TYPE_CHECKING:
    from arena_sdk.manifest.environment_llm import LlmEnvironment

SOURCES = ("entrypoint", "env_url", "env_image")
IMAGE_ONLY = (
    "env_sessions_per_host", "env_session_ports", "env_host_memory_limit_bytes",
    "env_host_ready_timeout_s", "env_services", "env_vars",
)  # fmt: skip
"""Fields that describe the containers of an `env_image`."""

TALKED_TO = (
    "observation_field", "observation_processor", "action_processor", "action_field",
    "answer_tool", "request_timeout_s", "env_config",
)  # fmt: skip
"""Fields that need an environment to talk to."""

PICTURES = ("screenshot_field", "goal_images_field")
"""The same, but an empty one is none."""

INSTALLERS = ("uv", "pip")


def broken_rules(env: LlmEnvironment) -> Iterator[Fault]:
    """Yield a fault for every broken rule; judged as written, before defaults are filled in."""
    yield from _restarts(env)
    if env.env_type == "dataset":
        yield from _dataset(env)
    else:
        yield from _source(env)
        yield from _rollout(env)
        yield from _image(env)


def _written(env: LlmEnvironment, name: str) -> bool:
    value = getattr(env, name)
    return bool(value) if isinstance(value, list | dict) else value is not None


def _restarts(env: LlmEnvironment) -> Iterator[Fault]:
    restarts = env.segment_prompt_tokens is not None or env.segment_max_images is not None
    if env.restart_keep_turns and not restarts:
        yield fault(
            "The context never restarts; set segment_prompt_tokens or segment_max_images.",
            "restart_keep_turns",
        )
    if env.restart_keep_turns < 2:
        for name, default in (
            ("restart_older_obs_field", ""),
            ("restart_older_images", True),
        ):
            if getattr(env, name) != default:
                yield fault("It needs restart_keep_turns of at least 2, or no turn is older.", name)


def _dataset(env: LlmEnvironment) -> Iterator[Fault]:
    if not env.has_rows:
        yield fault("A data set is needed: write dataset, dataset_path or hf_dataset_id.")
    if env.objective is None:
        yield fault("It is needed with `env_type: dataset`: preference or sft.", "objective")
    if env.rubric_file_path is not None:
        yield fault("Nothing is sampled that could be rewarded; leave it out.", "rubric_file_path")
    for name in (*SOURCES, *IMAGE_ONLY):
        if _written(env, name) or (name in SOURCES and getattr(env, name) is not None):
            yield fault("Nothing is sampled with `env_type: dataset`; leave it out.", name)


def _source(env: LlmEnvironment) -> Iterator[Fault]:
    found = [name for name in SOURCES if getattr(env, name) is not None]
    if env.has_rows:
        found.insert(0, "a data set")
    if len(found) != 1:
        yield fault(
            "Exactly one source is needed: a data set with a rubric, entrypoint, env_url or"
            f" env_image; found {' and '.join(found) or 'none'}."
        )


def _rollout(env: LlmEnvironment) -> Iterator[Fault]:
    if env.has_rows:
        yield from _rewarded_rows(env)
    elif env.rubric_file_path is not None:
        yield fault("An environment gives its own rewards; leave it out.", "rubric_file_path")
    if env.env_url is not None and env.max_turns is None:
        yield fault("It needs max_turns; 1 for a single turn.", "env_url")
    if env.env_hosts is not None and env.entrypoint is None and env.env_image is None:
        yield fault("Hosts run an entrypoint or an env_image, and there is neither.", "env_hosts")
    if env.env_packages is not None:
        yield from _packages(env)
    if env.observation_field is not None and env.observation_processor is not None:
        yield fault(
            "Write observation_field or observation_processor, not both.", "observation_field"
        )
    if env.task_family_field is not None and not env.adaptive_task_sampling:
        yield fault("It needs `adaptive_task_sampling: true`.", "task_family_field")


def _rewarded_rows(env: LlmEnvironment) -> Iterator[Fault]:
    for name, what in (
        ("rubric_file_path", "the reward"),
        ("prompt_template", "the prompt"),
    ):
        if getattr(env, name) is None:
            yield fault(f"A data set needs it for {what}.", name)
    if env.max_turns not in (None, 1):
        yield fault(
            f"A data set has single turns; write 1 instead of {env.max_turns}.", "max_turns"
        )
    for name in (*TALKED_TO, *PICTURES):
        value = getattr(env, name)
        if value is not None and (value or name not in PICTURES):
            yield fault("A data set has no environment to talk to; leave it out.", name)


def _packages(env: LlmEnvironment) -> Iterator[Fault]:
    here = ("env_packages",)
    if env.entrypoint is None:
        yield fault("Packages are installed for an entrypoint, and there is none.", *here)
        return
    named = False
    for installer in INSTALLERS:
        packages = (env.env_packages or {}).get(installer)
        if isinstance(packages, dict):
            packages = packages.get("packages") or []
        if packages is not None and not isinstance(packages, list):
            yield fault("Write a list of packages, or a mapping with `packages`.", *here, installer)
            return
        named = named or bool(packages)
    if not named:
        yield fault("It names no packages; write a list of them under `uv` or `pip`.", *here)


def _image(env: LlmEnvironment) -> Iterator[Fault]:
    if env.env_image is None:
        for name in IMAGE_ONLY:
            if _written(env, name):
                yield fault("It is a setting of an env_image, and there is none.", name)
        return
    if (env.env_sessions_per_host or 1) > 1 and not env.env_session_ports:
        yield fault(
            "Sessions share one address, so that each needs ports: write env_session_ports.",
            "env_sessions_per_host",
        )
    for name in repeated([service.name for service in env.env_services]):
        yield fault(f"The service name {name!r} is used more than once.", "env_services")
    variables = [
        *env.env_vars,
        *env.env_session_ports,
        *(s.url_env for s in env.env_services),
    ]
    for name in repeated(variables):
        yield fault(
            f"The variable {name!r} is set more than once in env_vars, env_session_ports and"
            " env_services.",
            "env_vars",
        )
