"""Dialects: wire grammars, from frames to wire events and semantic events."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import reduce
from operator import or_
from typing import Any, Final, TypeVar

from conformance.core.errors import UsageError
from conformance.core.events import Frame, Request
from conformance.core.json_values import NOT_JSON
from conformance.dialects import requests, unsupported
from conformance.dialects.acp import DIALECT as ACP
from conformance.dialects.agui import DIALECT as AGUI
from conformance.dialects.anthropic_messages import DIALECT as ANTHROPIC_MESSAGES
from conformance.dialects.base import Dialect, Reader, Reading
from conformance.dialects.bedrock_converse import DIALECT as BEDROCK_CONVERSE
from conformance.dialects.claude_stream_json import DIALECT as CLAUDE_STREAM_JSON
from conformance.dialects.codex_app_server import DIALECT as CODEX_APP_SERVER
from conformance.dialects.codex_exec import DIALECT as CODEX_EXEC
from conformance.dialects.cohere_v2 import DIALECT as COHERE_V2
from conformance.dialects.copilot_cli import DIALECT as COPILOT_CLI
from conformance.dialects.endpoint import BASE, Endpoint
from conformance.dialects.gemini_cli import DIALECT as GEMINI_CLI
from conformance.dialects.gemini_generate import DIALECT as GEMINI_GENERATE
from conformance.dialects.gemini_interactions import DIALECT as GEMINI_INTERACTIONS
from conformance.dialects.google_a2a import DIALECT as GOOGLE_A2A
from conformance.dialects.google_adk import DIALECT as GOOGLE_ADK
from conformance.dialects.harmony import DIALECT as HARMONY
from conformance.dialects.huggingface_tgi import DIALECT as HUGGINGFACE_TGI
from conformance.dialects.langchain_events import DIALECT as LANGCHAIN_EVENTS
from conformance.dialects.langgraph import DIALECT as LANGGRAPH
from conformance.dialects.lmstudio_chat import DIALECT as LMSTUDIO_CHAT
from conformance.dialects.mistral_chat import DIALECT as MISTRAL_CHAT
from conformance.dialects.mistral_conversations import DIALECT as MISTRAL_CONVERSATIONS
from conformance.dialects.ollama_chat import DIALECT as OLLAMA_CHAT
from conformance.dialects.ollama_generate import DIALECT as OLLAMA_GENERATE
from conformance.dialects.opal_rpc import DIALECT as OPAL_RPC
from conformance.dialects.openai_chat import DIALECT as OPENAI_CHAT
from conformance.dialects.openai_responses import DIALECT as OPENAI_RESPONSES
from conformance.dialects.opencode_run import DIALECT as OPENCODE_RUN
from conformance.dialects.opencode_serve import DIALECT as OPENCODE_SERVE
from conformance.dialects.otel_genai import DIALECT as OTEL_GENAI
from conformance.dialects.sglang_generate import DIALECT as SGLANG_GENERATE
from conformance.dialects.vercel_ui import DIALECT as VERCEL_UI

_Facet = TypeVar("_Facet")

SUPPORTED: Final[Mapping[str, Dialect]] = {
    dialect.name: dialect
    for dialect in (
        OPENAI_CHAT,
        MISTRAL_CHAT,
        MISTRAL_CONVERSATIONS,
        OPENAI_RESPONSES,
        ANTHROPIC_MESSAGES,
        OLLAMA_CHAT,
        OLLAMA_GENERATE,
        COHERE_V2,
        VERCEL_UI,
        HARMONY,
        BEDROCK_CONVERSE,
        AGUI,
        CLAUDE_STREAM_JSON,
        CODEX_EXEC,
        ACP,
        CODEX_APP_SERVER,
        OPAL_RPC,
        GOOGLE_ADK,
        GOOGLE_A2A,
        LANGGRAPH,
        LANGCHAIN_EVENTS,
        GEMINI_GENERATE,
        GEMINI_INTERACTIONS,
        LMSTUDIO_CHAT,
        COPILOT_CLI,
        GEMINI_CLI,
        OPENCODE_RUN,
        OPENCODE_SERVE,
        OTEL_GENAI,
        # Where both may be asked, the body of the one says whether it wants a stream.
        SGLANG_GENERATE,
        HUGGINGFACE_TGI,
    )
}
ENDPOINTS: Final[Mapping[str, Endpoint]] = {
    name: dialect.endpoint for name, dialect in SUPPORTED.items() if dialect.endpoint
}
"""Dialects that servers are asked in, by name."""
UNNAMED_ENDPOINTS: Final = tuple(name for name, each in ENDPOINTS.items() if not each.only_named)
"""Those of them that a run looks for where the user names none."""
SOCKET_FORMS: Final = {name: each.socket for name, each in SUPPORTED.items() if each.socket}
"""What messages mean of the dialects that are spoken over a WebSocket, by name."""
APPLICATIONS: Final = tuple(name for name, each in SUPPORTED.items() if each.is_application)
"""Dialects that applications speak to user interfaces."""
CALLABLE_APPLICATIONS: Final = tuple(name for name in APPLICATIONS if SUPPORTED[name].request)
"""Those of them in which they are asked, too; of the others they are only listened to."""
AGENTS: Final = {name: each.agent for name, each in SUPPORTED.items() if each.agent}
"""Those of them in which a command is asked on its standard streams."""
AGENT_PROTOCOL: Final = ACP.name
"""That of agents in general."""
_REQUESTS: Final = [each.request for each in SUPPORTED.values() if each.request and not each.agent]
HISTORIES: Final = tuple(dict.fromkeys(each.history for each in _REQUESTS))
"""Keys under which requests hold what was said before."""
PROMPTS: Final = tuple(dict.fromkeys(each.prompt for each in _REQUESTS if each.prompt))
"""Keys under which requests hold what is asked now, beside the history."""
INSTRUCTIONS: Final = tuple(
    dict.fromkeys(each.instructions for each in _REQUESTS if each.instructions)
)
"""Keys under which requests hold what a system prompt says beside it."""
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

__all__ = [
    "AGENTS",
    "AGENT_PROTOCOL",
    "APIS",
    "APPLICATIONS",
    "ASKED_APPLICATIONS",
    "ENDPOINTS",
    "HISTORIES",
    "INSTRUCTIONS",
    "NAMES",
    "NOT_JSON",
    "PROMPTS",
    "REFINED",
    "SOCKET_FORMS",
    "SUPPORTED",
    "UNNAMED_ENDPOINTS",
    "WIRE_KEYS",
    "Dialect",
    "Endpoint",
    "Reader",
    "Reading",
    "agrees",
    "asks_for_stream",
    "base_path",
    "dialect_at",
    "get",
    "recognise",
    "refusal",
    "required",
    "stated_request",
]


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
    """What stands before a request path where the URL of a server has no path."""
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
