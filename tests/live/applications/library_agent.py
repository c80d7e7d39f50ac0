"""An agent of a library in each of its usual ways, as an agent that speaks ACP.

    python -m tests.live.applications.library_agent LIBRARY API

A conversation is the library's own: what it keeps of an answer, and what it sends back, is all its
doing. What this file shows of it is the text of each turn.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any, Final

Ask = Callable[[str], Awaitable[str]]
"""Takes what the user says next in one conversation, and gives the text of the answer."""

CLAUDE: Final = "claude-sonnet-4-6"
GPT: Final = "gpt-5.4"
GEMINI: Final = "gemini-3-flash-preview"
DEEPSEEK: Final = "deepseek-v4-pro"
BUDGET: Final = {"type": "enabled", "budget_tokens": 1024}
SCHEMA: Final = {
    "type": "object",
    "properties": {"expression": {"type": "string"}},
    "required": ["expression"],
}
ANTHROPIC_URL: Final = os.environ.get("ANTHROPIC_BASE_URL", "")
OPENAI_URL: Final = os.environ.get("OPENAI_BASE_URL", "")
GEMINI_URL: Final = os.environ.get("GOOGLE_GEMINI_BASE_URL", "")


def calculator(expression: str) -> str:
    """Works out an arithmetic expression.

    Args:
        expression: What to work out.
    """
    del expression
    return "5"


def openai_agents(api: str) -> Ask:
    agents: Any = importlib.import_module("agents")
    openai: Any = importlib.import_module("openai")
    agents.set_tracing_disabled(True)
    kinds = {"chat": "OpenAIChatCompletionsModel", "responses": "OpenAIResponsesModel"}
    # A model of OpenAI itself shows no thinking in Chat Completions.
    named = {"chat": DEEPSEEK, "responses": GPT}[api]
    model = getattr(agents, kinds[api])(named, openai.AsyncOpenAI())
    agent = agents.Agent(
        name="sums",
        model=model,
        tools=[agents.function_tool(calculator)],
        model_settings=agents.ModelSettings(
            reasoning={"effort": "low", "summary": "auto"},
            store=False if api == "responses" else None,
            response_include=["reasoning.encrypted_content"] if api == "responses" else None,
        ),
    )
    session = agents.SQLiteSession("sums")

    async def ask(words: str) -> str:
        result = agents.Runner.run_streamed(agent, words, session=session)
        async for _ in result.stream_events():
            pass
        return str(result.final_output)

    return ask


def pydantic_ai(api: str) -> Ask:
    package: Any = importlib.import_module("pydantic_ai")
    settings: dict[str, Any] = {
        "anthropic": {"anthropic_thinking": BUDGET},
        "responses": {"openai_reasoning_effort": "low", "openai_reasoning_summary": "auto"},
        "gemini": {"google_thinking_config": {"include_thoughts": True}},
        "chat": {},
    }
    names = {
        "anthropic": f"anthropic:{CLAUDE}",
        "responses": f"openai-responses:{GPT}",
        "gemini": f"google:{GEMINI}",
        "chat": f"openai-chat:{DEEPSEEK}",
    }
    agent = package.Agent(names[api], tools=[calculator], model_settings=settings[api])
    messages: list[Any] = []

    async def ask(words: str) -> str:
        async with agent.iter(words, message_history=messages or None) as run:
            async for node in run:
                if agent.is_model_request_node(node):
                    async with node.stream(run.ctx) as events:
                        async for _ in events:
                            pass
        messages[:] = run.result.all_messages()
        return str(run.result.output)

    return ask


def langgraph(api: str) -> Ask:
    agents: Any = importlib.import_module("langchain.agents")
    memory: Any = importlib.import_module("langgraph.checkpoint.memory")
    agent = agents.create_agent(
        _langchain_model(api), tools=[calculator], checkpointer=memory.InMemorySaver()
    )
    settings = {"configurable": {"thread_id": "1"}}

    async def ask(words: str) -> str:
        asked = {"messages": [{"role": "user", "content": words}]}
        async for _ in agent.astream(asked, settings, stream_mode="messages"):
            pass
        return str((await agent.aget_state(settings)).values["messages"][-1].text)

    return ask


def _langchain_model(api: str) -> Any:
    if api == "anthropic":
        package: Any = importlib.import_module("langchain_anthropic")
        return package.ChatAnthropic(
            model=CLAUDE, max_tokens=4096, thinking=BUDGET, base_url=ANTHROPIC_URL
        )
    if api == "gemini":
        package = importlib.import_module("langchain_google_genai")
        return package.ChatGoogleGenerativeAI(
            model=GEMINI, include_thoughts=True, base_url=GEMINI_URL
        )
    if api == "responses":
        package = importlib.import_module("langchain_openai")
        return package.ChatOpenAI(
            model=GPT,
            use_responses_api=True,
            store=False,
            include=["reasoning.encrypted_content"],
            reasoning={"effort": "low", "summary": "auto"},
        )
    package = importlib.import_module("langchain_deepseek")
    return package.ChatDeepSeek(model=DEEPSEEK, api_key="played", api_base=OPENAI_URL)


def google_genai(api: str) -> Ask:
    del api
    genai: Any = importlib.import_module("google.genai")
    types: Any = importlib.import_module("google.genai.types")
    options = types.HttpOptions(base_url=GEMINI_URL)
    client = genai.Client(api_key="played", http_options=options).aio
    config = types.GenerateContentConfig(
        tools=[calculator], thinking_config=types.ThinkingConfig(include_thoughts=True)
    )
    chat = client.chats.create(model=GEMINI, config=config)

    async def ask(words: str) -> str:
        assert client is not None  # it closes when nobody holds it
        pieces = [each.text or "" async for each in await chat.send_message_stream(words)]
        return "".join(pieces)

    return ask


def anthropic_runner(api: str) -> Ask:
    del api
    anthropic: Any = importlib.import_module("anthropic")
    client = anthropic.AsyncAnthropic()
    messages: list[Any] = []

    async def calculate(expression: str) -> str:
        return calculator(expression)

    tool = anthropic.beta_async_tool(calculate, name="calculator")

    async def ask(words: str) -> str:
        messages.append({"role": "user", "content": words})
        runner = client.beta.messages.tool_runner(
            model=CLAUDE,
            max_tokens=4096,
            thinking=BUDGET,
            tools=[tool],
            messages=list(messages),
            stream=True,
        )
        async for stream in runner:
            answer = await stream.get_final_message()
            messages.append({"role": "assistant", "content": answer.content})
            if (results := await runner.generate_tool_call_response()) is not None:
                messages.append(results)
        return "".join(each.text for each in answer.content if each.type == "text")

    return ask


def litellm(api: str) -> Ask:
    package: Any = importlib.import_module("litellm")
    models = {
        "anthropic": {"model": f"anthropic/{CLAUDE}", "api_base": ANTHROPIC_URL},
        "gemini": {"model": f"gemini/{GEMINI}", "api_base": f"{GEMINI_URL}/v1beta"},
        "chat": {"model": f"deepseek/{DEEPSEEK}", "api_base": OPENAI_URL, "api_key": "played"},
        "responses": {"model": f"openai/responses/{GPT}", "api_base": OPENAI_URL},
    }
    tools = [{"type": "function", "function": {"name": "calculator", "parameters": SCHEMA}}]
    messages: list[Any] = []

    async def ask(words: str) -> str:
        messages.append({"role": "user", "content": words})
        while True:
            stream = await package.acompletion(
                **models[api], messages=messages, tools=tools, stream=True, reasoning_effort="low"
            )
            chunks = [each async for each in stream]
            answer = package.stream_chunk_builder(chunks, messages=messages).choices[0].message
            messages.append(answer)
            if not answer.tool_calls:
                return str(answer.content)
            messages.extend(
                {"role": "tool", "tool_call_id": each.id, "content": "5"}
                for each in answer.tool_calls
            )

    return ask


def strands(api: str) -> Ask:
    package: Any = importlib.import_module("strands")
    agent = package.Agent(
        model=_strands_model(api), tools=[package.tool(calculator)], callback_handler=None
    )

    async def ask(words: str) -> str:
        return str(await agent.invoke_async(words))

    return ask


def _strands_model(api: str) -> Any:
    if api == "anthropic":
        found: Any = importlib.import_module("strands.models.anthropic")
        return found.AnthropicModel(model_id=CLAUDE, max_tokens=4096, params={"thinking": BUDGET})
    if api == "gemini":
        found = importlib.import_module("strands.models.gemini")
        thinking = {"thinking_config": {"include_thoughts": True}}
        given = {"api_key": "played", "http_options": {"base_url": GEMINI_URL}}
        return found.GeminiModel(client_args=given, model_id=GEMINI, params=thinking)
    if api == "responses":
        found = importlib.import_module("strands.models.openai_responses")
        params = {"reasoning": {"effort": "low", "summary": "auto"}}
        return found.OpenAIResponsesModel(model_id=GPT, params=params)
    found = importlib.import_module("strands.models.openai")
    return found.OpenAIModel(model_id=DEEPSEEK)


def llama_index(api: str) -> Ask:
    workflow: Any = importlib.import_module("llama_index.core.agent.workflow")
    memories: Any = importlib.import_module("llama_index.core.memory")
    agent = workflow.FunctionAgent(tools=[calculator], llm=_llama_index_model(api))
    memory = memories.ChatMemoryBuffer.from_defaults(token_limit=40000)

    async def ask(words: str) -> str:
        return str(await agent.run(user_msg=words, memory=memory))

    return ask


def _llama_index_model(api: str) -> Any:
    if api == "anthropic":
        found: Any = importlib.import_module("llama_index.llms.anthropic")
        return found.Anthropic(
            model=CLAUDE, max_tokens=4096, thinking_dict=BUDGET, base_url=ANTHROPIC_URL
        )
    if api == "gemini":
        found = importlib.import_module("llama_index.llms.google_genai")
        types: Any = importlib.import_module("google.genai.types")
        thinking = types.ThinkingConfig(include_thoughts=True)
        return found.GoogleGenAI(
            model=GEMINI,
            generation_config=types.GenerateContentConfig(thinking_config=thinking),
            http_options=types.HttpOptions(base_url=GEMINI_URL),
        )
    if api == "responses":
        found = importlib.import_module("llama_index.llms.openai")
        return found.OpenAIResponses(
            model=GPT,
            api_base=OPENAI_URL,
            store=False,
            include=["reasoning.encrypted_content"],
            reasoning_options={"effort": "low", "summary": "auto"},
        )
    found = importlib.import_module("llama_index.llms.deepseek")
    return found.DeepSeek(model="deepseek-reasoner", api_key="played", api_base=OPENAI_URL)


LIBRARIES: Final[dict[str, Callable[[str], Ask]]] = {
    "anthropic-runner": anthropic_runner,
    "google-genai": google_genai,
    "langgraph": langgraph,
    "litellm": litellm,
    "llama-index": llama_index,
    "openai-agents": openai_agents,
    "pydantic-ai-agent": pydantic_ai,
    "strands": strands,
}


def write(**message: Any) -> None:
    sys.__stdout__.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")  # type: ignore[union-attr]
    sys.__stdout__.flush()  # type: ignore[union-attr]


async def answer(number: Any, session: str, ask: Ask, words: str) -> None:
    try:
        answered = await ask(words)
    except Exception as error:  # noqa: BLE001 - whatever a library raises is the answer
        write(id=number, error={"code": -32603, "message": f"{type(error).__name__}: {error}"})
        return
    content = {"type": "text", "text": answered}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    write(method="session/update", params={"sessionId": session, "update": update})
    write(id=number, result={"stopReason": "end_turn"})


async def main(library: str, api: str) -> None:
    sys.stdout = sys.stderr  # what a library prints is no message
    sessions: dict[str, Ask] = {}
    while line := await asyncio.to_thread(sys.stdin.readline):
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            write(id=number, result={"protocolVersion": 1})
        elif method == "session/new":
            sessions[name := str(len(sessions))] = LIBRARIES[library](api)
            write(id=number, result={"sessionId": name})
        elif method == "session/prompt":
            params = message["params"]
            words = "".join(each["text"] for each in params["prompt"])
            await answer(number, params["sessionId"], sessions[params["sessionId"]], words)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
