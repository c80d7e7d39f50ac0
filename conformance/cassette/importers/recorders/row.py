"""One recorder of other people's tools, as data: where its files keep what.

A row is all that is known of a recorder. Users add rows of their own in `conformance.yaml`, with
the same keys.

Rule 1: a path is keys with dots, `response.status.code`, or places of a list, `log.entries.0`;
`a | b` takes the first that is there, `chunks[].b64` one value of each element of a list. An empty
path is the value itself.
Rule 2: a body is a map from path to coding (`coding.py`); the first path with a value counts.
Rule 3: a row recognises a file by what is in it: by `marks`, found in text that is no JSON, and by
`needs`, paths that an entry has. The name of a file only says which rows are tried.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

Form = Literal["values", "documents", "lines", "httprr", "txtar"]
Coded = Mapping[str, str]


class Recorder(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How files of one recorder are known and read; every path is one of an entry.

    `form` is how a file falls into entries: `values` of JSON or YAML that stand at `entries` (a
    list, or one alone, at the first path that is there; `requests, responses` are two lists side
    by side), `documents` of YAML, `lines` of JSON, `httprr` and `txtar` of Go. `server` is what
    stands before the `url`. `chunks` are the pieces of the body as they came, `payloads` the values
    of its events, whose framing is rebuilt, `messages` those of a WebSocket as Chrome keeps them.
    `codings_by` maps `path=value` to the coding that a body has where that value stands there;
    `elsewhere` leads to the name of a file that holds the body, `empty_is_lost` says that an empty
    body stands for one that was not kept.
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
    waited: str = ""
    failed: str = ""
    made_by: str = ""
    recorded_at: str = ""
    described: str = ""
    hint: str = "the recorder kept none"
    note: str = ""
