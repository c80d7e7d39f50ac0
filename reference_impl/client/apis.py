"""What the APIs are, one value each: every other module asks this table.

An API more is a reader of its answers, a module that makes its requests, and a line here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote

from . import (
    chat_request,
    cohere_request,
    converse_request,
    gemini_request,
    interactions_request,
    messages_request,
    ollama_request,
    responses_request,
)
from .ask import Ask
from .chat import ChatReader
from .cohere import CohereReader
from .converse import ConverseReader
from .frame import Framing
from .gemini import GeminiReader
from .history import HistoryForm
from .interactions import InteractionsReader
from .messages import MessagesReader
from .ollama import CompletionReader, OllamaReader
from .responses import ResponsesReader
from .wire import Api, Reading, WireReader

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
    reader: Callable[[Reading], WireReader]
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
        """The path of a request to a model."""
        return self.path.replace("{model}", quote(model, safe=""))

    def credentials(self, key: str) -> dict[str, str]:
        """The header that carries a key; none without one."""
        return (
            {self.key_header: f"Bearer {key}" if self.key_header == BEARER else key} if key else {}
        )


APIS: Final[Mapping[Api, ApiForm]] = {
    "chat": ApiForm("openai.chat", "/chat/completions", ChatReader, chat_request.body),
    "responses": ApiForm("openai.responses", "/responses", ResponsesReader, responses_request.body),
    "messages": ApiForm(
        "anthropic.messages",
        "/messages",
        MessagesReader,
        messages_request.body,
        headers={"anthropic-version": "2023-06-01"},
        key_header="x-api-key",
    ),
    "gemini": ApiForm(
        "gemini.generate",
        "/models/{model}:streamGenerateContent?alt=sse",
        GeminiReader,
        gemini_request.body,
        base="/v1beta",
        grows_array=True,
        key_header="x-goog-api-key",
        history=gemini_request.HISTORY,
    ),
    "interactions": ApiForm(
        "gemini.interactions",
        "/interactions",
        InteractionsReader,
        interactions_request.body,
        base="/v1beta",
        headers={"api-revision": "2026-05-20"},
        key_header="x-goog-api-key",
        history=interactions_request.HISTORY,
    ),
    "bedrock": ApiForm(
        "bedrock.converse",
        "/model/{model}/converse-stream",
        ConverseReader,
        converse_request.body,
        base="",
        framing="binary",
        history=converse_request.HISTORY,
        error_key="message",
    ),
    "cohere": ApiForm(
        "cohere.v2", "/v2/chat", CohereReader, cohere_request.body, base="", error_key="message"
    ),
    "mistral": ApiForm("mistral.chat", "/chat/completions", ChatReader, chat_request.mistral_body),
    "ollama": ApiForm(
        "ollama.chat", "/api/chat", OllamaReader, ollama_request.body, base="", framing="lines"
    ),
    "ollama-generate": ApiForm(
        "ollama.generate",
        "/api/generate",
        CompletionReader,
        ollama_request.completion,
        base="",
        framing="lines",
        takes_tools=False,
        history=ollama_request.COMPLETION,
    ),
}
OF_DIALECT: Final[Mapping[str, Api]] = {form.dialect: api for api, form in APIS.items()}
