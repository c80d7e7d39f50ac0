"""The adapter's half of the harness protocol, for clients written in Python.

A client is one function: it asks `base_url` and yields the events that it saw. An exception is how
Python clients say that a stream failed, so it ends the case as `failed`; `Skip` says that the case
asks for what the client does not have.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import IO, Any

Event = dict[str, Any]
Client = Callable[[Mapping[str, Any]], Iterable[Event]]


class Skip(Exception):  # noqa: N818  # it is an answer, not a fault
    """The case asks for what this client does not have."""


class Failed(Exception):  # noqa: N818  # the client says so without an exception of its own
    """The client says that the stream failed."""


def serve(
    client: Client,
    *,
    package: str = "",
    release: str = "",
    name: str,
    dialects: Sequence[str],
    events: Sequence[str],
    features: Sequence[str] = (),
    reads_markers: bool = False,
) -> None:
    """Answers commands until `stop` or the end of input.

    The version is `release`, or that of the installed `package`. `reads_markers`: cases whose
    thinking stands between markers are not skipped.
    """
    about = {
        "name": name,
        "language": "python",
        "version": release or version(package),
        "dialects": list(dialects),
        "ops": ["stream"],
        "events": list(events),
        "features": list(features),
    }
    with _own_stdout() as out:
        for line in sys.stdin:
            command = json.loads(line)
            if command["cmd"] == "stop":
                return
            if command["cmd"] == "start":
                _write(out, {"version": 1, "implementation": about})
            elif command["cmd"] == "stream" and command.get("dialect") in dialects:
                _stream(client, command, out, reads_markers=reads_markers)
            else:
                _write(out, {"seq": command["seq"], "skipped": "unknown to this adapter"})


def _stream(
    client: Client, command: Mapping[str, Any], out: IO[str], *, reads_markers: bool
) -> None:
    seq = command["seq"]
    unread = {"include_thinking"} if reads_markers else {"include_thinking", "markers"}
    if unread & command["options"].keys():
        _write(out, {"seq": seq, "skipped": "it looks for no markers inside the text"})
        return
    try:
        for event in client(command):
            _write(out, {"seq": seq, "event": event})
    except Skip as reason:
        _write(out, {"seq": seq, "skipped": str(reason)})
        return
    except Exception as error:  # noqa: BLE001  # whatever a client raises is how it fails
        sys.stderr.write(f"{seq}: {type(error).__name__}: {str(error)[:300]}\n")
        _write(
            out,
            {"seq": seq, "end": {"how": "failed", "message": f"{type(error).__name__}: {error}"}},
        )
        return
    _write(out, {"seq": seq, "end": {"how": "completed"}})


@contextmanager
def _own_stdout() -> Iterator[IO[str]]:
    """The real stdout for answers alone: what a library prints goes to stderr."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8", newline="\n") as out:
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        yield out


def _write(out: IO[str], line: Mapping[str, Any]) -> None:
    out.write(json.dumps(line) + "\n")
    out.flush()


def question(command: Mapping[str, Any]) -> str:
    """The last thing that the user said, in words: the history is not what is tested here."""
    words = [each.get("content") for each in command["messages"] if each.get("role") == "user"]
    return next((each for each in reversed(words) if isinstance(each, str) and each), "Go on.")


def thinking(text: Any, channel: str = "raw", choice: int = 0) -> Iterator[Event]:
    """A delta of thinking, if there is any text."""
    if isinstance(text, str) and text:
        yield {"type": "thinking.delta", "channel": channel, "text": text, "choice": choice}


def spoken(text: Any, choice: int = 0) -> Iterator[Event]:
    """A delta of visible text, if there is any."""
    if isinstance(text, str) and text:
        yield {"type": "text.delta", "text": text, "choice": choice}


class Calls:
    """Tool calls put together from their fragments, as users of an SDK have to."""

    def __init__(self) -> None:
        self._calls: dict[tuple[int, int], dict[str, str]] = {}

    def add(self, choice: int, index: int, name: str | None, arguments: str | None) -> None:
        """One fragment of a call."""
        call = self._calls.setdefault((choice, index), {"name": "", "arguments": ""})
        call["name"] = call["name"] or name or ""
        call["arguments"] += arguments or ""

    def ended(self, choice: int) -> Iterator[Event]:
        """The calls of a choice that has finished."""
        for key in sorted(key for key in self._calls if key[0] == choice):
            call = self._calls.pop(key)
            call["arguments"] = call["arguments"] or "{}"
            yield {"type": "tool.end", "choice": choice, "index": key[1], **call}
