"""A client of chat services: pydantic-ai."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, ThinkingPart
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider


@dataclass(frozen=True)
class Answer:
    thinking: str
    text: str


async def ask(base_url: str, question: str) -> Answer:
    """Streams an answer; its thinking is kept apart."""
    provider = OpenAIProvider(base_url=f"{base_url}/v1", api_key="no-key-needed")
    agent = Agent(OpenAIChatModel("sample", provider=provider))
    async with agent.run_stream(question) as run:
        text = str(await run.get_output())
        responses = [each for each in run.all_messages() if isinstance(each, ModelResponse)]
    parts = [part for each in responses for part in each.parts]
    thinking = "".join(part.content for part in parts if isinstance(part, ThinkingPart))
    return Answer(thinking, text)
