"""The catalogue of hostile files: their names, what they hold, and what `check` and `lint` say."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import os
import socket
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.hostile.answers import GOOD
from tests.hostile.limited import START_MB

Make = Callable[[Path], None]
HEAD: Final = b'{"cassette":"1.0","dialect":"openai.chat","profile":"strict"}\n'
ASKED: Final = b'{"request":{"method":"POST","path":"/v1/chat/completions"}}\n'
OPEN: Final = HEAD + ASKED + b'{"response":{"status":200}}\n'
END: Final = b'{"end":"eof"}\n'
WHOLE: Final = OPEN + json.dumps({"text": GOOD.decode()}).encode() + b"\n" + END
SUITE: Final = (
    "suite: own/x\nrules:\n  - id: a\n    level: MUST\n    says: It is so.\n"
    "    source: {breaks: a client}\n    since: 0.1.0\n"
)
FOLD: Final = SUITE + "    fold: {over: text.delta, take: text, matches: '%s'}\n"
PROFILE: Final = "profile: own\ndialect: openai.chat\n"
VCR: Final = (
    "interactions:\n- request: {method: POST, uri: '%s', body: '{}'}\n"
    "  response: {status: {code: 200}, headers: {}, body: {string: 'data: x'}}\n"
)


@dataclass(frozen=True, slots=True)
class HostileFile:
    """One file. `check` and `lint` are their exit codes, None where any documented one will do.

    `seconds` of processor time bound all verbs together, `megabytes` what the process may hold.
    """

    name: str
    content: bytes | str | Make
    check: int | None = 2
    lint: int | None = 2
    seconds: int = 40
    megabytes: int = START_MB + 440
    sampled: bool = False

    def write(self, folder: Path) -> Path:
        path = folder / self.name
        if callable(self.content):
            self.content(path)
        else:
            data = self.content
            path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path


def line(**fields: object) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def cassette(*lines: bytes) -> bytes:
    return OPEN + b"".join(lines) + END


def texted(data: bytes) -> bytes:
    """A cassette of one answer."""
    return cassette(line(text=data.decode("utf-8", "surrogatepass")))


def zipped_file(data: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.cassette.jsonl", data)
    return out.getvalue()


def socket_at(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        here = Path.cwd()
        os.chdir(path.parent)
        try:
            one.bind(path.name)
        finally:
            os.chdir(here)


def link_to(target: str) -> Make:
    return lambda path: path.symlink_to(target)


def sparse(size: int) -> Make:
    def make(path: Path) -> None:
        with path.open("wb") as file:
            file.truncate(size)

    return make


def loop_of_folders(path: Path) -> None:
    path.mkdir()
    (path / "again").symlink_to(path)


def deep_folders(path: Path) -> None:
    for _ in range(100):
        path = path / "d"
    path.mkdir(parents=True)


def of_size(path_count: int) -> Make:
    def make(path: Path) -> None:
        path.mkdir()
        for number in range(path_count):
            (path / f"{number}.cassette.jsonl").write_bytes(b"")

    return make


def rules(count: int) -> str:
    rule = SUITE.split("rules:\n")[1]
    each = (rule.replace("id: a", f"id: a{n}") + "    never: done\n" for n in range(count))
    return "suite: own/x\nrules:\n" + "".join(each)


NAMES: Final = (
    HostileFile("\x1b[2J\x1b]0;owned\x07.yaml", "a: [", sampled=True),
    HostileFile("\x1b[31m.cassette.jsonl", b"{"),
    HostileFile("\u202egpj.sse", b""),
    HostileFile("two\nlines.yaml", "a: ["),
    HostileFile("-o.cassette.jsonl", b"{"),
    HostileFile("a\rb.sse", GOOD, check=0, lint=0),
    HostileFile("%s%n{0}.yaml", "a: ["),
    HostileFile("'\"`$(id).yaml", "a: ["),
    HostileFile("<script>.cassette.jsonl", b"{"),
    HostileFile("\udcff\udcfe.sse", b""),
    HostileFile("a" * 240 + ".yaml", "a: ["),
    HostileFile(".cassette.jsonl", WHOLE, check=0, lint=0),
    HostileFile("a.CASSETTE.JSONL", WHOLE, check=0, lint=0),
    HostileFile("a.cassette.jsonl.gz.gz", gzip.compress(gzip.compress(WHOLE))),
)
KINDS: Final = (
    HostileFile("fifo.cassette.jsonl", os.mkfifo, sampled=True),
    HostileFile("fifo.yaml", os.mkfifo),
    HostileFile("fifo.sse", os.mkfifo),
    HostileFile("fifo.cassette.jsonl.gz", os.mkfifo),
    HostileFile("fifo", os.mkfifo),
    HostileFile("socket.sse", socket_at),
    HostileFile("zero.sse", link_to("/dev/zero")),
    HostileFile("zero.yaml", link_to("/dev/zero")),
    HostileFile("zero.cassette.jsonl.gz", link_to("/dev/zero")),
    HostileFile("random.cassette.jsonl", link_to("/dev/urandom")),
    HostileFile("null.sse", link_to("/dev/null")),
    HostileFile("terminal.sse", link_to("/dev/tty")),
    HostileFile("nowhere.sse", link_to("nowhere")),
    HostileFile("nowhere.yaml", link_to("nowhere")),
    HostileFile("itself.sse", link_to("itself.sse")),
    HostileFile("passwd.sse", link_to("/etc/passwd")),
    HostileFile("memory.sse", link_to("/proc/self/mem")),
    HostileFile("folder.cassette.jsonl", Path.mkdir, check=5, lint=2),
    HostileFile("folder.yaml", Path.mkdir, check=5, lint=2),
    HostileFile("loop", loop_of_folders, check=5, lint=2),
    HostileFile("deep", deep_folders, check=5, lint=2),
    HostileFile("many", of_size(2000)),
    HostileFile("terabyte.sse", sparse(1 << 40)),
    HostileFile("terabyte.yaml", sparse(1 << 40)),
    HostileFile("terabyte.cassette.jsonl", sparse(1 << 40)),
    HostileFile("terabyte.json", sparse(1 << 40)),
    HostileFile("terabyte.jsonl", sparse(1 << 40)),
    HostileFile("nothing", b""),
    HostileFile("nothing.sse", b""),
    HostileFile("nothing.cassette.jsonl", b""),
    HostileFile("nothing.yaml", b""),
    HostileFile("nothing.json", b""),
    HostileFile("nothing.cassette.jsonl.gz", b""),
    HostileFile("zeros.cassette.jsonl", b"\0" * 100_000),
    HostileFile("zeros.sse", b"\0" * 100_000),
    HostileFile("zeros.yaml", b"\0" * 100_000),
    HostileFile("program.sse", b"\x7fELF" + bytes(range(256)) * 40),
)
PACKED: Final = (
    HostileFile("bomb.cassette.jsonl.gz", gzip.compress(OPEN + b" " * 300_000_000)),
    HostileFile("bomb.sse.gz", gzip.compress(b":\n" * 200_000)),
    HostileFile("twice.sse.gz", gzip.compress(gzip.compress(b"\0" * 90_000_000))),
    HostileFile("bomb.json.gz", gzip.compress(b"[" * 90_000_000)),
    HostileFile("bomb.sse.zst", b"\x28\xb5\x2f\xfd" + b"\0" * 99),
    HostileFile("bomb.zip", zipped_file(b"\0" * 90_000_000)),
    HostileFile("zip.cassette.jsonl", zipped_file(WHOLE)),
    HostileFile("bzip.cassette.jsonl", bz2.compress(WHOLE)),
    HostileFile("deflate.cassette.jsonl", zlib.compress(WHOLE)),
    HostileFile("gzip.cassette.jsonl", gzip.compress(WHOLE)),
    HostileFile("torn.cassette.jsonl.gz", gzip.compress(WHOLE)[:60]),
    HostileFile("head.cassette.jsonl.gz", gzip.compress(WHOLE)[:5]),
    HostileFile(
        "damaged.cassette.jsonl.gz", gzip.compress(WHOLE).replace(b"\x00\x00", b"\xff\x01")
    ),
    HostileFile("trailing.cassette.jsonl.gz", gzip.compress(WHOLE) + b"more"),
    HostileFile("members.cassette.jsonl.gz", gzip.compress(b"") * 90_000),
)
CASSETTES: Final = (
    HostileFile("long.cassette.jsonl", cassette(line(text="a" * 20_000_000))),
    HostileFile("lines.cassette.jsonl", b"\n" * 5_000_000),
    HostileFile("blank.cassette.jsonl", OPEN + b" \n" * 400_000 + END, check=1, lint=0),
    HostileFile("deep.cassette.jsonl", HEAD + b'{"request":{"json":' + b"[" * 90_000 + b"\n"),
    HostileFile("deep-seen.cassette.jsonl", WHOLE + b'{"seen":[' + b'{"a":' * 90_000 + b"\n"),
    HostileFile("number.cassette.jsonl", OPEN + b'{"ms":' + b"9" * 90_000 + b',"text":"x"}\n'),
    HostileFile("clock.cassette.jsonl", OPEN + b'{"ms":1e308,"text":"x"}\n' + END),
    HostileFile("past.cassette.jsonl", OPEN + b'{"ms":-5,"text":"x"}\n' + END),
    HostileFile("exchange.cassette.jsonl", OPEN + b'{"text":"x","exchange":99999999999}\n'),
    HostileFile(
        "status.cassette.jsonl",
        HEAD + ASKED + b'{"response":{"status":1' + b"0" * 99 + b"}}\n",
        check=0,
        lint=0,
    ),
    HostileFile("version.cassette.jsonl", b'{"cassette":"' + b"9" * 90_000 + b'.0"}\n'),
    HostileFile("surrogate.cassette.jsonl", cassette(b'{"text":"\\ud800"}\n')),
    HostileFile("utf8.cassette.jsonl", OPEN + b'{"text":"\xc3"}\n' + END),
    HostileFile("hex.cassette.jsonl", cassette(b'{"hex":"abc"}\n')),
    HostileFile("torn.cassette.jsonl", WHOLE[:-30], check=0, lint=0),
    HostileFile("torn-character.cassette.jsonl", OPEN + b'{"text":"\xe2\x82', check=0, lint=0),
    HostileFile("twins.cassette.jsonl", OPEN + b'{"text":"a","text":"b","hex":"00"}\n' + END),
    HostileFile("kinds.cassette.jsonl", OPEN + b'{"text":"a","end":"eof"}\n'),
    HostileFile("unknown.cassette.jsonl", WHOLE + b'{"frob":1}\n' * 50_000, check=0, lint=0),
    HostileFile("seal.cassette.jsonl", OPEN + b'{"end":"eof","bytes":5,"sha256":"x"}\n'),
    HostileFile("requests.cassette.jsonl", HEAD + b'{"request":null}\n' * 1_000, check=0, lint=0),
    HostileFile("escapes.cassette.jsonl", WHOLE.replace(b'"strict"', b'"\\u001b[2J"')),
    HostileFile("path.cassette.jsonl", WHOLE.replace(b'"strict"', b'"../../../etc/passwd"')),
    HostileFile("dialect.cassette.jsonl", WHOLE.replace(b'"openai.chat"', b'"\\u001b[2J"')),
    HostileFile("header.cassette.jsonl", b'{"cassette":"1.0","run":' + b"{}" * 90_000 + b"}\n"),
    HostileFile(
        "excused.cassette.jsonl",
        WHOLE.replace(b'"profile"', b'"run":{"excused":"x","steps":[1]},"profile"'),
        check=0,
        lint=0,
    ),
    HostileFile(
        "keys.cassette.jsonl", HEAD[:-2] + b"".join(b',"k%d":1' % n for n in range(90_000)) + b"}\n"
    ),
    HostileFile(
        "after.cassette.jsonl",
        WHOLE.replace(b'{"request"', b'{"after":1,"request"'),
        check=0,
        lint=2,
    ),
    HostileFile(
        "scenario.cassette.jsonl",
        WHOLE.replace(b'{"request"', b'{"scenario":"../x","role":"\\u001b","request"'),
        check=0,
        lint=0,
    ),
    HostileFile("bom.cassette.jsonl", b"\xef\xbb\xbf" + WHOLE),
    HostileFile("crlf.cassette.jsonl", WHOLE.replace(b"\n", b"\r\n"), check=0, lint=0),
    HostileFile("utf16.cassette.jsonl", WHOLE.decode().encode("utf-16")),
)
STREAMS: Final = (
    HostileFile("line.sse", b"data: " + b"a" * 9_000_000),
    HostileFile("comments.sse", b":\n" * 200_000),
    HostileFile("events.sse", b"data:\n\n" * 100_000),
    HostileFile("deep.sse", b"data: " + b"[" * 200_000 + b"\n\n"),
    HostileFile("digits.sse", b"data: " + b"9" * 200_000 + b"\n\n"),
    HostileFile("utf8.sse", b"data: \xff\xfe\xc3\n\n" * 999),
    HostileFile("torn.sse", GOOD[:-20] + b"\xe2\x82", check=1, lint=2),
    HostileFile("utf16.sse", GOOD.decode().encode("utf-16")),
    HostileFile("escapes.sse", GOOD.replace(b'"x"', b'"\\u001b[2J\\u202e"'), check=0, lint=0),
    HostileFile(
        "raw-escapes.sse", b"event: \x1b[2J\n" + GOOD + b": \x1b]0;x\x07\n", check=0, lint=0
    ),
    HostileFile("prose.jsonl", b"This is no JSON.\n" * 99),
    HostileFile("values.jsonl", b"1\n[]\nnull\n" * 9_999),
    HostileFile("array.json", b"[" + b"0," * 3_000_000 + b"0]"),
    HostileFile("lists.json", b"[" + b"[]," * 300_000 + b"[]]"),
    HostileFile("deep.json", b"[" * 900_000),
    HostileFile("digits.json", b"9" * 900_000),
    HostileFile("number.json", b'{"a":1e99999}'),
    HostileFile("nan.json", b'{"choices":NaN}'),
    HostileFile("twins.json", b'{"a":1,' * 20_000 + b'"a":2' + b"}" * 20_000),
    HostileFile(
        "escapes.ndjson", b'{"model":"\\u001b[2J","message":{},"done":true}\n', check=1, lint=0
    ),
)
DOCUMENTS: Final = (
    HostileFile(
        "laughs.yaml", "a: &a [x]\n" + "".join(f"b{n}: &b{n} [*a, *a]\n" for n in range(99))
    ),
    HostileFile("laughs-vcr.yaml", "interactions: &a [1]\nb: [*a, *a]\n"),
    HostileFile("deep.yaml", "[" * 90_000, check=None, lint=None),
    HostileFile(
        "deep-blocks.yaml", "".join(" " * n + "a:\n" for n in range(3000)), check=None, lint=None
    ),
    HostileFile("deep-vcr.yaml", "interactions: " + "[" * 90_000, check=None, lint=None),
    HostileFile(
        "python.yaml", "a: !!python/object/apply:os.system ['touch owned']\n", check=None, lint=None
    ),
    HostileFile(
        "python-vcr.yaml",
        "interactions: [!!python/object/apply:os.system ['touch owned']]\n",
        check=None,
        lint=None,
    ),
    HostileFile("keys.yaml", "".join(f"k{n}: {n}\n" for n in range(30_000)), check=None, lint=None),
    HostileFile("key.yaml", f"{'k' * 500_000}: 1\n", check=None, lint=None),
    HostileFile("documents.yaml", "---\n{}\n" * 9_999, check=None, lint=None),
    HostileFile("directive.yaml", "%YAML 9.9\n---\n{}\n", check=None, lint=None),
    HostileFile("tabs.yaml", "suite:\tx\n", check=None, lint=None),
    HostileFile("latin.yaml", b"suite: \xff\n", check=None, lint=None),
    HostileFile("utf16.yaml", SUITE.encode("utf-16")),
    HostileFile(
        "binary.yaml", "interactions: [{response: {body: !!binary '?'}}]\n", check=None, lint=None
    ),
    HostileFile("uri.yaml", VCR % "http://a[b/", sampled=True),
    HostileFile("uri-port.yaml", VCR % "http://a:99999999/x"),
    HostileFile("uri-escapes.yaml", VCR % "\\e[2J http://x/"),
    HostileFile("uri-file.yaml", VCR % "file:///etc/passwd"),
    HostileFile(
        "pattern.yaml", FOLD % ("a?" * 20_000 + "a" * 20_000), sampled=True, check=2, lint=0
    ),
    HostileFile("pattern-nested.yaml", FOLD % ("(" * 5000 + "a" + ")*" * 5000)),
    HostileFile("pattern-bounds.yaml", FOLD % "((a{1000}){1000}){1000}"),
    HostileFile("pattern-classes.yaml", FOLD % (r"\\p{L}{500}" * 99)),
    HostileFile("pattern-behind.yaml", FOLD % r"(?<=a)b"),
    HostileFile("grammar.yaml", SUITE + f"    grammar: '{'(' * 9000}done{')' * 9000}'\n"),
    HostileFile(
        "grammar-wide.yaml", SUITE + f"    grammar: '{'(done?) ' * 200}'\n", check=None, lint=None
    ),
    HostileFile("grammar-bounds.yaml", SUITE + "    grammar: 'done{0,999999999}'\n"),
    HostileFile(
        "grammar-power.yaml",
        SUITE + "    grammar: '((done | text.delta)* done (done | text.delta){40})'\n",
        check=None,
        lint=None,
    ),
    HostileFile(
        "schema.yaml",
        SUITE + "    each: {of: done, schema: {$ref: 'https://x.invalid/'}}\n",
        check=None,
        lint=None,
    ),
    HostileFile(
        "schema-loop.yaml",
        SUITE + "    each: {of: done, schema: {$ref: '#'}}\n",
        check=None,
        lint=None,
    ),
    HostileFile(
        "schema-file.yaml",
        SUITE + "    each: {of: done, schema: {$ref: 'file:///etc/passwd'}}\n",
        check=None,
        lint=None,
    ),
    HostileFile("rules.yaml", rules(1000), check=None, lint=None),
    HostileFile(
        "bound.yaml",
        SUITE + f"    fold: {{over: done, with: count, at_least: {'9' * 6000}}}\n",
        check=None,
        lint=None,
    ),
    HostileFile(
        "escapes.yaml",
        SUITE.replace("It is so.", '"\\e[2J\\u202e"') + "    never: done\n",
        check=None,
        lint=None,
    ),
    HostileFile(
        "id.yaml",
        SUITE.replace("id: a", 'id: "\\e[2J"') + "    never: done\n",
        check=None,
        lint=None,
    ),
    HostileFile("dialect.yaml", "suite: x\ndialect: ../../x\nrules: []\n", check=None, lint=None),
    HostileFile("extends.yaml", PROFILE + "extends: own\n", check=None, lint=None),
    HostileFile(
        "extends-path.yaml", PROFILE + "extends: ../../../etc/passwd\n", check=None, lint=None
    ),
    HostileFile("knobs.yaml", PROFILE + 'knobs: {"\\e[2J": {value: 1}}\n', check=None, lint=None),
    HostileFile(
        "scenario.yaml",
        "scenario: x\ntitle: x\nlet: {a: $b, b: $a}\nsteps: []\n",
        check=None,
        lint=None,
    ),
    HostileFile(
        "scenario-like.yaml",
        "scenario: x\ntitle: x\nsteps: [{role: a, like: a}]\n",
        check=None,
        lint=None,
    ),
    HostileFile("baseline.yaml", "entries: [{rule: '*', reason: x}, 1]\n", check=None, lint=None),
    HostileFile("system.yaml", "system: x\nrequirements: {}\n", check=None, lint=None),
    HostileFile(
        "tokenizer.json",
        '{"added_tokens": [{"content": 5}, null], "model": {"vocab": []}}',
        check=None,
        lint=None,
    ),
    HostileFile(
        "templates.json",
        json.dumps({"chat_template": "{{ '%s' }}" % ("x" * 900_000)}),
        check=None,
        lint=None,
    ),
)
FILES: Final = (*NAMES, *KINDS, *PACKED, *CASSETTES, *STREAMS, *DOCUMENTS)
