"""A client of services that think aloud: pydantic-ai."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, ThinkingPart
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

KEY = "no-key-needed"


@dataclass(frozen=True)
class Answer:
    thinking: str
    text: str


def chat(base_url: str, http_client: Any) -> Model[Any]:
    """A model behind Chat Completions."""
    url = f"{base_url}/v1"
    provider = OpenAIProvider(base_url=url, api_key=KEY, http_client=http_client)
    return OpenAIChatModel("sample", provider=provider)


def messages(base_url: str, http_client: Any) -> Model[Any]:
    """A model behind Messages."""
    provider = AnthropicProvider(base_url=base_url, api_key=KEY, http_client=http_client)
    return AnthropicModel("sample", provider=provider)


async def ask(model: Model[Any], question: str) -> Answer:
    """Streams an answer; its thinking is kept apart."""
    async with Agent(model).run_stream(question) as run:
        text = str(await run.get_output())
        responses = [each for each in run.all_messages() if isinstance(each, ModelResponse)]
    parts = [part for each in responses for part in each.parts]
    thinking = "".join(part.content for part in parts if isinstance(part, ThinkingPart))
    return Answer(thinking, text)
