"""Token ids as text: what a model sampled, before it was made text.

A file of ids is a JSON array of whole numbers, or such arrays, one a line. Each id (or each line)
becomes one chunk of raw text, so characters and markers that were cut stay cut.

A tokenizer is a file: `tokenizer.json` of Hugging Face with a byte-level vocabulary, or a
`.tiktoken` file, which holds no special tokens: those come from the dialects, which know theirs.
Nothing is downloaded. Text that spells a marker is the marker from then on: both are the
same bytes.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Final

import msgspec

from conformance.cassette.header import Cassette, Header
from conformance.cassette.importers import ForeignFile
from conformance.core.errors import Place, UsageError
from conformance.core.events import Chunk, Exchange, Response
from conformance.dialects import SUPPORTED

HINT: Final = "these are token ids: conformance convert IDS OUT --tokenizer FILE makes text of them"
_IDS: Final = re.compile(rb"\s*\[\s*\d+\s*,\s*\d+\s*[,\]]")
_TIKTOKEN: Final = ".tiktoken"


class _StatedToken(msgspec.Struct):
    id: int
    content: str


class _Model(msgspec.Struct):
    vocab: dict[str, int]


class _Tokenizer(msgspec.Struct):
    """What a `tokenizer.json` says of its tokens; all else is skipped unread."""

    model: _Model
    added_tokens: list[_StatedToken] = []


def holds_token_ids(beginning: bytes) -> bool:
    """Whether a file that begins so is one of token ids."""
    return _IDS.match(beginning) is not None


def detokenized(source: Path, tokenizer: Path, *, dialect: str | None = None) -> Cassette:
    """The ids of a file as raw text. Raises CassetteError, or UsageError for the tokenizer."""
    file = ForeignFile(source, dialect)
    vocabulary = read_vocabulary(tokenizer)
    chunks = tuple(Chunk(_text_of(ids, vocabulary, file)) for ids in _read_ids(file))
    response = Response(headers=(("content-type", "text/plain; charset=utf-8"),))
    exchange = Exchange(response=response, chunks=chunks, dialect=dialect)
    header = Header(origin="imported", fidelity="bytes", dialect=dialect)
    return Cassette(header, (exchange,), notes=(f"text was made of token ids by {tokenizer.name}",))


def read_vocabulary(path: Path) -> Mapping[int, bytes]:
    """The bytes of every token. Raises UsageError for a file that is no tokenizer."""
    try:
        data = path.read_bytes()
        return _tiktoken_ids(data) if path.name.endswith(_TIKTOKEN) else _hugging_face(data)
    except OSError as err:
        raise UsageError(f"cannot be read: {err.strerror}", place=Place(str(path))) from err
    except (ValueError, LookupError, RecursionError) as err:
        hint = "expected tokenizer.json with a byte-level vocabulary, or a .tiktoken file"
        raise UsageError("is no such tokenizer", place=Place(str(path)), hint=hint) from err


def _tiktoken_ids(data: bytes) -> dict[int, bytes]:
    """Lines of a token in Base64 and its rank; special tokens are in none."""
    ranks = (line.split() for line in data.splitlines() if line.strip())
    known = {int(rank): base64.b64decode(token, validate=True) for token, rank in ranks}
    special = (dialect.special_tokens for dialect in SUPPORTED.values())
    return known | {n: text.encode() for each in special for n, text in each.items()}


def _hugging_face(data: bytes) -> dict[int, bytes]:
    stated = msgspec.json.decode(data, type=_Tokenizer)
    letters = _byte_letters()
    added = {each.id: each.content.encode() for each in stated.added_tokens}
    plain = (item for item in stated.model.vocab.items() if item[1] not in added)
    return {n: bytes(map(letters.__getitem__, token)) for token, n in plain} | added


def _byte_letters() -> dict[str, int]:
    """The letter that stands for each byte in a byte-level vocabulary: its own, if it is seen."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    unseen = [byte for byte in range(0x100) if byte not in set(printable)]
    letters = {chr(byte): byte for byte in printable}
    return letters | {chr(0x100 + n): byte for n, byte in enumerate(unseen)}


def _read_ids(file: ForeignFile) -> Iterator[list[int]]:
    """The ids of each chunk: of one array one id, else one line."""
    try:
        lines = [msgspec.json.decode(line) for line in file.data.splitlines() if line.strip()]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        lines = [file.json]
    every: list[Any] = lines if len(lines) > 1 else [[n] for n in chain.from_iterable(lines)]
    for number, ids in enumerate(every, 1):
        if not isinstance(ids, list) or not all(type(each) is int for each in ids):
            raise file.error("expected arrays of whole numbers", number if len(lines) > 1 else 1)
        yield ids


def _text_of(ids: list[int], vocabulary: Mapping[int, bytes], file: ForeignFile) -> bytes:
    unknown = next((each for each in ids if each not in vocabulary), None)
    if unknown is not None:
        raise file.error(f"the tokenizer knows no token {unknown}")
    return b"".join(map(vocabulary.__getitem__, ids))
