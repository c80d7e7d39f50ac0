"""An agent of LangChain behind ag-ui-langgraph: AG-UI in front of a provider's API.

python -m tests.live.applications.langgraph_app anthropic|openai|chat URL
"""

from __future__ import annotations

import sys
from typing import Any

from ag_ui_langgraph import LangGraphAgent, add_langgraph_fastapi_endpoint
from fastapi import FastAPI
from langchain.agents import create_agent
from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver

from tests.live.applications.serving import serve


def calculator(expression: str = "") -> str:
    """Works out an arithmetic expression."""
    del expression
    return "5"


def model(kind: str, url: str) -> Any:
    """The model class of a provider, which is asked at `url`, and thinks."""
    if kind == "anthropic":
        return ChatAnthropic(
            model="claude-sonnet-4-5",
            base_url=url,
            api_key="none",
            max_retries=0,
            max_tokens=2048,
            thinking={"type": "enabled", "budget_tokens": 1024},
        )
    more: dict[str, Any] = {"model": "think-1"}
    if kind == "openai":
        more = {
            "model": "gpt-5",
            "use_responses_api": True,
            "store": False,
            "reasoning": {"summary": "auto"},
            "include": ["reasoning.encrypted_content"],
        }
    return ChatOpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, **more)


def application(kind: str, url: str) -> FastAPI:
    """The application, with a tool of its own."""
    graph = create_agent(model(kind, url), tools=[calculator], checkpointer=InMemorySaver())
    made = FastAPI()
    add_langgraph_fastapi_endpoint(made, LangGraphAgent(name="agent", graph=graph), "/")
    return made


if __name__ == "__main__":
    serve(application(*sys.argv[1:3]))
