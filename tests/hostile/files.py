"""The catalogue of hostile files: their names, what they hold, and what `check` and `lint` say."""

from __future__ import annotations

import bz2
import gzip
import json
import os
import zlib
from pathlib import Path
from typing import Final

from tests.hostile.answers import GOOD
from tests.hostile.hostile_file import (
    ASKED,
    END,
    FOLD,
    HEAD,
    OPEN,
    PROFILE,
    SUITE,
    VCR,
    WHOLE,
    HostileFile,
    built,
    cassette,
    deep_folders,
    line,
    link_to,
    loop_of_folders,
    of_size,
    rules,
    socket_at,
    sparse,
    zip_archive,
    zipped,
)

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
    HostileFile("bomb.cassette.jsonl.gz", built(lambda: zipped(OPEN, b" ", 300_000_000))),
    HostileFile("bomb.sse.gz", built(lambda: zipped(b"", b":\n", 200_000))),
    HostileFile("twice.sse.gz", built(lambda: gzip.compress(zipped(b"", b"\0", 90_000_000)))),
    HostileFile("bomb.json.gz", built(lambda: zipped(b"", b"[", 90_000_000))),
    HostileFile("bomb.sse.zst", b"\x28\xb5\x2f\xfd" + b"\0" * 99),
    HostileFile("bomb.zip", built(lambda: zip_archive(b"", 90_000_000))),
    HostileFile("zip.cassette.jsonl", zip_archive(WHOLE)),
    HostileFile("bzip.cassette.jsonl", bz2.compress(WHOLE)),
    HostileFile("deflate.cassette.jsonl", zlib.compress(WHOLE)),
    HostileFile("gzip.cassette.jsonl", gzip.compress(WHOLE), check=0, lint=0),
    HostileFile("torn.cassette.jsonl.gz", gzip.compress(WHOLE)[:60]),
    HostileFile("head.cassette.jsonl.gz", gzip.compress(WHOLE)[:5]),
    HostileFile(
        "damaged.cassette.jsonl.gz", gzip.compress(WHOLE).replace(b"\x00\x00", b"\xff\x01")
    ),
    HostileFile("trailing.cassette.jsonl.gz", gzip.compress(WHOLE) + b"more"),
    HostileFile("members.cassette.jsonl.gz", built(lambda: gzip.compress(b"") * 90_000)),
)
CASSETTES: Final = (
    HostileFile("long.cassette.jsonl", built(lambda: cassette(line(text="a" * 20_000_000)))),
    HostileFile("lines.cassette.jsonl", built(lambda: b"\n" * 5_000_000)),
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
    HostileFile(
        "requests.cassette.jsonl",
        HEAD + b'{"request":null}\n' * 1_000,
        check=0,
        lint=0,
        seconds=80,  # 23,000 cases for a client
    ),
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
    HostileFile("line.sse", built(lambda: b"data: " + b"a" * 9_000_000)),
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
    # Many verbs read all its values, each time: what they take grows with the number of them.
    HostileFile("array.json", built(lambda: b"[" + b"0," * 3_000_000 + b"0]"), seconds=100),
    HostileFile("lists.json", b"[" + b"[]," * 300_000 + b"[]]", seconds=100),
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
    HostileFile("deep.yaml", "[" * 90_000),
    HostileFile("deep-blocks.yaml", "".join(" " * n + "a:\n" for n in range(3000))),
    HostileFile("deep-vcr.yaml", "interactions: " + "[" * 90_000),
    HostileFile("python.yaml", "a: !!python/object/apply:os.system ['touch owned']\n"),
    HostileFile(
        "python-vcr.yaml", "interactions: [!!python/object/apply:os.system ['touch owned']]\n"
    ),
    HostileFile("keys.yaml", "".join(f"k{n}: {n}\n" for n in range(30_000))),
    HostileFile("key.yaml", f"{'k' * 500_000}: 1\n"),
    HostileFile("documents.yaml", "---\n{}\n" * 9_999),
    HostileFile("directive.yaml", "%YAML 9.9\n---\n{}\n"),
    HostileFile("tabs.yaml", "suite:\tx\n"),
    HostileFile("latin.yaml", b"suite: \xff\n"),
    HostileFile("utf16.yaml", SUITE.encode("utf-16")),
    HostileFile("binary.yaml", "interactions: [{response: {body: !!binary '?'}}]\n"),
    HostileFile("uri.yaml", VCR % "http://a[b/", sampled=True),
    HostileFile("uri-port.yaml", VCR % "http://a:99999999/x"),
    HostileFile("uri-escapes.yaml", VCR % "\\e[2J http://x/"),
    HostileFile("uri-file.yaml", VCR % "file:///etc/passwd"),
    HostileFile(
        "pattern.yaml",
        FOLD % ("a?" * 20_000 + "a" * 20_000),
        sampled=True,
        check=2,
        lint=0,
        suite=1,
    ),
    HostileFile("pattern-nested.yaml", FOLD % ("(" * 5000 + "a" + ")*" * 5000)),
    HostileFile("pattern-bounds.yaml", FOLD % "((a{1000}){1000}){1000}"),
    HostileFile("pattern-classes.yaml", FOLD % (r"\\p{L}{500}" * 99)),
    HostileFile("pattern-behind.yaml", FOLD % r"(?<=a)b"),
    HostileFile("grammar.yaml", SUITE + f"    grammar: '{'(' * 9000}done{')' * 9000}'\n"),
    HostileFile(
        "grammar-wide.yaml", SUITE + f"    grammar: '{'(done?) ' * 200}'\n", lint=0, suite=0
    ),
    HostileFile("grammar-bounds.yaml", SUITE + "    grammar: 'done{0,999999999}'\n"),
    HostileFile(
        "grammar-power.yaml",
        SUITE + "    grammar: '((done | text.delta)* done (done | text.delta){40})'\n",
        lint=0,
        suite=1,
    ),
    HostileFile(
        "schema.yaml", SUITE + "    each: {of: done, schema: {$ref: 'https://x.invalid/'}}\n"
    ),
    HostileFile(
        "schema-loop.yaml", SUITE + "    each: {of: done, schema: {$ref: '#'}}\n", lint=0, suite=0
    ),
    HostileFile(
        "schema-file.yaml", SUITE + "    each: {of: done, schema: {$ref: 'file:///etc/passwd'}}\n"
    ),
    HostileFile("rules.yaml", rules(1000), suite=1),
    HostileFile(
        "bound.yaml", SUITE + f"    fold: {{over: done, with: count, at_least: {'9' * 6000}}}\n"
    ),
    HostileFile(
        "escapes.yaml", SUITE.replace("It is so.", '"\\e[2J\\u202e"') + "    never: done\n", suite=1
    ),
    HostileFile("id.yaml", SUITE.replace("id: a", 'id: "\\e[2J"') + "    never: done\n"),
    HostileFile("dialect.yaml", "suite: x\ndialect: ../../x\nrules: []\n"),
    HostileFile("extends.yaml", PROFILE + "extends: own\n"),
    HostileFile("extends-path.yaml", PROFILE + "extends: ../../../etc/passwd\n"),
    HostileFile("knobs.yaml", PROFILE + 'knobs: {"\\e[2J": {value: 1}}\n'),
    HostileFile("scenario.yaml", "scenario: x\ntitle: x\nlet: {a: $b, b: $a}\nsteps: []\n"),
    HostileFile("scenario-like.yaml", "scenario: x\ntitle: x\nsteps: [{role: a, like: a}]\n"),
    HostileFile("baseline.yaml", "entries: [{rule: '*', reason: x}, 1]\n"),
    HostileFile("system.yaml", "system: x\nrequirements: {}\n"),
    HostileFile(
        "tokenizer.json", '{"added_tokens": [{"content": 5}, null], "model": {"vocab": []}}'
    ),
    HostileFile("templates.json", json.dumps({"chat_template": "{{ '%s' }}" % ("x" * 900_000)})),
)
FILES: Final = (*NAMES, *KINDS, *PACKED, *CASSETTES, *STREAMS, *DOCUMENTS)
