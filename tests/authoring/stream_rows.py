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
names them (`of` holds those without a name), a text is the only one. `!Server.delta` is a method,
given its object first. `!thinking*` puts what the function gives into the list around it.
`!json` is a whole body, `!plain` bytes as they stand, `!slice` a part of a list,
`!each` what is given for each member of a list (`of`), where that is `$EACH`. `$NAME` is one of
`names` or a constant of a writer, `$ASKED` the request itself, `$DONE` the mark of an end. `asked`
is a request, or one of `requests`: the prompt at its `$`, and beside it keys that are other or
more. `edited` are edits of the answer (`edit_rows`), `then` the exchanges after the first, and
`upstream` the provider's answers after that of an application: names of streams, streams, or
edits of one. A row is made once for each of the names in `for`. `$NAME*` puts the members of a list
into the list around it.
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

from tests.authoring import edit_rows
from tests.authoring import pieces as common
from tests.authoring.draft import Draft
from tests.authoring.pieces import Fields, Piece

FOLDER: Final = Path(__file__).with_name("streams")
_OF_FILES: Final = ("writers", "names", "requests", "streams")
_OF_ROWS: Final = ("asked", "answer", "edited", "for", "then", "upstream")
_OF_EXCHANGES: Final = ("name", "dialect", "path", "scenario", "content_type")


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the writer and what it is given; `spread` puts its members around it."""

    name: str
    given: Any
    spread: bool


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML in which a tag is a call."""


def tagged(loader: Any, tag: str, node: yaml.Node) -> Call:
    """The call that a tag states."""
    given: Any = [node.value]
    if isinstance(node, yaml.SequenceNode):
        given = loader.construct_sequence(node, deep=True)
    elif isinstance(node, yaml.MappingNode):
        given = loader.construct_mapping(node, deep=True)
    return Call(tag.removesuffix("*"), given, tag.endswith("*"))


_Loader.add_multi_constructor("!", tagged)


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
        if isinstance(stated, str) and stated.startswith("$") and stated.endswith("*"):
            return list(self.value(stated[:-1]))
        return [self.value(stated)]


@cache
def drafts() -> tuple[Draft, ...]:
    """All streams, file by file in the order of the alphabet; first those of one hop."""
    files = [_loaded(path.read_text(encoding="utf-8")) for path in sorted(FOLDER.glob("*.yaml"))]
    streams = tuple(each for stated in files for each in _read(stated, providers={}))
    providers = {each.name: each for each in streams}
    return (*streams, *(each for stated in files for each in _read(stated, providers=providers)))


def read(text: str) -> Iterator[Draft]:
    """The streams of one file, without those that need another stream after them."""
    return _read(_loaded(text), providers={})


def _loaded(text: str) -> Mapping[str, Any]:
    stated: Mapping[str, Any] = yaml.load(text, _Loader)
    return stated


def _read(stated: Mapping[str, Any], providers: Mapping[str, Draft]) -> Iterator[Draft]:
    table = table_of(stated)
    shared = {key: each for key, each in stated.items() if key not in _OF_FILES}
    for row in stated["streams"]:
        if ("upstream" in row) is not bool(providers):
            continue
        for names in row.get("for", ({},)):
            known = replace(table, names={**table.names, **names})
            draft = _draft({**shared, **row}, known)
            yield _with_both_hops(draft, row["upstream"], providers, known) if providers else draft


def table_of(stated: Mapping[str, Any]) -> Table:
    """What the rows of a file can name: its writers, and what it names itself."""
    writers = [import_module(f"tests.authoring.{each}") for each in stated.get("writers", ())]
    calls: dict[str, Any] = {each.__name__.rpartition(".")[2]: each for each in writers}
    for module in (common, *writers):
        calls |= {name: each for name, each in vars(module).items() if callable(each)}
    calls |= {
        "plain": str.encode,
        "latin": _latin,
        "json": _body,
        "slice": _places,
        "joined": _joined,
    }
    calls |= {"with": _with}
    own = {name: each for one in writers for name, each in vars(one).items() if name.isupper()}
    names = {**own, "DONE": common.DONE, **stated.get("names", {})}
    return Table(calls, names, stated.get("requests", {}))


def _with_both_hops(
    shown: Draft, upstream: Any, providers: Mapping[str, Draft], table: Table
) -> Draft:
    """The application's draft with its provider's after it, each call after the one before."""
    calls = []
    for each in upstream:
        if isinstance(each, str):
            calls += [providers[each], *providers[each].then]
        elif "of" in each:
            base = providers[each["of"]]
            edited = _edited(base.pieces, each["edited"])
            calls.append(replace(base, pieces=edited, end=each["end"]))
        else:
            calls.append(_draft(each, table))
    facts: Fields = {"hop": "upstream", "scenario": "", "role": "", "then": ()}
    numbered = enumerate(calls, 1)
    then = tuple(replace(each, after=n if n > 1 else None, **facts) for n, each in numbered)
    return replace(shown, hop="app", then=then)


def _edited(pieces: Sequence[Piece], edits: Any) -> tuple[Piece, ...]:
    for step in edit_rows.steps(edits, {}):
        pieces = step(pieces)
    return tuple(pieces)


def _draft(row: Mapping[str, Any], table: Table) -> Draft:
    topic = table.value(row["name"])
    facts = {key: _tuples(table.value(each)) for key, each in row.items() if key not in _OF_ROWS}
    again = {key: row[key] for key in _OF_EXCHANGES if key in row}
    asked = table.asked(row["asked"]) if row.get("asked") else {}
    answer = replace(table, names={**table.names, "ASKED": asked}).value(row["answer"])
    facts = {"profile": "strict", "target": {"name": topic.partition("/")[0]}, **facts}
    own = {
        "name": f"{row['dialect']}/{topic}",
        "asked": asked,
        "pieces": _edited(answer, table.value(row.get("edited", []))),
        "then": tuple(_draft({**again, **each}, table) for each in row.get("then", ())),
    }
    return Draft(**{**facts, **own})


def _body(payload: Any) -> bytes:
    """A whole body of JSON."""
    return common.compact(payload).encode()


def _latin(text: str) -> bytes:
    """Bytes that are no text in UTF-8."""
    return text.encode("latin-1")


def _joined(*texts: str) -> str:
    return "".join(texts)


def _with(fields: Mapping[str, Any], more: Mapping[str, Any]) -> Fields:
    return {**fields, **more}


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
