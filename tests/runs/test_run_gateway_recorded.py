"""Recordings behind a gateway: what was recorded against what the far side says."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import httpx
import pytest
from msgspec.structs import replace

from conformance.cassette import Cassette, Header, read, write
from conformance.core.errors import UsageError
from conformance.core.events import Chunk, Exchange, Request, Response
from conformance.core.shipped import cassettes
from conformance.judging.rulebook import Rulebook
from conformance.recordings.check import check_paths
from conformance.rules.verdicts import Verdict
from conformance.runs import RunOutcome, recorded_scenarios
from reference_impl.client.wire import Api
from tests.fakes.gateway import Gateway, Send
from tests.fakes.translating import Translator, forgets, invents, leaks, loses, reorders
from tests.plain_results import violated_steps
from tests.runs.test_run_gateway import APIS, ran

SHIPPED = cassettes()
ANSWERS: dict[Api, tuple[str, ...]] = {
    "chat": ("deepseek/thinking-then-text", "deepseek/length-in-thinking"),
    "responses": ("openai/summary-four-parts", "openai/incomplete-in-text", "openai/body"),
    "messages": ("anthropic/thinking-then-text", "anthropic/thinking-then-tools"),
}


def paths(api: Api) -> list[Path]:
    return [SHIPPED / APIS[api] / f"{name}.cassette.jsonl" for name in ANSWERS[api]]


def run_recorded(
    gateway: Gateway | Translator,
    recordings: Sequence[Path],
    folder: Path,
    api: str,
    save: Path | None = None,
) -> RunOutcome:
    scenarios = recorded_scenarios(recordings, Rulebook.load())
    return ran(gateway, folder, scenarios, dialects=(api,), profile=None, save=save)


@pytest.mark.slow
@pytest.mark.parametrize("api", APIS.values())
def test_who_passes_on_has_no_finding_whatever_was_recorded(api: str, tmp_path: Path) -> None:
    outcome = run_recorded(Gateway(), [SHIPPED / api], tmp_path, api, tmp_path)
    assert violated_steps(outcome.report) == set()
    assert outcome.scenarios >= 10
    assert violated_steps(check_paths([tmp_path], trust=[tmp_path])) == set()


# The translator writes summaries itself, and would do so beside a recorded one.
WAYS = [(here, there) for here in APIS for there in APIS if (here, there) != ("responses",) * 2]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(("here", "there"), WAYS)
def test_who_translates_well_has_no_finding(here: Api, there: Api, tmp_path: Path) -> None:
    outcome = run_recorded(Translator(there), paths(there), tmp_path, APIS[here])
    assert violated_steps(outcome.report) == set()
    verdicts = outcome.report.verdicts
    hops = ("hop-text", "hop-thinking", "hop-usage")
    assert {verdicts[f"scenario/{each}"] for each in hops} == {Verdict.PASS}


WRONG: list[tuple[Translator, str]] = [
    (Translator("messages", change=loses), "scenario/hop-text"),
    (Translator("responses", change=invents), "scenario/hop-text"),
    (Translator("chat", change=leaks), "scenario/hop-text"),
    (Translator("chat", change=forgets), "scenario/hop-thinking"),
    (Translator("responses", change=forgets), "scenario/hop-thinking"),
    (Translator("messages", change=reorders), "scenario/hop-order"),
    (Translator("messages", defect="item-id-changes"), "wire/responses/item-id"),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(("gateway", "rule"), WRONG)
def test_who_translates_badly_is_found(gateway: Translator, rule: str, tmp_path: Path) -> None:
    report = run_recorded(gateway, paths(gateway.asks), tmp_path, "openai.responses").report
    assert rule in {found for found, _ in violated_steps(report)}


def test_what_was_not_recorded_so_is_untestable(tmp_path: Path) -> None:
    report = run_recorded(
        Translator("messages"), paths("chat"), tmp_path, "openai.responses"
    ).report
    reasons = {
        s.reasons.get("scenario/ending", "") for s in report.streams if s.role == "exchange-1"
    }
    assert "upstream got a request in anthropic.messages, openai.chat was recorded" in reasons
    assert report.verdicts["scenario/hop-text"] is not Verdict.FAIL
    assert violated_steps(report) == set()


def recording(path: Path, **changes: object) -> Path:
    """A chat that ended well, but for the changes."""
    chunk = '{"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[%s]}'
    text = '{"index":0,"delta":{"role":"assistant","content":"$name"},"finish_reason":null}'
    ended = '{"index":0,"delta":{},"finish_reason":"stop"}'
    data = "".join(f"data: {chunk % each}\n\n" for each in (text, ended)) + "data: [DONE]\n\n"
    exchange = Exchange(
        request=Request(json={"model": "$m", "messages": [{"role": "user", "content": "$ask"}]}),
        response=Response(200, "1.1", (("content-type", "text/event-stream"),)),
        chunks=(Chunk(data.encode()),),
    )
    one = replace(exchange, **changes)
    write(path, Cassette(Header(dialect="openai.chat", profile="strict"), (one,)))
    return path


class Strict(Gateway):
    """It takes no answer that was recorded here, and says so."""

    async def _pass_on(self, response: httpx.Response, send: Send, asked: bytes) -> None:
        if b"$name" not in await response.aread():
            await super()._pass_on(response, send, asked)
            return
        error = {"message": "no valid chunk", "type": "server_error", "param": None, "code": None}
        head = {"type": "http.response.start", "status": 502}
        await send({**head, "headers": [(b"content-type", b"application/json")]})
        await send({"type": "http.response.body", "body": json.dumps({"error": error}).encode()})


@pytest.mark.parametrize("is_broken", [True, False])
def test_who_refuses_what_breaks_binding_rule_is_right(tmp_path: Path, *, is_broken: bool) -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    path = recording(tmp_path / "a.cassette.jsonl", request=Request(json=asked))
    if is_broken:
        text = path.read_text("utf-8").replace("chat.completion.chunk", "something.else")
        path.write_text(text, "utf-8")
    outcome = run_recorded(Strict(), [path], tmp_path / "run", "openai.chat", tmp_path / "run")
    found = {rule for rule, _ in violated_steps(outcome.report)}
    assert ("scenario/ending" in found) is not is_broken
    notes = [note for note in outcome.report.notes if "was refused, as it may be" in note]
    assert bool(notes) is is_broken
    # What a stranger's recording says of that excuses nothing.
    untrusted = {rule for rule, _ in violated_steps(check_paths([tmp_path / "run"]))}
    assert "scenario/ending" in untrusted or not is_broken


def test_what_looks_like_a_name_of_a_template_is_sent_as_it_is(tmp_path: Path) -> None:
    path = recording(tmp_path / "a.cassette.jsonl")
    ((step,),) = (each.steps for each in recorded_scenarios([path], Rulebook.load()))
    body = step.body("openai.chat", {"model": "m"})
    assert body == {"model": "m", "messages": [{"role": "user", "content": "$ask"}]}
    assert step.ends == ("complete",)
    assert step.calls == 1


def test_of_what_broke_off_the_far_side_may_make_no_answer(tmp_path: Path) -> None:
    path = recording(tmp_path / "a.cassette.jsonl", end="reset", chunks=(Chunk(b"data: {}\n\n"),))
    ((step,),) = (each.steps for each in recorded_scenarios([path], Rulebook.load()))
    assert step.ends == ("cut", "failed", "refused")
    assert step.calls is None


def test_the_far_side_of_a_gateway_and_lists_of_models_are_not_served(tmp_path: Path) -> None:
    path = recording(tmp_path / "a.cassette.jsonl", hop="downstream")
    with pytest.raises(UsageError, match="no recorded answer"):
        recorded_scenarios([path], Rulebook.load())
    recording(path, request=Request("GET", "/v1/models"))
    with pytest.raises(UsageError, match="no recorded answer"):
        recorded_scenarios([path], Rulebook.load())


def test_recordings_of_one_name_are_distinguished(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        recording(tmp_path / folder / "One Two.cassette.jsonl")
    found = recorded_scenarios([tmp_path], Rulebook.load())
    assert [each.name for each in found] == ["one-two", "one-two-2"]


def test_both_sides_are_kept_with_what_was_known_of_the_recording(tmp_path: Path) -> None:
    run_recorded(Translator("messages"), paths("messages")[:1], tmp_path, "openai.chat", tmp_path)
    (path,) = tmp_path.rglob("thinking-then-text.cassette.jsonl")
    cassette = read(path)
    assert [each.hop for each in cassette.exchanges] == ["downstream", "upstream"]
    assert cassette.header.extra["run"]["upstream"] == "strict"
    assert cassette.header.profile is None
