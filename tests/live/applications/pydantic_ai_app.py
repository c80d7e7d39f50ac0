"""An application of pydantic-ai: a UI message stream, or AG-UI, in front of a provider's API.

python -m tests.live.applications.pydantic_ai_app vercel|agui|agui-0.1.10 anthropic|openai|chat URL
"""

from __future__ import annotations

import sys
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.models.anthropic import AnthropicModel, AnthropicModelSettings
from pydantic_ai.models.openai import (
    OpenAIChatModel,
    OpenAIResponsesModel,
    OpenAIResponsesModelSettings,
)
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.ui.ag_ui import AGUIAdapter
from pydantic_ai.ui.vercel_ai import VercelAIAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from tests.live.applications.serving import serve


def model(kind: str, url: str) -> Any:
    """The model class of a provider, which is asked at `url`, and thinks."""
    if kind == "anthropic":
        return AnthropicModel(
            "claude-sonnet-4-5",
            provider=AnthropicProvider(api_key="none", base_url=url),
            settings=AnthropicModelSettings(
                anthropic_thinking={"type": "enabled", "budget_tokens": 1024}
            ),
        )
    provider = OpenAIProvider(api_key="none", base_url=f"{url}/v1")
    if kind == "chat":
        return OpenAIChatModel("think-1", provider=provider)
    settings = OpenAIResponsesModelSettings(openai_reasoning_summary="auto")
    return OpenAIResponsesModel("gpt-5", provider=provider, settings=settings)


def application(protocol: str, kind: str, url: str) -> Starlette:
    """The application, with a tool of its own."""
    agent = Agent(model(kind, url), retries=0)

    @agent.tool_plain
    def calculator(expression: str = "") -> str:
        """Works out an arithmetic expression."""
        del expression
        return "5"

    async def answer(request: Request) -> Response:
        if protocol == "vercel":
            return await VercelAIAdapter.dispatch_request(request, agent=agent, sdk_version=6)
        version: dict[str, Any] = {"ag_ui_version": "0.1.10"} if protocol == "agui-0.1.10" else {}
        return await AGUIAdapter.dispatch_request(request, agent=agent, **version)

    return Starlette(routes=[Route("/", answer, methods=["POST"])])


if __name__ == "__main__":
    serve(application(*sys.argv[1:4]))
