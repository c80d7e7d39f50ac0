"""Streams as rows: `tests/authoring/streams/*.yaml`, in the words of each dialect's writer.

A file names its writers, modules beside this one, and what its streams share; a row is a stream:

    writers: [messages]
    dialect: anthropic.messages
    path: /v1/messages
    names: {BREAD: The dough has to rise twice.}
    requests:
      ask: {model: think-1, messages: [{role: user, content: $}], stream: true}
    streams:
      - name: anthropic/thinking-then-text
        asked: {ask: How long does it take?}
        answer: !answer
          blocks: [!thinking [0, $BREAD], !text [1, Four hours.]]
          usage: [15, 44, 27]

A tag is a function or class of a writer, or of `pieces`: a list holds its arguments, a mapping
names them (`of` holds those without a name), a text is the only one. `!Server.said` is a method,
given its object first. `!thinking*` puts what the function gives into the list around it.
`!json` is a whole body, `!plain` bytes as they stand, `!slice` a part of a list,
`!each` what is given for each member of a list (`of`), where that is `$EACH`. `$NAME` is one of
`names` or a constant of a writer, `$ASKED` the request itself, `$DONE` the mark of an end. `asked`
is a request, or one of `requests`: the prompt at its `$`, and beside it keys that are other or
more. `then` are the exchanges after the first.
All else is as in `Draft`; what the file states, every row states.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, reduce
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import yaml

from tests.authoring import pieces as common
from tests.authoring.draft import Draft
from tests.authoring.pieces import Fields

FOLDER: Final = Path(__file__).with_name("streams")
_OF_FILES: Final = ("writers", "names", "requests", "streams")
_OF_ROWS: Final = ("asked", "answer", "then")
_OF_EXCHANGES: Final = ("name", "dialect", "path", "scenario", "content_type")


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the writer and what it is given; `spread` puts its members around it."""

    name: str
    given: Any
    spread: bool


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which a tag is a call."""


def _tagged(loader: Any, tag: str, node: yaml.Node) -> Call:
    given: Any = [node.value]
    if isinstance(node, yaml.SequenceNode):
        given = loader.construct_sequence(node, deep=True)
    elif isinstance(node, yaml.MappingNode):
        given = loader.construct_mapping(node, deep=True)
    return Call(tag.removesuffix("*"), given, tag.endswith("*"))


_Loader.add_multi_constructor("!", _tagged)


@dataclass(frozen=True, slots=True)
class Table:
    """What the rows of one file can name."""

    calls: Mapping[str, Any]
    names: Mapping[str, Any]
    requests: Mapping[str, Any]

    def value(self, stated: Any) -> Any:
        """What is stated, with its names known and its calls made."""
        if isinstance(stated, Call):
            if stated.name == "each":
                return self._each(**stated.given)
            given = self.value(stated.given)
            call = reduce(
                getattr, stated.name.split(".")[1:], self.calls[stated.name.split(".")[0]]
            )
            if isinstance(given, list):
                return call(*given)
            return call(*given.pop("of", ()), **given)
        if isinstance(stated, str):
            named = stated.startswith("$") and stated[1:] in self.names
            return self.value(self.names[stated[1:]]) if named else stated
        if isinstance(stated, list):
            return [each for member in stated for each in self._members(member)]
        if isinstance(stated, dict):
            return {key: self.value(each) for key, each in stated.items()}
        return stated

    def asked(self, stated: str | Mapping[str, Any]) -> Fields:
        """A request, or one of `requests` with its prompt and other keys."""
        if isinstance(stated, Call):
            return dict(self.value(stated))
        if isinstance(stated, str):
            return dict(self.value(self.requests[stated]))
        name = next(iter(stated))
        if name not in self.requests:
            return dict(self.value(stated))
        named, *others = ((key, self.value(each)) for key, each in stated.items())
        return {**_filled(self.value(self.requests[name]), named[1]), **dict(others)}

    def _each(self, of: Any, gives: Any) -> list[Any]:
        """What is given for each member of a list, which is `$EACH` there."""
        names = ({**self.names, "EACH": one} for one in self.value(of))
        return [replace(self, names=each).value(gives) for each in names]

    def _members(self, stated: Any) -> Sequence[Any]:
        if isinstance(stated, Call) and stated.spread:
            return list(self.value(stated))
        return [self.value(stated)]


@cache
def drafts() -> tuple[Draft, ...]:
    """All streams, file by file in the order of the alphabet."""
    paths = sorted(FOLDER.glob("*.yaml"))
    return tuple(draft for path in paths for draft in read(path.read_text(encoding="utf-8")))


def read(text: str) -> Iterator[Draft]:
    """The streams of one file."""
    stated = yaml.load(text, _Loader)
    writers = [import_module(f"tests.authoring.{each}") for each in stated.get("writers", ())]
    calls: dict[str, Any] = {each.__name__.rpartition(".")[2]: each for each in writers}
    for module in (common, *writers):
        calls |= {name: each for name, each in vars(module).items() if callable(each)}
    calls |= {"plain": str.encode, "json": _body, "slice": _places}
    own = {name: each for one in writers for name, each in vars(one).items() if name.isupper()}
    names = {**own, "DONE": common.DONE, **stated.get("names", {})}
    table = Table(calls, names, stated.get("requests", {}))
    shared = {key: each for key, each in stated.items() if key not in _OF_FILES}
    return (_draft({**shared, **row}, table) for row in stated["streams"])


def _draft(row: Mapping[str, Any], table: Table) -> Draft:
    topic = row["name"]
    facts = {key: _tuples(table.value(each)) for key, each in row.items() if key not in _OF_ROWS}
    again = {key: row[key] for key in _OF_EXCHANGES if key in row}
    asked = table.asked(row["asked"]) if row.get("asked") else {}
    answer = replace(table, names={**table.names, "ASKED": asked}).value(row["answer"])
    facts = {"profile": "strict", "target": {"name": topic.partition("/")[0]}, **facts}
    own = {
        "name": f"{row['dialect']}/{topic}",
        "asked": asked,
        "pieces": tuple(answer),
        "then": tuple(_draft({**again, **each}, table) for each in row.get("then", ())),
    }
    return Draft(**{**facts, **own})


def _body(payload: Any) -> bytes:
    """A whole body of JSON."""
    return common.compact(payload).encode()


def _places(pieces: Sequence[Any], start: int, end: int | None = None) -> Sequence[Any]:
    return pieces[start:end]


def _filled(request: Any, prompt: Any) -> Any:
    """The request with the prompt in the place of its `$`."""
    if request == "$":
        return prompt
    if isinstance(request, list):
        return [_filled(each, prompt) for each in request]
    if isinstance(request, dict):
        return {key: _filled(each, prompt) for key, each in request.items()}
    return request


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
