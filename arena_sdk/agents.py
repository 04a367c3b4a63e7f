"""What a deployed agent answers, as values; read leniently, since services add and omit keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SAMPLING = {"max_new_tokens": 100, "temperature": 0.7, "top_p": 0.9, "do_sample": True}
"""Sampling parameters of text generation, and their defaults."""

ERROR_MARK = "[ERROR:"
"""Begins the line by which a stream of text says that it failed."""


@dataclass(frozen=True)
class AgentInfo:
    """What kind of agent is served."""

    algo: str | None = None
    multi_agent: bool = False
    llm: bool = False
    recurrent: bool = False
    supervised: bool = False


@dataclass(frozen=True)
class AgentMetadata:
    """What a deployment says of itself; `agent` is None before it is loaded."""

    success: bool = False
    deployment_id: str | None = None
    instance_id: str | None = None
    agent: AgentInfo | None = None

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> AgentMetadata:
        """Read an answer of `/status`."""
        agent = document.get("agent")
        return cls(
            success=bool(document.get("success")),
            deployment_id=document.get("deployment_id"),
            instance_id=document.get("instance_id"),
            agent=AgentInfo(**_known(AgentInfo, agent)) if isinstance(agent, dict) else None,
        )


@dataclass(frozen=True)
class PredictResult:
    """How a prediction went."""

    batch_size: int = 0
    inference_time_ms: float = 0.0
    success: bool = False

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> PredictResult:
        """Read an answer of `/predict`, without its results."""
        return cls(**_known(cls, document))


@dataclass(frozen=True)
class LLMCompletionResult:
    """A prompt and what the model made of it."""

    prompt: str = ""
    completion: str = ""


@dataclass(frozen=True)
class LLMResults:
    """Completions, and how fast they came."""

    results: list[LLMCompletionResult] = field(default_factory=list)
    batch_size: int = 0
    inference_time_ms: float = 0.0
    tokens_per_second: float = 0.0
    success: bool = False

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> LLMResults:
        """Read an answer of `/generate`."""
        rows = [
            LLMCompletionResult(**_known(LLMCompletionResult, row))
            for row in _rows(document.get("results"))
        ]
        return cls(**{**_known(cls, document), "results": rows})


@dataclass(frozen=True)
class SessionInfo:
    """A conversation that an agent keeps; times are ISO 8601."""

    session_id: str = ""
    created_at: str | None = None
    last_updated: str | None = None

    @classmethod
    def read_all(cls, document: Any) -> list[SessionInfo]:
        """Read an answer of `/sessions`: a list, bare or under `sessions`."""
        rows = document.get("sessions") if isinstance(document, dict) else document
        return [cls(**_known(cls, row)) for row in _rows(rows)]


@dataclass(frozen=True)
class SessionMessage:
    """One turn of a conversation."""

    role: str = ""
    content: str = ""


@dataclass(frozen=True)
class SessionDetail(SessionInfo):
    """A conversation with its turns."""

    messages: list[SessionMessage] = field(default_factory=list)

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> SessionDetail:
        """Read an answer of `/sessions/{id}`."""
        messages = [
            SessionMessage(**_known(SessionMessage, row)) for row in _rows(document.get("messages"))
        ]
        return cls(**{**_known(cls, document), "messages": messages})


class GeneratedText:
    """Splits a stream of text into what the model said and the error that may end it.

    The mark of an error counts at the beginning of a line only, wherever chunks are cut.

    Attributes:
        error: The error's text, once its mark has come; the rest of the stream is part of it.
    """

    def __init__(self) -> None:
        self.error: str | None = None
        self._held = ""
        self._at_line_start = True

    def feed(self, chunk: str) -> str:
        """Take a chunk; return what can be shown of what has come so far."""
        if self.error is not None:
            self.error += chunk
            return ""
        text = self._held + chunk
        self._held = ""
        start = 0 if self._at_line_start else text.find("\n") + 1 or len(text)
        while start < len(text):
            line = text[start : start + len(ERROR_MARK)]
            if line == ERROR_MARK:
                self.error = text[start + len(ERROR_MARK) :]
                return text[:start]
            if ERROR_MARK.startswith(line):
                self._held, text = text[start:], text[:start]
                break
            start = text.find("\n", start) + 1 or len(text)
        if text:
            self._at_line_start = text.endswith("\n")
        return text

    def finish(self) -> str:
        """Return what was held back as it might have become a mark."""
        held, self._held = self._held, ""
        return held

    @property
    def sentence(self) -> str:
        """The error's text without its bracket."""
        return (self.error or "").strip().removesuffix("]").strip() or "The model failed."


def _rows(value: Any) -> list[dict[str, Any]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _known(kind: type, document: Mapping[str, Any]) -> dict[str, Any]:
    fields: Mapping[str, Any] = kind.__dataclass_fields__  # type: ignore[attr-defined]
    return {key: document[key] for key in fields if document.get(key) is not None}
