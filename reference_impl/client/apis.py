"""The table of the APIs, one value each, which every other module uses.

An API more is a module that reads its answers and makes its requests, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from .ask import Ask
from .chat import ChatReader, chat_request, mistral_request
from .cohere import CohereReader, cohere_request
from .converse import CONVERSE_HISTORY, ConverseReader, converse_request
from .frame import Framing
from .gemini import GEMINI_HISTORY, GeminiReader, gemini_request
from .interactions import INTERACTIONS_HISTORY, InteractionsReader, interactions_request
from .messages import MessagesReader, messages_request
from .ollama import (
    COMPLETION_HISTORY,
    CompletionReader,
    OllamaReader,
    completion_request,
    ollama_request,
)
from .responses import ResponsesReader, responses_request
from .turn import HistoryForm
from .wire import AnswerReader, Api, Reading

BEARER: Final = "authorization"


@dataclass(frozen=True, slots=True)
class ApiForm:
    """One API.

    `dialect` is its name under test. `path` stands behind the base URL and may hold `{model}`;
    `base` is the path of a base URL that has none. `framing` is that of its streams; where one
    `grows_array`, its stream may be a JSON array, too. `key_header` holds a key: as a bearer token
    in `authorization`, else as it is. `history` is the form of its entries where it is its own.
    `error_key` is where the body of a refusal names its error, if not under `error`.
    """

    dialect: str
    path: str
    reader: Callable[[Reading], AnswerReader]
    body: Callable[[Ask], dict[str, Any]]
    base: str = "/v1"
    framing: Framing = "events"
    grows_array: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    key_header: str = BEARER
    history: HistoryForm | None = None
    takes_tools: bool = True
    error_key: str = "error"

    def path_for(self, model: str) -> str:
        return self.path.replace("{model}", quote(model, safe=""))

    def credentials(self, key: str) -> dict[str, str]:
        """The header that carries a key; none without one."""
        return (
            {self.key_header: f"Bearer {key}" if self.key_header == BEARER else key} if key else {}
        )


APIS: Final[Mapping[Api, ApiForm]] = {
    "chat": ApiForm("openai.chat", "/chat/completions", ChatReader, chat_request),
    "responses": ApiForm("openai.responses", "/responses", ResponsesReader, responses_request),
    "messages": ApiForm(
        "anthropic.messages",
        "/messages",
        MessagesReader,
        messages_request,
        headers={"anthropic-version": "2023-06-01"},
        key_header="x-api-key",
    ),
    "gemini": ApiForm(
        "gemini.generate",
        "/models/{model}:streamGenerateContent?alt=sse",
        GeminiReader,
        gemini_request,
        base="/v1beta",
        grows_array=True,
        key_header="x-goog-api-key",
        history=GEMINI_HISTORY,
    ),
    "interactions": ApiForm(
        "gemini.interactions",
        "/interactions",
        InteractionsReader,
        interactions_request,
        base="/v1beta",
        headers={"api-revision": "2026-05-20"},
        key_header="x-goog-api-key",
        history=INTERACTIONS_HISTORY,
    ),
    "bedrock": ApiForm(
        "bedrock.converse",
        "/model/{model}/converse-stream",
        ConverseReader,
        converse_request,
        base="",
        framing="binary",
        history=CONVERSE_HISTORY,
        error_key="message",
    ),
    "cohere": ApiForm(
        "cohere.v2", "/v2/chat", CohereReader, cohere_request, base="", error_key="message"
    ),
    "mistral": ApiForm("mistral.chat", "/chat/completions", ChatReader, mistral_request),
    "ollama": ApiForm(
        "ollama.chat", "/api/chat", OllamaReader, ollama_request, base="", framing="lines"
    ),
    "ollama-generate": ApiForm(
        "ollama.generate",
        "/api/generate",
        CompletionReader,
        completion_request,
        base="",
        framing="lines",
        takes_tools=False,
        history=COMPLETION_HISTORY,
    ),
}
OF_DIALECT: Final[Mapping[str, Api]] = {form.dialect: api for api, form in APIS.items()}


OPT_IN: Final = "x-include-thinking"
ACCEPTED: Final[Mapping[Framing, str]] = {
    "events": "text/event-stream",
    "lines": "application/x-ndjson",
    "binary": "application/vnd.amazon.eventstream",
}


@dataclass(frozen=True, slots=True)
class Request:
    """One POST; `path` is relative to the base URL of the API."""

    path: str
    json: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


def request(api: Api, ask: Ask) -> Request:
    """The request that asks for the next turn, as a stream."""
    form = APIS[api]
    # Compressed streams arrive late and in lumps.
    headers = {"accept": ACCEPTED[form.framing], "accept-encoding": "identity"}
    if ask.include_thinking:
        headers[OPT_IN] = "true"
    return Request(form.path_for(ask.model), form.body(ask), {**headers, **form.headers})
