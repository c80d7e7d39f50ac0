"""Where the streams of one dialect hold what edits change: a value that each dialect fills in.

Two families of wires are distinguished. *Typed events* say by their type what they begin, carry or
end. *Chunks* have no type: each holds a piece of one message, and by what it holds one sees whether
it begins or finishes the message.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, field

from conformance.core.json_values import Path, put_at, text_at, value_at
from conformance.editing.piece import Piece, stated_type

TextKind = Literal["thinking", "text", "refusal", "arguments"]
Variation = Literal["comment", "empty delta", "ping", "split delta"]


class Delta(Struct, frozen=True):
    """One piece of text: `place` of its event, the `paths` that all hold it, what it adds to.

    Deltas of one `group` add to the same text. `choice` is the answer it belongs to, where a
    stream can hold several.
    """

    place: int
    paths: tuple[Path, ...]
    kind: TextKind
    group: tuple[Any, ...]
    text: str
    choice: Any = 0

    def payload(self, piece: Piece, text: str) -> Any:
        """The event's payload with another text in every place that holds this one."""
        payload = piece.payload
        for path in self.paths:
            payload = put_at(payload, path, text)
        return payload


DeltaReader = Callable[[int, Piece], Iterator[Delta]]
OwnerReader = Callable[[Sequence[Piece]], Callable[[Piece], tuple[TextKind, Any]]]


class ChunkLayout(Struct, frozen=True):
    """Chunks without a type. Paths begin at the payload.

    Every chunk has the list or object `holder`. `message` is the object with the role and the
    texts, `text` and `thinking` are its keys, the first one of `thinking` the one that is written.
    `finish` holds the finish reason, `usage` the token counts. Paths of `once`, below `message`,
    hold what is said once and opens something. `unfinished` gives the payload with another message
    that neither finishes nor counts. `free_empty_texts`: a text that says nothing may as well be
    null, empty or left out.
    """

    holder: Path
    message: Path
    finish: Path
    usage: Path
    text: str
    thinking: tuple[str, ...]
    unfinished: Callable[[Any, Mapping[str, Any]], Any]
    once: tuple[Path, ...] = (("role",),)
    free_empty_texts: bool = True


class StreamLayout(Struct, frozen=True):
    """What the neutral operators need to know of a dialect; what is left out, it does not have.

    `texts` maps the type of a delta to the texts that it may hold, each with its path; `text_type`
    is where the type is, if not that of its event. `deltas` reads those that no such table can
    tell, `owners` gives the kind and the choice of a delta, where only other events state them.
    `openings`, `starts`, `ends` and `terminals` are types of events; a terminal ends the
    response. `repeatable` are ends that may come twice. `text_ends` maps the type of a delta to the
    type of the event that ends its text, `text_keys` are dotted paths of what these two, and all
    deltas of one text, have in common; `restates`: such an event states the whole text, so that a
    lost or doubled delta shows.
    `type_of` says where a payload states its type, where that is not its key `type`.
    `named_events`: an `event:` line names the type. `event_ids`: whether an `id:` line is harmless.
    `refuses` names what is harmless elsewhere, and breaks clients here.
    `once` are paths of what an event with a delta may have besides and no second one has: it is
    neither sent twice nor left out with the delta.
    `unknown_event` is a type that the dialect leaves to vendors. `number` is the key of sequence
    numbers, `sentinel` the text after the last event.
    `error` makes the payload of an error event from message and code, `error_ends` says that a
    stream may end with it anywhere, `raised` is the type of the exception as which a binary message
    carries it; `reasoning_tokens` are paths of counts, `opaque` finds what is never displayed in a
    payload. `elements` maps wire events of list elements to where the first such element stands.
    """

    texts: Mapping[str, Mapping[TextKind, Path]] = field(default_factory=dict)
    text_type: Path = ()
    deltas: DeltaReader | None = None
    owners: OwnerReader | None = None
    type_of: Callable[[Any], str] = stated_type
    error: Callable[[str, str], Mapping[str, Any]] = lambda _message, _code: {}
    raised: str = ""
    openings: tuple[str, ...] = ()
    starts: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    terminals: tuple[str, ...] = ()
    repeatable: tuple[str, ...] = ()
    text_ends: Mapping[str, str] = field(default_factory=dict)
    text_keys: tuple[str, ...] = ()
    restates: bool = False
    named_events: bool = False
    event_ids: bool = True
    refuses: frozenset[Variation] = frozenset()
    once: tuple[Path, ...] = ()
    unknown_event: str = ""
    number: str = ""
    sentinel: str = ""
    error_ends: bool = True
    reasoning_tokens: tuple[Path, ...] = ()
    opaque: Callable[[Piece], str] = lambda _piece: ""
    elements: Mapping[str, Path] = field(default_factory=dict)
    chunk: ChunkLayout | None = None

    def find_deltas(self, place: int, piece: Piece) -> Iterator[Delta]:
        """The texts that one event holds."""
        if self.deltas is not None:
            yield from self.deltas(place, piece)
        payload, kind = piece.payload, piece.type
        if self.text_type:
            kind = text_at(payload, *self.text_type)
        for what, path in self.texts.get(kind, {}).items():
            if text := text_at(payload, *path):
                owner = (value_at(payload, *key.split(".")) for key in self.text_keys)
                yield Delta(place, (path,), what, (kind, what, *owner), text)
