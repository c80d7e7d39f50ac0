"""Dialects: wire grammars, from frames to wire events and semantic events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from functools import reduce
from importlib import import_module
from operator import or_
from typing import Any, Final, TypeVar

from conformance.core.errors import UsageError
from conformance.core.events import Frame, Request
from conformance.core.json_values import NOT_JSON
from conformance.dialects import requests, unsupported
from conformance.dialects.base import Dialect, Reader, Reading
from conformance.dialects.endpoint import BASE, Endpoint

_Facet = TypeVar("_Facet")

# Folders of this one; each gives a value `DIALECT`.
_FOLDERS: Final = (
    *("openai_chat", "mistral_chat", "mistral_conversations", "openai_responses"),
    *("anthropic_messages", "ollama_chat", "ollama_generate", "cohere_v2", "vercel_ui", "harmony"),
    *("bedrock_converse", "agui", "claude_stream_json", "codex_exec", "acp", "codex_app_server"),
    *("opal_rpc", "google_adk", "google_a2a", "langgraph", "langchain_events", "gemini_generate"),
    *("gemini_interactions", "lmstudio_chat", "copilot_cli", "gemini_cli", "opencode_run"),
    *("opencode_serve", "otel_genai"),
    # Where both may be asked, the body of the one says whether it wants a stream.
    *("sglang_generate", "huggingface_tgi"),
)
_DIALECTS: Final[Sequence[Dialect]] = [
    import_module(f"{__name__}.{folder}").DIALECT for folder in _FOLDERS
]
SUPPORTED: Final[Mapping[str, Dialect]] = {dialect.name: dialect for dialect in _DIALECTS}
ENDPOINTS: Final[Mapping[str, Endpoint]] = {
    name: dialect.endpoint for name, dialect in SUPPORTED.items() if dialect.endpoint
}
"""Dialects of requests to servers, by name."""
UNNAMED_ENDPOINTS: Final = tuple(name for name, each in ENDPOINTS.items() if not each.only_named)
"""Those of them that a run looks for where the user names none."""
SOCKET_FORMS: Final = {name: each.socket for name, each in SUPPORTED.items() if each.socket}
"""What messages mean of the dialects that are spoken over a WebSocket, by name."""
APPLICATIONS: Final = tuple(name for name, each in SUPPORTED.items() if each.is_application)
"""Dialects that applications speak to user interfaces."""
CALLABLE_APPLICATIONS: Final = tuple(name for name in APPLICATIONS if SUPPORTED[name].request)
"""Those of them that have requests, too; of the others there are only streams."""
AGENTS: Final = {name: each.agent for name, each in SUPPORTED.items() if each.agent}
"""Those of them that a command speaks on its standard streams."""
AGENT_PROTOCOL: Final = import_module(f"{__name__}.acp").DIALECT.name
"""That of agents in general."""
_REQUESTS: Final = [each.request for each in SUPPORTED.values() if each.request and not each.agent]
HISTORIES: Final = tuple(dict.fromkeys(each.history for each in _REQUESTS))
"""Keys under which requests hold the history."""
PROMPTS: Final = tuple(dict.fromkeys(each.prompt for each in _REQUESTS if each.prompt))
"""Keys under which requests hold the new question, in addition to the history."""
INSTRUCTIONS: Final = tuple(
    dict.fromkeys(each.instructions for each in _REQUESTS if each.instructions)
)
"""Keys under which requests hold what a system prompt says next to it."""
APIS: Final[Mapping[str, str]] = {endpoint.api: name for name, endpoint in ENDPOINTS.items()}
"""Names of dialects by the words of `--api`."""
WIRE_KEYS: Final = reduce(or_, (dialect.keys for dialect in SUPPORTED.values()))
"""The keys of all dialects, for who looks at payloads of any."""
_BY_MARKS: Final = sorted(SUPPORTED.values(), key=lambda dialect: dialect.refines is None)
REFINED: Final[Mapping[str, Dialect]] = {
    dialect.refines.dialect: dialect for dialect in _BY_MARKS if dialect.refines
}
"""The dialect that refines another one, by the name of that."""
NAMES: Final = (*SUPPORTED, *unsupported.UNSUPPORTED)
"""Every dialect that `recognise` can name; those not in `SUPPORTED` have no reader yet."""

# What other modules define; the rest is defined here.
__all__ = ["NOT_JSON", "Dialect", "Endpoint", "Reader", "Reading"]


def get(name: str) -> Dialect:
    """The dialect of that name; UsageError if there is none, or none yet."""
    if name in SUPPORTED:
        return SUPPORTED[name]
    known = ", ".join(SUPPORTED)
    if name in unsupported.IN_PROCESS:
        raise UsageError(
            refusal(name), hint="record what the application sends, or what its provider answers"
        )
    if name in NAMES:
        raise UsageError(refusal(name), hint=f"supported: {known}")
    near = get_close_matches(name, SUPPORTED, n=1, cutoff=0.4)
    hint = f"did you mean {near[0]}?" if near else f"supported: {known}"
    raise UsageError(f"no dialect is called {name!r}", hint=hint)


def refusal(name: str) -> str:
    """Why streams of a dialect without a reader are not judged."""
    if (events := unsupported.IN_PROCESS.get(name)) is not None:
        return f"{events} ({name}) pass inside a process and are no wire"
    if (api := unsupported.OTHER_APIS.get(name)) is not None:
        return f"this is {api}, which is not supported"
    return f"dialect {name} is not supported yet"


def recognise(frame: Frame, payload: Any) -> str | None:
    """Name of the dialect that a payload belongs to, supported or not; None if it could be any."""
    for dialect in _BY_MARKS:
        if dialect.recognises(frame, payload):
            return dialect.name
    return unsupported.named(payload)


def agrees(dialect: Dialect, shown: str | None) -> bool:
    """Whether a stream that shows this dialect, or none, may be read as the other one."""
    if shown in (None, dialect.name) or shown in dialect.carriers:
        return True
    finer = REFINED.get(dialect.name)
    return bool(
        (finer is not None and shown == finer.name)
        or (dialect.refines is not None and shown == dialect.refines.dialect)
    )


def dialect_at(path: str, body: Any = None) -> str | None:
    """Name of the dialect that is spoken at a request path.

    Of several at one path, the one whose prompt or history the body holds; without a body, or
    where it shows none, the first.
    """
    those = [name for name, endpoint in ENDPOINTS.items() if endpoint.serves(path)]
    if len(those) > 1 and isinstance(body, Mapping):
        forms = ((name, SUPPORTED[name].request) for name in those)
        those = [name for name, form in forms if form and form.history in body] or those
    return those[0] if those else None


def asks_for_stream(path: str, body: Any, dialect: str | None = None) -> bool:
    """Whether a request asks for a stream: as its dialect has it, or by `stream`.

    Where the dialect is not known, its path shows it.
    """
    spoken = dialect if dialect in SUPPORTED else dialect_at(path)
    asks = SUPPORTED[spoken].asks_for_stream(path, body) if spoken else None
    return requests.asks_for_stream(body) if asks is None else asks


def stated_request(request: Request) -> Request:
    """The request with what it says in its path as part of its body, as its dialect has it."""
    dialect = dialect_at(request.path)
    return (SUPPORTED[dialect].stated(request) if dialect else None) or request


def base_path(path: str) -> str:
    """What is before a request path where the URL of a server has no path."""
    dialect = dialect_at(path)
    if dialect is not None:
        return ENDPOINTS[dialect].base
    listings = (each.models for each in SUPPORTED.values() if each.models)
    return next((each.base for each in listings if path.startswith(each.path)), BASE)


def required(facet: _Facet | None, dialect: str, what: str) -> _Facet:
    """The facet. Raises UsageError where the dialect has none; `what` says what it would be."""
    if facet is None:
        raise UsageError(f"dialect {dialect} has no {what}")
    return facet
