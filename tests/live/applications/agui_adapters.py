"""Agents of libraries behind their own adapters for AG-UI.

python -m tests.live.applications.agui_adapters strands|llama-index|crewai anthropic|openai|chat URL
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any, Final

from fastapi import FastAPI

from tests.live.applications.serving import serve

CLAUDE: Final = "claude-sonnet-4-6"
GPT: Final = "gpt-5.4"
DEEPSEEK: Final = "deepseek-v4-pro"
BUDGET: Final = {"type": "enabled", "budget_tokens": 1024}
REASONING: Final = {"effort": "low", "summary": "auto"}
MOST: Final = 4096  # tokens of an answer


def calculator(expression: str = "") -> str:
    """Works out an arithmetic expression."""
    del expression
    return "5"


def strands(kind: str, url: str) -> Any:
    library: Any = importlib.import_module("strands")
    adapter: Any = importlib.import_module("ag_ui_strands")
    asked: dict[str, Any] = {"api_key": "none", "base_url": f"{url}/v1", "max_retries": 0}
    if kind == "anthropic":
        anthropic: Any = importlib.import_module("strands.models.anthropic")
        model = anthropic.AnthropicModel(
            client_args={**asked, "base_url": url},
            model_id=CLAUDE,
            max_tokens=MOST,
            params={"thinking": BUDGET},
        )
    elif kind == "openai":
        openai: Any = importlib.import_module("strands.models.openai_responses")
        params = {"reasoning": REASONING}
        model = openai.OpenAIResponsesModel(client_args=asked, model_id=GPT, params=params)
    else:
        chat: Any = importlib.import_module("strands.models.openai")
        model = chat.OpenAIModel(client_args=asked, model_id=DEEPSEEK)
    agent = library.Agent(model=model, tools=[library.tool(calculator)])
    return adapter.create_strands_app(adapter.StrandsAgent(agent, name="sums"), path="/")


def llama_index(kind: str, url: str) -> Any:
    """The adapter adds `/run` to the path of its router."""
    router: Any = importlib.import_module("llama_index.protocols.ag_ui.router")
    asked: dict[str, Any] = {"api_key": "none", "api_base": f"{url}/v1", "max_retries": 0}
    if kind == "openai":
        openai: Any = importlib.import_module("llama_index.llms.openai")
        model = openai.OpenAIResponses(model=GPT, reasoning_options=REASONING, **asked)
    else:
        like: Any = importlib.import_module("llama_index.llms.openai_like")
        model = like.OpenAILike(
            model=DEEPSEEK, is_chat_model=True, is_function_calling_model=True, **asked
        )
    inner = FastAPI()
    inner.include_router(
        router.get_ag_ui_workflow_router(llm=model, backend_tools=[calculator]), prefix=""
    )

    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        named = {"path": "/run", "raw_path": b"/run"} if scope["type"] == "http" else {}
        await inner({**scope, **named}, receive, send)

    return application


def crewai(kind: str, url: str) -> Any:
    """A flow that asks by LiteLLM, as in the adapter's own examples."""
    os.environ["CREWAI_TELEMETRY_OPT_OUT"] = os.environ["OTEL_SDK_DISABLED"] = "true"
    flows: Any = importlib.import_module("crewai.flow.flow")
    adapter: Any = importlib.import_module("ag_ui_crewai")
    litellm: Any = importlib.import_module("litellm")
    asked: dict[str, Any] = {"model": f"deepseek/{DEEPSEEK}", "api_base": f"{url}/v1"}
    if kind == "anthropic":
        asked = {"model": f"anthropic/{CLAUDE}", "api_base": url, "thinking": BUDGET}

    async def chat(flow: Any) -> None:
        answer = await litellm.acompletion(
            messages=flow.state.messages, stream=True, api_key="none", max_tokens=MOST, **asked
        )
        streamed = await adapter.copilotkit_stream(answer)
        flow.state.messages.append(streamed.choices[0].message)

    made = type("Sums", (flows.Flow[adapter.CopilotKitState],), {"chat": flows.start()(chat)})
    application = FastAPI()
    adapter.add_crewai_flow_fastapi_endpoint(application, made(), "/")
    return application


LIBRARIES: Final = {"strands": strands, "llama-index": llama_index, "crewai": crewai}

if __name__ == "__main__":
    library, kind, url = sys.argv[1:]
    serve(LIBRARIES[library](kind, url))
