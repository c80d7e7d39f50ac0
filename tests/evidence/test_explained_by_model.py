"""What a target waits for while its model breaks off is not its own, nor what came at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from conformance.judging.result import StreamResult
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from tests.evidence.two_hops import acp, chat

BURSTS: Final = "wire/timing/no-bursts"
UNENDED: Final = "wire/lines/ends-cleanly"
PIECES: Final = ("The fer", "ry leav", "es at ", "ni", "ne from", " the ol", "d harb", "our.")
TEXTS: Final = [{"content": each} for each in PIECES]
AT_ONCE: Final = 0.02
SLOWLY: Final = 400.0
LONG: Final = 60_000.0


def _lines(answer: tuple[str, str], *, cut: bool) -> list[str]:
    """The frames of an answer; a cut one lacks its last."""
    end = "\n" if answer[0] == "acp" else "\n\n"
    frames = [f"{each}{end}" for each in answer[1].split(end) if each]
    return frames[: -1 if answer[0] == "acp" else -2] if cut else frames


def _exchange(number: int, hop: str, frames: list[str], **facts: Any) -> list[dict[str, Any]]:
    """The lines of a cassette; `waits` come before each frame, `silent` before the end."""
    kind = "application/x-ndjson" if hop == "app" else "text/event-stream"
    own = {"json": {"messages": [], "stream": True}}
    place = {"exchange": number, "hop": hop, "scenario": "app-failures", "role": "cut"}
    waits = facts.get("waits", [AT_ONCE] * len(frames))
    return [
        {"request": {"method": "POST", "path": facts.get("path", "/"), **own}, **place},
        {
            "response": {"status": facts.get("status"), "headers": [["content-type", kind]]},
            "exchange": number,
            "ms": 1.0,
        },
        *({"ms": ms, "text": text} for ms, text in zip(waits, frames, strict=True)),
        {"end": facts.get("end", "eof"), "ms": facts.get("silent", 0.0)},
    ]


def _judged(folder: Path, *exchanges: list[dict[str, Any]]) -> StreamResult:
    dialects = {"app": "acp", "upstream": "openai.chat"}
    for lines in exchanges:
        lines[0]["dialect"] = dialects[lines[0]["hop"]]
    head = {"cassette": "1.0", "dialect": "acp", "profile": "strict"}
    path = folder / "waits.cassette.jsonl"
    lines = [head, *(line for each in exchanges for line in each)]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return check_paths([path]).streams[0]


def _upstream(
    number: int, *, cut: bool = False, gap: float = AT_ONCE, output: int | None = None
) -> list[dict[str, Any]]:
    frames = _lines(chat(*TEXTS), cut=cut)
    if output is not None:
        counts = {"prompt_tokens": 1, "completion_tokens": output, "total_tokens": output + 1}
        frames[-1:-1] = [f"data: {json.dumps({'choices': [], 'usage': counts})}\n\n"]
    facts = {"status": 200, "waits": [gap] * len(frames), "end": "reset" if cut else "eof"}
    return _exchange(number, "upstream", frames, path="/v1/chat/completions", **facts)


@pytest.mark.parametrize(
    ("upstream", "verdict"),
    [
        ([], Verdict.FAIL),
        ([_upstream(2)], Verdict.NOT_APPLICABLE),
        ([_upstream(2, cut=True), _upstream(3)], Verdict.NOT_APPLICABLE),
        ([_upstream(2, gap=SLOWLY)], Verdict.FAIL),
    ],
    ids=["nothing known", "at once", "a second try", "the model took its time"],
)
def test_a_burst_is_the_targets_where_its_model_spoke_slowly(
    upstream: list[list[dict[str, Any]]], verdict: Verdict, tmp_path: Path
) -> None:
    frames = _lines(acp(*(("message", each) for each in PIECES)), cut=False)
    shown = _exchange(1, "app", frames, waits=[9000.0, *[AT_ONCE] * (len(frames) - 1)])
    assert _judged(tmp_path, shown, *upstream).verdicts[BURSTS] is verdict


@pytest.mark.parametrize(
    ("outputs", "verdict"),
    [
        ([], Verdict.FAIL),
        ([None], Verdict.NOT_APPLICABLE),
        ([0, None], Verdict.NOT_APPLICABLE),
        ([None, 7], Verdict.FAIL),
    ],
)
def test_model_did_not_count(outputs: list[int | None], verdict: Verdict, tmp_path: Path) -> None:
    dialect, shown = acp(("message", "At nine."))
    usage = {"outputTokens": 0, "inputTokens": 0, "totalTokens": 0}
    ended = shown.replace(
        '{"stopReason": "end_turn"}', json.dumps({"stopReason": "end_turn", "usage": usage})
    )
    upstream = [_upstream(number, output=each) for number, each in enumerate(outputs, 2)]
    found = _judged(tmp_path, _exchange(1, "app", _lines((dialect, ended), cut=False)), *upstream)
    assert found.verdicts["thinking/stream/answer-counted"] is verdict


REFUSED: Final = _exchange(
    3, "upstream", ['{"error": {"message": "no"}}'], path="/v1/chat/completions", status=400
)


STOPPED: Final = [*_upstream(2, cut=True)[:-1], {"end": "client-closed", "ms": 0.0}]


@pytest.mark.parametrize(
    ("silent", "upstream", "verdict"),
    [
        (LONG - 1, [_upstream(2, cut=True)], Verdict.INCONCLUSIVE),
        (LONG - 1, [_upstream(2, cut=True), _upstream(3, cut=True)], Verdict.INCONCLUSIVE),
        (LONG, [_upstream(2, cut=True)], Verdict.FAIL),
        (LONG - 1, [_upstream(2)], Verdict.FAIL),
        (LONG - 1, [_upstream(2, cut=True), REFUSED], Verdict.FAIL),
        (LONG - 1, [STOPPED], Verdict.FAIL),
        (LONG - 1, [], Verdict.FAIL),
    ],
    ids=[
        "a pause",
        "pauses",
        "a minute",
        "all came",
        "refused at last",
        "stopped",
        "nothing known",
    ],
)
def test_silence_after_a_model_that_broke_off_may_be_a_pause(
    silent: float, upstream: list[list[dict[str, Any]]], verdict: Verdict, tmp_path: Path
) -> None:
    frames = _lines(acp(("message", "The ferry leaves at")), cut=True)
    shown = _exchange(1, "app", frames, end="idle-timeout", silent=silent)
    found = _judged(tmp_path, shown, *upstream)
    assert found.verdicts[UNENDED] is verdict
    if verdict is Verdict.INCONCLUSIVE:
        tries = ", 2 times" if len(upstream) > 1 else ""
        assert found.reasons[UNENDED].startswith(f"its model broke off{tries}, and")
