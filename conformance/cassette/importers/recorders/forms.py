"""How the file of a recorder falls into entries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from conformance.cassette.importers import ForeignFile
from conformance.cassette.importers.http_messages import header_pairs, read_head
from conformance.cassette.importers.recorders.entry import (
    Entry,
    first_line,
    keys_of,
    split_paths,
)
from conformance.cassette.importers.recorders.inspect_log import inspect_entries
from conformance.cassette.importers.recorders.row import Form, Recorder
from conformance.cassette.importers.yaml_tree import load_trees
from conformance.cassette.payloads import array_elements, part
from conformance.core.json_values import NOT_JSON, decode_json, value_at
from conformance.core.lines import BOM

_YAML: Final = (".yaml", ".yml")
_HTTPRR: Final = b"httprr trace v1\n"
_SIZES: Final = re.compile(rb"([0-9]{1,9}) ([0-9]{1,9})\n")
_SECTION: Final = re.compile(rb"(?m)^-- ([^\n]{1,200}) --\r?\n")
_MOST_SECTIONS: Final = 4096
_STREAMS: Final = (b"data:", b"event:")
_SEEN_AFTER: Final = re.compile(rb"\n\s*\n(?=\{\r?\n)")
_SNAPSHOT: Final = re.compile(rb"---\r?\n(?:(?!---)[^\n]*\n){1,64}---\r?\n")


def entries_of(file: ForeignFile, row: Recorder) -> Iterator[Entry]:
    """The entries; none where the file is not of that shape. Raises CassetteError."""
    return _FORMS[row.form](file, row)


def is_yaml(file: ForeignFile) -> bool:
    return file.name.endswith(_YAML)


def _value_entries(file: ForeignFile, row: Recorder) -> Iterator[Entry]:
    if is_yaml(file):
        yield from _yaml_entries(file.tree, row)
    else:
        yield from _json_entries(file, row)


def _yaml_entries(tree: Any, row: Recorder) -> Iterator[Entry]:
    is_paired = "," in row.entries
    found = _paired_entries(tree, row.entries) if is_paired else _first_at(tree, row.entries)
    for each in found if isinstance(found, list) else [found] if isinstance(found, dict) else ():
        yield Entry(each, first_line(each) or 1)


def _document_entries(file: ForeignFile, _row: Recorder) -> Iterator[Entry]:
    """Each document of YAML; for other files nothing."""
    if is_yaml(file):
        for each in load_trees(str(file.path), file.data):
            yield Entry(each, first_line(each) or 1)


def _json_entries(file: ForeignFile, row: Recorder) -> Iterator[Entry]:
    value, data = file.json, file.data.removeprefix(BOM)
    if "," in row.entries:
        yield from (Entry(each) for each in _paired_entries(value, row.entries))
        return
    keys = _first_path(value, row.entries)
    found = value_at(value, *keys)
    if isinstance(found, dict):
        placed = part(data, *keys)
        yield Entry(found, placed.line, placed.raw)
    elif isinstance(found, list):
        for placed, each in zip(array_elements(data, *keys), found, strict=True):
            yield Entry(each, placed.line, placed.raw)


def _first_path(value: Any, paths: str) -> tuple[str | int, ...]:
    """The keys of the first path at which there is something."""
    every = [keys_of(each) for each in split_paths(paths)]
    return next((keys for keys in every if value_at(value, *keys) is not None), every[-1])


def _first_at(value: Any, paths: str) -> Any:
    return value_at(value, *_first_path(value, paths))


def _paired_entries(value: Any, paths: str) -> list[Any]:
    """Two parallel lists as one list of entries; empty if they are not two lists."""
    request_part, answered = (value_at(value, *keys_of(each.strip())) for each in paths.split(","))
    if not (isinstance(request_part, list) and isinstance(answered, list)):
        return []
    pairs = zip(request_part, answered, strict=False)
    return [{"request": one, "response": other} for one, other in pairs]


def _line_entries(file: ForeignFile, _row: Recorder) -> Iterator[Entry]:
    """One value of JSON a line, until one is none."""
    for number, line in enumerate(file.data.removeprefix(BOM).split(b"\n"), 1):
        if not (text := line.strip()):
            continue
        value = decode_json(text.decode("utf-8", "replace"))
        if not isinstance(value, dict):
            return
        yield Entry(value, number, text)


def _httprr_entries(file: ForeignFile, _row: Recorder) -> Iterator[Entry]:
    """Requests and responses in HTTP/1 syntax, each pair after the sizes of both."""
    if not file.data.startswith(_HTTPRR):
        return
    data, at = file.data, len(_HTTPRR)
    line, before = 1, 0
    while at < len(data):
        sizes = _SIZES.match(data, at)
        if sizes is None:
            raise file.error("expected the sizes of a request and a response", line + 1)
        line, before = line + data.count(b"\n", before, at), at
        middle = sizes.end() + int(sizes[1])
        end = middle + int(sizes[2])
        if end > len(data):
            raise file.error("the file ends before the response does", line)
        yield _http_entry(data[sizes.end() : middle], data[middle:end], line + 1)
        at = end


def _http_entry(request_part: bytes, answered: bytes, line: int) -> Entry:
    top, _, body = request_part.replace(b"\r\n", b"\n").partition(b"\n\n")
    first, *rest = top.split(b"\n")
    method, _, target = first.decode("latin-1").partition(" ")
    request: dict[str, Any] = {
        "method": method,
        "url": target.rpartition(" ")[0],
        "headers": [list(pair) for pair in header_pairs(rest)],
        "body": body,
    }
    head = read_head(answered)
    if head is None:
        return Entry({"request": request}, line)
    response = {
        "status": head.response.status,
        "http": head.response.http,
        "headers": [list(pair) for pair in head.response.headers],
        "body": answered[head.size :],
    }
    lines = line + request_part.count(b"\n") + answered.count(b"\n", 0, head.size)
    return Entry({"request": request, "response": response}, lines, is_text=True)


def _txtar_entries(file: ForeignFile, _row: Recorder) -> Iterator[Entry]:
    """Each section that is not named as a request, with the request before it."""
    found = list(_SECTION.finditer(file.data))[:_MOST_SECTIONS]
    ends = [*(each.start() for each in found[1:]), len(file.data)]
    request_part: Any = None
    line, before = 1, 0
    for section, end in zip(found, ends, strict=True):
        line += file.data.count(b"\n", before, section.end())
        before = section.end()
        body = file.data[section.end() : end]
        if "request" in section[1].decode("utf-8", "replace").lower():
            value = decode_json(body.decode("utf-8", "replace"))
            request_part = None if value is NOT_JSON else value
            continue
        yield Entry(
            {"request": {"body": request_part}, "response": {"body": body}}, line, is_text=True
        )


def _insta_entries(file: ForeignFile, _row: Recorder) -> Iterator[Entry]:
    """The stream after the head of a snapshot; other values of a test are none."""
    head = _SNAPSHOT.match(file.data)
    if head is not None and file.data.startswith(_STREAMS, head.end()):
        body, line = _stream_alone(file.data[head.end() :]), head[0].count(b"\n") + 1
        yield Entry({"response": {"body": body}}, line, is_text=True)


def _stream_alone(text: bytes) -> bytes:
    """A stream without the object that a test wrote after it."""
    found = _SEEN_AFTER.search(text)
    if found is None or decode_json(text[found.end() :].decode("utf-8", "replace")) is NOT_JSON:
        return text
    return text[: found.start() + 1]


_FORMS: Final[Mapping[Form, Callable[[ForeignFile, Recorder], Iterator[Entry]]]] = {
    "values": _value_entries,
    "documents": _document_entries,
    "lines": _line_entries,
    "httprr": _httprr_entries,
    "txtar": _txtar_entries,
    "insta": _insta_entries,
    "inspect": inspect_entries,
}
