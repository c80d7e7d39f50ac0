"""What comes from outside may be broken: one clear line, the right code, and nothing half done."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from conformance.cli import main

CHUNK: Final = '{"object":"chat.completion.chunk","id":"c","created":1,"model":"m","choices":[]}'
SSE: Final = f"data: {CHUNK}\n\ndata: [DONE]\n\n"
HEAD: Final = '{"cassette":"1.0","dialect":"openai.chat","profile":"strict"}\n'
OPEN: Final = HEAD + '{"request":null}\n{"response":null}\n'
GOOD: Final = OPEN + json.dumps({"text": SSE}) + '\n{"end":"eof"}\n'
SUITE: Final = """\
suite: own/x
rules:
  - id: a
    level: MUST
    says: It is so.
    source: {breaks: a client}
    since: 0.1.0
"""
PROFILE: Final = "profile: own\ndialect: openai.chat\n"
DEEP: Final = "[" * 100_000 + "]" * 100_000
RULE: Final = ["--rule", "wire/sse/data-is-json"]

# File, content, and what stands on stderr after its name.
RECORDINGS: list[tuple[str, str | bytes, str]] = [
    ("empty.cassette.jsonl", "", ":1: expected a cassette header, got an empty file or line"),
    ("empty.sse", "", ": the file is empty"),
    ("latin.cassette.jsonl", OPEN.encode() + b'{"text":"\xff"}\n', ":4:10: not UTF-8"),
    ("cut.cassette.jsonl", OPEN + '{"text":\n{"end":"eof"}\n', ":4:9: broken JSON: "),
    ("list.cassette.jsonl", "[]\n", ":1: expected `object`, got `array`"),
    ("other.cassette.jsonl", "{}\n", ":1: expected a cassette header, got another object"),
    ("new.cassette.jsonl", '{"cassette":"2.0"}\n', ":1: the cassette has format 2.0; this version"),
    ("hex.cassette.jsonl", OPEN + '{"hex":"zz"}\n', ":4: expected pairs of hexadecimal digits"),
    (
        "hash.cassette.jsonl",
        OPEN + '{"text":"x"}\n{"end":"eof","sha256":"00"}\n',
        ":5: the end states another sha256",
    ),
    ("early.cassette.jsonl", HEAD + '{"request":null}\n{"text":"x"}\n', ":3: data before the resp"),
    ("ends.cassette.jsonl", OPEN + '{"end":"eof"}\n' * 2, ":5: a second `end` of exchange 1"),
    ("bare.cassette.jsonl", HEAD, ": the recording holds no exchange"),
    ("long.cassette.jsonl", OPEN + f'{{"text":"{"a" * 50_000_000}"}}\n', ":4: the line is longer"),
    (
        "deep.cassette.jsonl",
        HEAD + f'{{"request":{{"json":{DEEP}}}}}\n',
        ":2: the JSON is nested too deeply",
    ),
    ("deep.sse", f"data: {DEEP}\n\n", ": no known dialect is recognised (--dialect NAME"),
    (
        "nan.cassette.jsonl",
        OPEN + '{"ms":NaN,"text":"x"}\n',
        ":4:7: broken JSON: invalid character",
    ),
    ("gone.cassette.jsonl.gz", b"plain text", ": damaged .gz file: "),
    ("x.bin", b"\x00\x01", ": unknown kind of recording"),
    (
        "profile.cassette.jsonl",
        GOOD.replace("strict", "opnai"),
        ": no profile 'opnai' for openai.chat (did you mean 'openai'?)",
    ),
    (
        "path.cassette.jsonl",
        GOOD.replace("strict", "../../own.yaml"),
        ": no profile '../../own.yaml' for openai.chat",
    ),
    (
        "says.cassette.jsonl",
        GOOD.replace("openai.chat", "openai.responses"),
        ": the stated dialect is openai.responses, but the stream speaks openai.chat",
    ),
    (
        "claude.sse",
        'data: {"type":"completion","completion":" Hello","stop_reason":null}\n\n',
        ": dialect anthropic.complete is not supported yet (supported: ",
    ),
]

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a file into the working folder, which is empty."""
    monkeypatch.chdir(tmp_path)

    def into(name: str, content: str | bytes) -> Path:
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
        return tmp_path / name

    return into


@pytest.mark.parametrize(("name", "content", "line"), RECORDINGS, ids=[r[0] for r in RECORDINGS])
def test_a_broken_recording_is_one_line(
    name: str, content: str | bytes, line: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write(name, content)
    assert main(["check", name, *RULE]) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"error: {name}{line}")
    assert err.count("\n") == 1
    assert out == "nothing was checked; 1 file could not be judged\n"


@pytest.mark.parametrize("verb", ["inspect", "convert"])
@pytest.mark.parametrize(
    ("name", "content", "line"),
    [
        r
        for r in RECORDINGS
        if r[0].split(".")[0] in ("empty", "latin", "cut", "new", "hex", "hash")
    ],
)
def test_other_verbs_say_the_same_and_write_nothing(
    verb: str,
    name: str,
    content: str | bytes,
    line: str,
    write: Write,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = write(name, content)
    target = ["out.cassette.jsonl"] if verb == "convert" else []
    assert main([verb, name, *target]) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"error: {name}{line}")
    assert (out, err.count("\n")) == ("", 1)
    assert list(path.parent.iterdir()) == [path]


SUITES: list[tuple[str | bytes, str]] = [
    ("", ":1:1: the file is empty"),
    (b"suite: \xff\n", " (byte 7): not UTF-8: invalid start byte"),
    ("suite:\tx\n", ":1:7: tab in the text"),
    ("suite: [x\n", ":2:1: not valid YAML: "),
    (SUITE + "    never: done\n    never: done\n", ":9:5: key 'never' already appears in line 8"),
    ("a: &a [x, x]\nb: [*a, *a]\n", ":1:4: anchors are not allowed"),
    ("a: " + "[" * 5000 + "]" * 5000, ":1:67: nested deeper than 64 levels"),
    (SUITE + "    sometimes: done\n", ":8:5: unknown key 'sometimes' (known: "),
    (SUITE, ":3:5: a rule has exactly one form ("),
    (SUITE + "    never: text.delt\n", ":8:12: unknown event 'text.delt' (did you mean 'text.d"),
    (SUITE + "    never: chat.chunk\n", ":8:12: unknown event 'chat.chunk'"),
    (SUITE + '    grammar: "a (b"\n', ":8:17: a group is not closed"),
    (
        SUITE + '    fold: {over: text.delta, take: text, matches: "(a)\\\\1"}\n',
        ":8:51: '(a)\\\\1' is no regular expression that runs in linear time: no look-around",
    ),
    (
        SUITE.replace("MUST", "must") + "    never: done\n",
        ":4:12: expected one of MUST, SHOULD, MAY",
    ),
]


@pytest.mark.parametrize(("content", "line"), SUITES, ids=[s[1][:40] for s in SUITES])
def test_a_broken_suite_is_one_line_for_check_and_for_lint(
    content: str | bytes, line: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("own.yaml", content)
    write("a.sse", SSE)
    assert main(["check", "a.sse", "--suite", "own.yaml", "-o", "json=report.json"]) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"error: own.yaml{line}")
    assert (out, err.count("\n")) == ("", 1)
    assert not Path("report.json").exists()
    assert main(["lint", "own.yaml"]) == 2
    place, message = line.split(": ", 1)
    assert capsys.readouterr().out.startswith(f"own.yaml{place}: error: {message}")


PROFILES: list[tuple[str, str]] = [
    (PROFILE + "knobs: {doen: {value: 1}}\n", ":3:9: unknown knob 'doen' (did you mean 'done'?)"),
    (
        PROFILE + "knobs: {done: {value: never, because: x, seen: y}}\n",
        ":3:23: knob 'done' is one of required, ",
    ),
    (PROFILE + "extends: nobody\n", ":3:10: no profile 'nobody' for openai.chat"),
    (PROFILE + "extends: own\n", ":3:10: no profile 'own' for openai.chat"),
    (PROFILE + "colour: red\n", ":3:1: unknown key 'colour'"),
    ("profile: own\ndialect: openai.chap\n", ":1:1: no profile 'strict' for openai.chap"),
]


@pytest.mark.parametrize(("content", "line"), PROFILES, ids=[p[1][:40] for p in PROFILES])
def test_a_broken_profile_is_one_line_for_check_and_for_lint(
    content: str, line: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("mine.yaml", content)
    write("a.sse", SSE)
    assert main(["check", "a.sse", "--profile", "mine.yaml"]) == 2
    out, err = capsys.readouterr()
    assert err.startswith(f"error: mine.yaml{line}")
    assert (out, err.count("\n")) == ("", 1)
    assert main(["lint", "mine.yaml"]) == 2


def test_profile_of_another_dialect_fails(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("mine.yaml", "profile: own\ndialect: openai.responses\n")
    write("a.sse", SSE)
    assert main(["check", "a.sse", "--profile", "mine.yaml"]) == 2
    line = "profile 'own' is for openai.responses, but the stream speaks openai.chat"
    assert capsys.readouterr().err == f"error: a.sse: {line}\n"


def test_lint_reports_unknown_overrides(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    off = '{level: "off", because: x, seen: y}'
    names = ("wire/chat/done-presnt", "wire/responses/created-first")
    write("mine.yaml", PROFILE + "overrides:\n" + "".join(f"  {n}: {off}\n" for n in names))
    assert main(["lint", "mine.yaml"]) == 2
    assert capsys.readouterr().out == (
        "mine.yaml:4:3: error: there is no rule 'wire/chat/done-presnt'"
        " (did you mean 'wire/chat/done-present'?)\n"
        "mine.yaml:5:3: error: rule 'wire/responses/created-first' never judges openai.chat\n"
        "2 errors, 0 warnings\n"
    )


# Arguments, exit code, and the line on stderr.
CALLS: list[tuple[list[str], int, str]] = [
    (["check", "none.sse"], 2, "none.sse: no such file or folder"),
    (["check", "folder"], 5, "no recording below folder"),
    (["check", "a.sse", "--suite", "folder"], 5, "no rule judges openai.chat"),
    (["check", "a.sse", "--rule", "harness/ending"], 5, "harness/ending: only a run judges it"),
    (["check", "a.sse", "--suite", "nope"], 2, "no suite 'nope', neither shipped nor a file"),
    (["check", "a.sse", "--suite", "nope.yaml"], 2, "nope.yaml: cannot read the file: "),
    (["check", "a.sse", "--rule", "wire/chat/done-prsent"], 2, "no rule matches 'wire/chat/done-p"),
    (
        ["check", "a.sse", "--dialect", "openai.chap"],
        2,
        "a.sse: no dialect is called 'openai.chap'",
    ),
    (
        ["check", "a.sse", "--dialect", "anthropic.complete"],
        2,
        "a.sse: dialect anthropic.complete is not supported yet",
    ),
    (["check", "a.sse", "--profile", "opnai"], 2, "a.sse: no profile 'opnai' for openai.chat (did"),
    (["check", "a.sse", "--profile", "none.yaml"], 2, "none.yaml: cannot read the file: "),
    (["check", "a.sse", "-o", "json=no/where.json"], 2, "no/where.json: cannot be written: "),
    (["inspect", "none.sse"], 2, "none.sse: cannot be read: no such file or directory"),
    (["inspect", "folder"], 2, "folder: cannot be read: is a directory"),
    (["inspect", "a.sse", "--exchange", "9"], 2, "a.sse: has no exchange 9"),
    (
        ["convert", "a.sse", "b.cassette.jsonl", "--profile", "chatgpt-codex"],
        2,
        "no profile 'chatgpt-codex' for openai.chat ('chatgpt-codex' is for openai.resp",
    ),
    (["mutate", "a.sse", "--profile", "anthropic"], 2, "no profile 'anthropic' for openai.chat ("),
    (["convert", "folder", "b.cassette.jsonl"], 2, "folder: cannot be read: is a directory"),
    (["lint", "none.yaml"], 2, "none.yaml: no such file or folder"),
    (["lint", "folder"], 2, "folder: holds no YAML file"),
    (["explain", "done-presnt"], 2, "there is no rule 'done-presnt' (did you mean "),
    (["list", "rules", "--suite", "none.yaml"], 2, "none.yaml: cannot read the file: "),
]


@pytest.mark.parametrize(("arguments", "code", "line"), CALLS, ids=[" ".join(c[0]) for c in CALLS])
def test_a_wrong_call_is_one_line(
    arguments: list[str], code: int, line: str, write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write("a.sse", SSE)
    (path.parent / "folder").mkdir()
    before = sorted(path.parent.rglob("*"))
    assert main(arguments) == code
    err = capsys.readouterr().err
    assert err.startswith(f"error: {line}")
    assert err.count("\n") == 1
    assert sorted(path.parent.rglob("*")) == before


def test_broken_file_hides_no_other(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "c"):
        write(f"many/{name}.cassette.jsonl", GOOD)
    write("many/b.cassette.jsonl", '{"cassette":')
    assert main(["check", "many", *RULE, "--format", "json", "-o", "text=report.txt"]) == 2
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert [Path(stream["file"]).name[0] for stream in report["streams"]] == ["a", "c"]
    assert err.startswith("error: many/b.cassette.jsonl:1:13: broken JSON: ")
    assert err.count("\n") == 1
    # The file stands alone: it tells what stdout leaves to stderr.
    assert "error: many/b.cassette.jsonl:1:13: " in Path("report.txt").read_text()


def test_lines_of_unknown_kind_are_noted(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("a.cassette.jsonl", GOOD.replace('{"end"', '{"frob":1}\n{"end"'))
    assert main(["check", "a.cassette.jsonl", *RULE]) == 0
    assert "note: 1 line" in capsys.readouterr().out


def test_torn_recording_is_judged(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("a.cassette.jsonl", OPEN + json.dumps({"text": SSE}) + '\n{"tex')
    assert main(["check", "a.cassette.jsonl", *RULE]) == 0
    assert "note: the recording is torn: it stops before its end" in capsys.readouterr().out


def test_a_catastrophic_expression_runs_in_linear_time(write: Write) -> None:
    text = json.dumps({"choices": [{"index": 0, "delta": {"content": "a" * 200_000 + "!"}}]})
    write("own.yaml", SUITE + '    fold: {over: text.delta, take: text, matches: "^(a+)+$"}\n')
    write("a.sse", f"data: {text}\n\ndata: [DONE]\n\n")
    arguments = ["check", "a.sse", "--dialect", "openai.chat", "--suite", "own.yaml"]
    assert main(arguments) == 1


def test_a_giant_event_is_judged_like_any_other(write: Write) -> None:
    write("a.sse", f"data: {'a' * 20_000_000}\n\n")
    assert main(["check", "a.sse", "--dialect", "openai.chat", *RULE]) == 1
