"""The conversation of a client, made of a recorded request: never what is expected of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from conformance.core.events import Exchange, Request
from conformance.dialects import HISTORIES, INSTRUCTIONS, get
from conformance.dialects.history_calls import goes_on_from_kept
from conformance.dialects.requests import Question, opts_in
from conformance.profiles.profile import Profile
from conformance.rules.patterns import regex

HELLO: Final = {"role": "user", "content": "What is 2 + 2?"}
AGAIN: Final = {"role": "user", "content": "And why?"}
_OF_USER: Final = ("effort", "summary", "history", "include_thinking")


def case_conversation(exchange: Exchange, profile: Profile) -> dict[str, Any]:
    """`model`, `messages` and `options` of the command that asks for this exchange.

    Of a request that leaves its history to the server the client gets no message: results whose
    calls it does not know would be ours to answer for.
    """
    dialect = get(profile.dialect)
    request = dialect.stated(exchange.request)
    body = request.json if request else None
    body = body if isinstance(body, Mapping) else {}
    tools = dialect.request.tools(body) if dialect.request else None
    model, hello = body.get("model"), in_form_of(dialect.name, HELLO)
    is_kept = goes_on_from_kept(dialect.name, body)
    return {
        "model": model if isinstance(model, str) and model else "m",
        "messages": [hello] if is_kept else request_messages(body, hello),
        "options": case_options(tools, exchange.request, profile),
    }


def with_called_tools(
    command: Mapping[str, Any], calls: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """The command with every function that the answer calls: SDKs refuse a call of another one."""
    options = command["options"]
    offered = {tool["function"]["name"]: tool for tool in options.get("tools", ())}
    for call in calls:
        name = call.get("name")
        if isinstance(name, str) and name:
            function = {"name": name, "parameters": {"type": "object"}}
            offered.setdefault(name, {"type": "function", "function": function})
    tools = {"tools": [*offered.values()]} if offered else {}
    return {**command, "options": {**options, **tools}}


def hello_command(dialect: str) -> dict[str, Any]:
    """The command that asks for a short answer."""
    return {"model": "m", "messages": [in_form_of(dialect, HELLO)], "options": {}}


def in_form_of(dialect: str, message: Mapping[str, Any]) -> dict[str, Any]:
    """A plain message of the user in the form of the dialect's API; any other one as it is."""
    form, text = get(dialect).request, message["content"]
    if form is None or message["role"] != "user":
        return dict(message)
    body = form.ask(Question(text, 1, streams=True, thinks=False, summarises=False))
    return request_messages(body, message)[-1]


def user_choices_in(command: Mapping[str, Any]) -> dict[str, Any]:
    """Return the user's choices in such a command, as recordings hold them."""
    options = command["options"]
    return {"model": command["model"], **{key: options[key] for key in _OF_USER if key in options}}


def request_messages(body: Mapping[str, Any], instead: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The history of a request of any dialect, with its instructions in front.

    A request without one gets the message `instead`.
    """
    system = next(filter(None, (body.get(key) for key in INSTRUCTIONS)), None)
    system = system.get("parts") if isinstance(system, Mapping) else system
    before = [{"role": "system", "content": system}] if isinstance(system, str | list) else []
    given = next((body[key] for key in HISTORIES if key in body), None)
    if isinstance(given, str):
        return [*before, {"role": "user", "content": given}]
    entries = [dict(entry) for entry in _as_list(given) if isinstance(entry, Mapping)]
    return [*before, *(entries or [dict(instead)])]


def case_options(tools: Any, request: Request | None, profile: Profile) -> dict[str, Any]:
    """Return the options that reading the answer needs; `tools` are those that were offered."""
    made: dict[str, Any] = {}
    if functions := [tool for tool in map(_function_tool, _as_list(tools)) if tool]:
        made["tools"] = functions
    if request is not None and opts_in(request):
        made["include_thinking"] = True
    if pairs := profile.knobs.get("markers"):
        made["markers"] = [list(pair) for pair in pairs]
        if profile.knobs.get("think_opened_by") == "prompt":
            made["opened_by_prompt"] = True
    return made


def _as_list(value: Any) -> list[Any]:
    """A list as it is; a recorded request may hold anything in its place."""
    return value if isinstance(value, list) else []


def _function_tool(given: Any) -> dict[str, Any] | None:
    """A function in the form of Chat Completions; None for what is no function."""
    if not isinstance(given, Mapping):
        return None
    function = given.get("function")
    about = function if isinstance(function, Mapping) else given
    name = about.get("name")
    if not isinstance(name, str) or given.get("type", "function") not in ("function", "custom"):
        return None
    schema = about.get("parameters") or about.get("input_schema") or {"type": "object"}
    made = {"name": name, "parameters": schema}
    if isinstance(about.get("description"), str):
        made["description"] = about["description"]
    return {"type": "function", "function": made}


ANY: Final = "m"
# A pattern does not give a name that it matches, so well-known names are tried.
_KNOWN: Final = (
    *(ANY, "gpt-5", "gpt-4o", "claude-sonnet-4-5", "claude-opus-4-6", "claude-3-5-haiku"),
    *("o3", "o4-mini", "gemini-2.5-pro", "deepseek-reasoner", "deepseek/deepseek-reasoner"),
    *("deepseek-r1", "kimi-k2-thinking", "kimi-k3", "minimax-m2", "openrouter/minimax-m2"),
    *("glm-4.6", "qwen3", "gpt-oss-20b"),
)


def models_matching(profile: Profile, knob: str, *, matches: bool = True) -> Iterator[str]:
    """Known names that the pattern of a knob matches, or that it does not.

    None where the dialect has no such knob.
    """
    if knob not in profile.knobs:
        return
    fits = regex(profile.knobs[knob])
    yield from (name for name in _KNOWN if fits(name) is matches)
