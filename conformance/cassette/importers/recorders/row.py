"""One recorder of other people's tools, as data: where its files keep what.

A row is all that is known of a recorder. Users add their own rows in `conformance.yaml`, with
the same keys.

Rule 1: a path is keys with dots, `response.status.code`, or indices of a list, `log.entries.0`;
`a | b` takes the first that exists, `chunks[].b64` one value of each element of a list. An empty
path is the value itself.
Rule 2: a body is a map from path to coding (`coding.py`); the first path with a value counts.
Rule 3: a row recognises a file by its content: by `marks`, found in text that is not JSON, and by
`needs`, paths that an entry has. The name of a file only selects the rows to try.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

Form = Literal["values", "documents", "lines", "httprr", "txtar", "insta", "inspect"]
Coded = Mapping[str, str]


class Recorder(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How files of one recorder are recognised and read; all paths are inside an entry.

    `form` is how a file is split into entries: `values` of JSON or YAML at `entries` (a list, or
    one value, at the first path that exists; `requests, responses` are two parallel lists),
    `documents` of YAML, `lines` of JSON, `httprr` and `txtar` of Go, `insta` of Rust, calls in a
    log of inspect_ai (`inspect`). `server` is the prefix of `url`. `chunks` are the pieces of the
    body as received, `payloads` the values of its events, whose framing is rebuilt, `messages`
    those of a WebSocket in Chrome's format, or two lists of values: the client's, the server's.
    `codings_by` maps `path=value` to the coding of a body in an entry with that value; `elsewhere`
    leads to the name of a file that holds the body; `empty_is_lost`: an empty body was not kept.
    `sent` is when the request went out (ISO 8601).
    """

    name: str
    says: str
    form: Form = "values"
    suffixes: tuple[str, ...] = (".json",)
    marks: tuple[str, ...] = ()
    expects: str = ""
    entries: str = ""
    needs: tuple[str, ...] = ()
    method: str = "request.method"
    url: str = "request.url | request.uri"
    server: str = ""
    asked_headers: str = "request.headers"
    asked: Coded = field(default_factory=lambda: {"request.body": "text"})
    status: str = "response.status.code | response.status"
    http: str = ""
    headers: str = "response.headers"
    mime: str = ""
    body: Coded = field(default_factory=dict)
    chunks: Coded = field(default_factory=dict)
    times: str = ""
    payloads: Coded = field(default_factory=dict)
    codings_by: Coded = field(default_factory=dict)
    messages: str = ""
    empty_is_lost: bool = False
    elsewhere: str = ""
    sent: str = ""
    waited: str = ""
    failed: str = ""
    made_by: str = ""
    recorded_at: str = ""
    described: str = ""
    hint: str = "the recorder kept none"
    note: str = ""
