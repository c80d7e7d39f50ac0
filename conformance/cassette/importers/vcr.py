"""Cassettes of vcrpy and its kin: interactions of a request and a response, bodies joined.

https://vcrpy.readthedocs.io: `interactions: [{request: {method, uri, headers, body}, response:
{status: {code, message}, headers, body: {string}}}]`. A body is text, `!!binary`, `base64_string`
or, from custom serialisers, `parsed_body`. Chunk boundaries and times were never there.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from conformance.cassette.header import Cassette, Header
from conformance.cassette.importers import MAX_IMPORT, ForeignFile, ImportedRecording, Importer
from conformance.cassette.importers.http_messages import server_of
from conformance.cassette.importers.yaml_tree import Scalar, load_tree, plain, tree_of
from conformance.cassette.positions import Layout
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.dialects import dialect_at

_ENCODINGS: Final = {"gzip": zlib.MAX_WBITS | 16, "x-gzip": zlib.MAX_WBITS | 16, "deflate": 15}
_INTERACTIONS: Final = re.compile(rb'(?m)^interactions:|"interactions"\s*:\s*\[')
_URI: Final = re.compile(rb"""\bur[il]["']?:\s*["']?([^\s"',}]{1,4096})""")
_GZIP_MAGIC: Final = b"\x1f\x8b"


def _names_interactions(file: ForeignFile) -> bool:
    """Whether there are interactions, and if they name an API, one that is judged."""
    if not _INTERACTIONS.search(file.head):
        return False
    uris = [each[1].decode("latin-1") for each in _URI.finditer(file.data)]
    return not uris or any(dialect_at(uri.partition("?")[0]) for uri in uris)


def _read_interactions(file: ForeignFile) -> ImportedRecording | None:
    """Every interaction, numbered from 1; vcrpy writes YAML or JSON. Raises CassetteError."""
    if file.name.endswith(".json"):
        value = file.json
        tree = tree_of(value) if isinstance(value, dict) and "interactions" in value else None
    else:
        tree = load_tree(str(file.path), file.data)
    found = tree.get("interactions") if isinstance(tree, dict) else None
    if not isinstance(found, list):
        return None
    if not found:
        raise file.error(f"expected {_EXPECTED}", line=1)
    header = Header(origin="imported", fidelity="text", dialect=file.dialect)
    read = [_interaction_of(file, number, each) for number, each in enumerate(found, 1)]
    exchanges, layouts = zip(*read, strict=True)
    notes = ("VCR keeps neither chunks nor times",)
    return ImportedRecording(Cassette(header, exchanges, notes=notes), layouts)


def _interaction_of(file: ForeignFile, number: int, tree: Any) -> tuple[Exchange, Layout]:
    """One exchange, and the line of the file on which its body begins."""
    line = _first_line(tree)
    if not isinstance(tree, dict) or not isinstance(tree.get("response"), dict):
        raise file.error(f"interaction {number} has no response", line)
    answer = tree["response"]
    headers = _header_pairs(answer.get("headers"))
    source = answer.get("body", answer.get("content"))
    try:
        body, response_headers = _without_coding(_body_bytes(answer, source), headers)
    except (ValueError, zlib.error) as err:
        message = f"the body of interaction {number} cannot be decoded: {err}"
        raise file.error(message, _first_line(source) or line) from err
    exchange = Exchange(
        number=number,
        request=_request_of(file, number, tree.get("request")),
        response=Response(_status_code(answer), "", response_headers),
        chunks=(Chunk(body),) if body else (),
        dialect=file.dialect,
    )
    return exchange, Layout(line or 1, (0,), (_first_line(source) or line or 1,))


def _request_of(file: ForeignFile, number: int, tree: Any) -> Request | None:
    if not isinstance(tree, dict):
        return None
    try:
        url = urlsplit(_scalar_text(tree.get("uri", tree.get("url"))))
    except ValueError as err:
        message = f"the uri of interaction {number} is none: {err}"
        raise file.error(message, _first_line(tree)) from err
    path = f"{url.path}?{url.query}" if url.query else url.path
    return Request(
        method=_scalar_text(tree.get("method")) or "POST",
        path=path,
        headers=_header_pairs(tree.get("headers")),
        json=_request_json(tree),
        server=server_of(url),
    )


def _request_json(request: Mapping[str, Any]) -> Any:
    if "parsed_body" in request:
        return plain(request["parsed_body"])
    try:
        return json.loads(_body_bytes(request, request.get("body")) or b"null")
    except (ValueError, RecursionError):
        return None  # not JSON: the value has no other place for a request's body


def _body_bytes(owner: Mapping[str, Any], tree: Any) -> bytes:
    if isinstance(tree, dict):
        if "base64_string" in tree:
            return base64.b64decode(_scalar_text(tree["base64_string"]), validate=True)
        tree = tree.get("string")
    value = tree.value if isinstance(tree, Scalar) else None
    if isinstance(value, bytes):
        return value
    if value is None and "parsed_body" in owner:
        return json.dumps(plain(owner["parsed_body"]), ensure_ascii=False).encode()
    return b"" if value is None else str(value).encode("utf-8", "surrogatepass")


def _without_coding(
    body: bytes, headers: tuple[tuple[str, str], ...]
) -> tuple[bytes, tuple[tuple[str, str], ...]]:
    """The body without content-encoding, and the headers that fit it.

    Some recorders keep the header over a body that they had decoded already.
    """
    coding = (Response(headers=headers).header("content-encoding") or "").strip().lower()
    if coding not in _ENCODINGS:
        return body, headers
    if coding == "deflate" or body.startswith(_GZIP_MAGIC):
        body = _inflate(body, _ENCODINGS[coding])
    dropped = ("content-encoding", "content-length")
    return body, tuple((k, v) for k, v in headers if k.lower() not in dropped)


def _inflate(body: bytes, wbits: int) -> bytes:
    inflater = zlib.decompressobj(wbits)
    inflated = inflater.decompress(body, MAX_IMPORT)
    if inflater.unconsumed_tail:
        raise ValueError(f"it inflates to more than {MAX_IMPORT:,} bytes")
    if not inflater.eof:
        raise ValueError("it is cut short")
    return inflated


def _header_pairs(tree: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(tree, dict):
        return ()
    return tuple(
        (name, _scalar_text(one)) for name, value in tree.items() for one in _values_of(value)
    )


def _values_of(value: Any) -> Iterable[Any]:
    return value if isinstance(value, list) else (value,)


def _status_code(answer: Mapping[str, Any]) -> int | None:
    status = answer.get("status", answer.get("status_code"))
    if isinstance(status, dict):
        status = status.get("code")
    value = status.value if isinstance(status, Scalar) else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _scalar_text(tree: Any) -> str:
    value = tree.value if isinstance(tree, Scalar) else None
    return "" if value is None else value.decode() if isinstance(value, bytes) else str(value)


def _first_line(tree: Any) -> int | None:
    """The line of the first scalar inside; trees are no deeper than the loader allows."""
    if isinstance(tree, Scalar):
        return tree.line
    children = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return next((line for child in children if (line := _first_line(child))), None)


_EXPECTED: Final = "a VCR cassette with `interactions`"
IMPORTER: Final = Importer(
    "vcr",
    (".yaml", ".yml", ".json"),
    _names_interactions,
    _read_interactions,
    _EXPECTED,
    says="a cassette of VCR (vcrpy and its kin)",
)
