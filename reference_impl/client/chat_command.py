"""`chat`: asks one question, shows the answer as it streams, runs the calculator for the model."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from . import calculator
from .apis import APIS, request
from .ask import Options, UnknownOption
from .defects import Defect
from .likeness import Likeness
from .record import Store, StoreError
from .screen import Screen
from .transport import Exchange, Server, Unreachable
from .turn import Answer, Called, Turn, result_turn, text_turn
from .wire import Api

COMPLETED: Final = 0
NO_ANSWER: Final = 1
USAGE: Final = 2
UNREACHABLE: Final = 3
# A model that calls the calculator for ever is left alone.
MOST_ROUNDS: Final = 8


@dataclass(frozen=True, slots=True)
class Talk:
    """The state of one run of the command."""

    server: Server
    options: Options
    model: str
    screen: Screen
    defect: Defect


def run(arguments: argparse.Namespace, defect: Defect, like: Likeness) -> int:
    """The exit code: 0 answered, 1 failed or cut, 2 usage, 3 no answer at all."""
    try:
        options = _chosen_options(arguments, like)
    except UnknownOption as fault:
        sys.stderr.write(f"error: {fault}\n")
        return USAGE
    name = arguments.api_key_env
    key = os.environ.get(name, "") if name else ""
    if name and not key:
        sys.stderr.write(f"error: the environment variable {name} is not set\n")
        return USAGE
    server = Server(
        arguments.api,
        _base_url(arguments.url, arguments.api),
        key=key,
        deadline=arguments.timeout,
        reading=options.reading(),
        tamper=defect.bytes,
    )
    talk = Talk(server, options, arguments.model, Screen(sys.stdout), defect)
    try:
        return asyncio.run(_talk_on(talk, arguments))
    except Unreachable as fault:
        return _fail_with(talk, str(fault), UNREACHABLE)
    except StoreError as fault:
        return _fail_with(talk, str(fault), USAGE)
    finally:
        talk.screen.end()


async def _talk_on(talk: Talk, arguments: argparse.Namespace) -> int:
    form = talk.options.like.stored
    store = Store(Path(arguments.store), form) if arguments.store else None
    earlier = _remembered_turns(store)
    begin = [text_turn("system", arguments.system)] if arguments.system and not earlier else []
    new = [*begin, text_turn("user", arguments.prompt)]
    for _ in range(MOST_ROUNDS):
        answer, turn = await _ask_once(talk, (*earlier, *new))
        new.append(turn)
        results = [_worked_out(call, talk.screen) for call in turn.calls]
        new.extend(results)
        if answer.how != "completed":
            return _fail_with(talk, _reason_of_failure(answer), NO_ANSWER)
        if not results:
            if answer.reason == "length":
                talk.screen.end()
                sys.stderr.write("the answer was cut by length\n")
            if store:
                store.append(new)
            return COMPLETED
    return _fail_with(talk, f"no answer after {MOST_ROUNDS} rounds of tool calls", NO_ANSWER)


def _remembered_turns(store: Store | None) -> Sequence[Turn]:
    if store is None:
        return ()
    stored = store.read()
    if stored.torn:
        lines = ", ".join(map(str, stored.torn))
        sys.stderr.write(f"lines without a turn are passed over: {lines}\n")
    return stored.turns


async def _ask_once(talk: Talk, turns: tuple[Turn, ...]) -> tuple[Answer, Turn]:
    ask = talk.defect.ask(talk.options.ask(talk.model, turns))
    exchange = Exchange(talk.server, talk.defect.request(request(talk.server.api, ask)))
    seen, reported, report = Answer(), Answer(), talk.defect.events()
    async for event in exchange.events():
        seen.take([event])
        for each in report(event):
            reported.take([each])
            talk.screen.show(each)
    return reported, seen.turn(exchange.echo)


def _worked_out(call: Called, screen: Screen) -> Turn:
    known = call.name == calculator.NAME
    text = calculator.calculate(call.arguments) if known else f"error: no tool {call.name!r}"
    screen.result(text)
    return result_turn(call.id, text)


def _reason_of_failure(answer: Answer) -> str:
    if answer.error is not None:
        code = answer.error.get("code")
        return f"the answer failed: {answer.error['message']}" + (f" ({code})" if code else "")
    return f"the answer broke off: {answer.cut or 'no end was told'}"


def _fail_with(talk: Talk, message: str, code: int) -> int:
    talk.screen.end()
    sys.stderr.write(f"error: {message}\n")
    return code


def _base_url(url: str, api: Api) -> str:
    """The base URL; one without a path gets the version of the API."""
    return url.rstrip("/") + ("" if urlsplit(url).path.strip("/") else APIS[api].base)


def _chosen_options(arguments: argparse.Namespace, like: Likeness) -> Options:
    """Return the chosen options. Raises UnknownOption for those that the client does not offer."""
    if arguments.api not in like.apis:
        raise UnknownOption(f"{like.name} does not speak {arguments.api}")
    if arguments.tools and not APIS[arguments.api].takes_tools:
        raise UnknownOption(f"{arguments.api} takes no tools")
    if arguments.history and not like.offers_history:
        raise UnknownOption(f"{like.name} has a history policy of its own")
    names = ("effort", "summary", "history", "include_thinking", "max_tokens")
    chosen = {name: getattr(arguments, name) for name in names}
    given = {name: value for name, value in chosen.items() if value is not None}
    tools = {"tools": [calculator.TOOL]} if arguments.tools else {}
    options = Options({**given, **tools}, like)
    options.ask(arguments.model, ())
    return options
