"""Every verb that quotes a stream has `--secret NAME`, and it means the same everywhere."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.cli import main
from conformance.cli.verbs import VERBS, load_verb

# Verbs that read nothing of anybody.
OWN: Final = {"demo", "explain", "init", "list", "markers", "schema"}
SECRETS: Final = {"drawn": "Zk9Qm3vX7Lr5tYpW8sBnHd2kLmN4pQ", "phrase": "harbour lantern"}
CALLS: Final[dict[str, list[str]]] = {
    **{
        f"check {name}": ["check", "A", "-v", "--format", name] for name in ("text", "json", "html")
    },
    "inspect": ["inspect", "A", "--full"],
    "identify": ["identify", "A"],
    **{
        f"diff {name}": ["diff", "A", "B", "--text", "-o", f"{name}=O"] for name in ("html", "json")
    },
    "diff": ["diff", "A", "B", "--text", "-v"],
    "baseline": ["baseline", "A", "-o", "O", "--reason", "x"],
    "lint": ["lint", "A"],
    "mutate": ["mutate", "A", "--operator", "N4*", "-o", "O"],
    "report": ["report", "stripping/visible-text/no-markers", "A", "-o", "O", "--seconds", "0"],
    "convert": ["convert", "A", "O.cassette.jsonl"],
    "convert to sse": ["convert", "A", "O.sse"],
    "redact": ["redact", "A", "-o", "O.cassette.jsonl"],
}


def options_of(verb: Any) -> set[str]:
    return {name for each in verb.params for name in each.opts}


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_that_quotes_takes_it(name: str) -> None:
    verb = load_verb(name)
    each = getattr(verb, "commands", {}).values() or (verb,)
    assert all(("--secret" in options_of(one)) is (name not in OWN) for one in each)


@pytest.fixture(params=SECRETS)
def secret(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    value = SECRETS[request.param]
    monkeypatch.setenv("MY_SECRET", value)
    return value


def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    head = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    return f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"


def write_recording(path: Path, words: str) -> None:
    """A cassette that says it wherever a report quotes."""
    error = {"type": words, "error": {"message": words, "code": words}}
    body = (
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": f"so {words} </think> {words}."}),
        chunk({"content": " x", "odd": words}),
        chunk({}, words),
        f"event: {words}\ndata: {json.dumps(error)}\n\n",
    )
    asked = {"model": "m", "stream": True, "messages": [{"role": "user", "content": words}]}
    request = {"method": "POST", "path": "/v1/chat/completions", "headers": [], "json": asked}
    head = {"status": 200, "headers": [["content-type", "text/event-stream"], ["server", words]]}
    about = {"cassette": "1.0", "origin": "live", "fidelity": "bytes", "dialect": "openai.chat"}
    lines = [
        {**about, "target": {"product": words}},
        {"request": request, "exchange": 1},
        {"response": head},
        *({"ms": 1.0, "text": each} for each in body),
        {"end": "eof"},
    ]
    path.write_text("".join(f"{json.dumps(each)}\n" for each in lines), encoding="utf-8")


def texts_below(folder: Path) -> str:
    files = [each for each in sorted(folder.rglob("*")) if each.is_file()]
    return "\n".join(each.read_text("utf-8", "replace") for each in files)


@pytest.mark.parametrize("call", CALLS)
def test_what_was_named_is_in_nothing_that_a_verb_says_or_writes(
    call: str, secret: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, made = tmp_path / "given", tmp_path / "made"
    given.mkdir()
    made.mkdir()
    files = {"A": given / "a.cassette.jsonl", "B": given / "b.cassette.jsonl"}
    write_recording(files["A"], secret)
    write_recording(files["B"], f"{secret} again")
    words = []
    for word in CALLS[call]:
        before, mark, name = word.rpartition("=")
        path = files.get(name, made / name if name[:1] == "O" else name)
        words.append(f"{before}{mark}{path}")
    main([*words, "--secret", "MY_SECRET"])
    printed = capsys.readouterr()
    assert secret not in printed.out + printed.err
    assert secret not in texts_below(made)
    assert printed.out or texts_below(made)


@pytest.mark.parametrize("processes", ["1", "2"])
def test_workers_of_a_corpus_know_what_was_named(
    processes: str, secret: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, verdicts = tmp_path / "in", tmp_path / "out"
    source.mkdir()
    write_recording(source / "a.cassette.jsonl", secret)
    named = ["--secret", "MY_SECRET"]
    main(["corpus", "check", str(source), "--out", str(verdicts), "-j", processes, *named])
    page = tmp_path / "page.html"
    for each in (["-o", f"html={page}"], ["--format", "json"]):
        main(["corpus", "report", str(verdicts), *each])  # the verdicts are clean by themselves
    printed = capsys.readouterr()
    assert "stripping/visible-text/no-markers" in printed.out
    assert secret not in printed.out + printed.err + page.read_text(encoding="utf-8")
    shutil.rmtree(verdicts)
