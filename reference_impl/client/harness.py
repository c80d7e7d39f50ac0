"""The client under test: JSON lines on stdin and stdout, one command after the other.

    start         version 1, what this client is, which events it reports
    stream        send the messages, report every event as it happens, then how it ended
    next_request  the request that would be sent, after the answer of an earlier stream or not
    extract       the events of a whole message
    restore       the events of what was stored
    store         what would be stored of a whole message
    stop          end

What is not known is skipped with the reason; a line that is no command is answered by `errored`.
Nothing else goes to stdout.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, TextIO
from urllib.parse import urlsplit

from . import extraction, record
from .apis import APIS, OF_DIALECT, Request, request
from .ask import Options, UnknownOption
from .defects import HONEST, Defect
from .event import Event
from .likeness import REFERENCE, Likeness
from .payload import count_of, decode, object_of, objects_of, text_of
from .reporting import reports
from .transport import Exchange, Server, Unreachable
from .turn import Answer, Turn, events_of
from .wire import Api

PROTOCOL: Final = 1
NAME: Final = "reference-client"
Op = Callable[[Mapping[str, Any]], dict[str, Any]]
FEATURES: Final = ("choices",)
DEADLINE_MS: Final = 60_000
# Answers of streams that a later command may go on from.
MOST_ANSWERS: Final = 256


class Skipped(Exception):  # noqa: N818  # it is an answer, not a fault
    """The command asks for something that this client does not have."""


class Harness:
    """Answers commands. `defect` is what is wrong with this client, `like` whom it is like."""

    def __init__(self, output: TextIO, defect: Defect = HONEST, like: Likeness = REFERENCE) -> None:
        self._output = output
        self._defect = defect
        self._like = like
        self._answers: dict[str, Turn] = {}
        ops: Mapping[str, Op] = {
            "stream": self._stream,
            "next_request": self._next_request,
            "extract": self._extract,
            "restore": self._restore,
            "store": self._store,
        }
        self._ops = {name: op for name, op in ops.items() if name in (like.ops or ops)}

    def serve(self, lines: Iterable[str]) -> None:
        """Answer every line until `stop` or the end of input."""
        for line in lines:
            if not line.strip():
                continue
            command = object_of(decode(line))
            if command.get("cmd") == "stop":
                return
            self._answer(command)

    def _answer(self, command: Mapping[str, Any]) -> None:
        cmd, seq = command.get("cmd"), command.get("seq")
        if cmd == "start":
            self._write(self._introduction(command))
            return
        op = self._ops.get(text_of(cmd))
        if op is None:
            self._write({"seq": seq, "skipped": f"unknown command {cmd!r}"})
            return
        try:
            self._write({"seq": seq, **op(command)})
        except (Skipped, UnknownOption) as reason:
            self._write({"seq": seq, "skipped": str(reason)})
        except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as fault:
            # A case that nobody foresaw must not end the run: the next ones are still good.
            error = {"type": type(fault).__name__, "message": str(fault)}
            self._write({"seq": seq, "errored": error})

    def _introduction(self, command: Mapping[str, Any]) -> dict[str, Any]:
        if command.get("version") != PROTOCOL:
            return {"errored": {"message": f"only version {PROTOCOL} is spoken"}}
        like = self._like
        about = {
            "name": NAME if like is REFERENCE else f"{NAME} like {like.name}",
            "language": "python",
            "version": _own_version(),
            "dialects": [APIS[api].dialect for api in like.apis],
            "ops": list(self._ops),
            "events": list(like.events),
            "features": list(FEATURES),
            "finish": "as-sent",
        }
        return {"version": PROTOCOL, "implementation": about}

    def _stream(self, command: Mapping[str, Any]) -> dict[str, Any]:
        api = self._api(command)
        options = self._options(command)
        deadline = count_of(command.get("deadline_ms")) or DEADLINE_MS
        server = Server(
            api,
            text_of(command.get("base_url")),
            deadline=deadline / 1000,
            reading=options.reading(),
            # Who tears characters apart reads text; messages of a binary stream have lengths.
            tamper=None if APIS[api].framing == "binary" else self._defect.bytes,
        )
        request = self._request(command, api, options)
        exchange = Exchange(server, request)
        seen, reported = Answer(), Answer()
        asyncio.run(self._report(exchange, command.get("seq"), seen, reported))
        self._remember(text_of(command.get("seq")), seen.turn(exchange.echo))
        return {"end": {"how": reported.how}}

    async def _report(self, exchange: Exchange, seq: Any, seen: Answer, reported: Answer) -> None:
        """Write one line per event, as it comes."""
        report = reports(self._like, self._defect)
        try:
            async for event in exchange.events():
                seen.take([event])
                self._write_events(seq, report(event), reported)
        except Unreachable as fault:
            event = Event("error", {"code": "unreachable", "message": str(fault)})
            self._write_events(seq, report(event), reported)

    def _write_events(self, seq: Any, events: Iterable[Event], reported: Answer) -> None:
        """Write those events that this client has; its end is known from all of them."""
        for event in events:
            reported.take([event])
            if event.type in self._like.events:
                self._write({"seq": seq, "event": event.plain()})

    def _remember(self, seq: str, turn: Turn) -> None:
        self._answers[seq] = turn
        while len(self._answers) > MOST_ANSWERS:
            del self._answers[next(iter(self._answers))]

    def _next_request(self, command: Mapping[str, Any]) -> dict[str, Any]:
        api = self._api(command)
        request = self._request(command, api, self._options(command))
        path = urlsplit(text_of(command.get("base_url"))).path.rstrip("/") or APIS[api].base
        headers = [[name, value] for name, value in request.headers.items()]
        return {
            "request": {
                "method": "POST",
                "path": path + request.path,
                "headers": [["content-type", "application/json"], *headers],
                "json": request.json,
            }
        }

    def _request(self, command: Mapping[str, Any], api: Api, options: Options) -> Request:
        turns = self._turns(command, api)
        ask = options.ask(text_of(command.get("model")), turns)
        return self._defect.request(request(api, self._defect.ask(ask)))

    def _turns(self, command: Mapping[str, Any], api: Api) -> tuple[Turn, ...]:
        """The history: `messages`, then the answer to the stream `after`, then what `adds`."""
        turns = extraction.turns_of(objects_of(command.get("messages")), api)
        after = text_of(command.get("after"))
        if after:
            if after not in self._answers:
                raise Skipped(f"no stream {after!r} to go on from")
            turns = (*turns, self._answers[after])
        return (*turns, *extraction.turns_of(objects_of(command.get("adds")), api))

    def _extract(self, command: Mapping[str, Any]) -> dict[str, Any]:
        api = self._api(command) if "dialect" in command else "chat"
        return self._reported(extraction.events_in(object_of(command.get("message")), api))

    def _restore(self, command: Mapping[str, Any]) -> dict[str, Any]:
        return self._reported(events_of(record.turn_of(object_of(command.get("stored")))))

    def _store(self, command: Mapping[str, Any]) -> dict[str, Any]:
        turn = extraction.turn_of(object_of(command.get("message")), "chat")
        return {"stored": self._defect.store(record.record_of(turn, self._like.stored))}

    def _reported(self, events: Iterable[Event]) -> dict[str, Any]:
        report = reports(self._like, self._defect)
        reported = (each for event in events for each in report(event))
        return {"events": [each.plain() for each in reported if each.type in self._like.events]}

    def _api(self, command: Mapping[str, Any]) -> Api:
        dialect = text_of(command.get("dialect"))
        api = OF_DIALECT.get(dialect)
        if api is None or api not in self._like.apis:
            raise Skipped(f"unknown dialect {dialect!r}")
        return api

    def _options(self, command: Mapping[str, Any]) -> Options:
        return Options(object_of(command.get("options")), self._like)

    def _write(self, line: Mapping[str, Any]) -> None:
        # ASCII: a lone surrogate in a text must not end the run.
        self._output.write(json.dumps(line) + "\n")
        self._output.flush()


def _own_version() -> str:
    try:
        return version("reasoning-conformance")
    except PackageNotFoundError:
        return "0"
