"""What a model writes near what a faulty program makes of its words, and what such a one writes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance import Checker, Request
from conformance.rules.verdicts import Verdict
from tests.rules.test_legal_answers import CHAT, response, streamed, verdict

STREAM = "thinking/stream"
NO_ERROR = "stripping/visible-text/no-error"
ERROR = '{"error": {"message": "Overloaded.", "type": "server_error"}}'


def judged(rule: str, *texts: str, field: str = "content") -> Verdict:
    deltas = [{"role": "assistant"}, *({field: text} for text in texts)]
    chunks = [
        f"data: {json.dumps({'choices': [{'index': 0, 'delta': each}]})}\n\n".encode()
        for each in deltas
    ]
    return Checker("openai.chat", rules=[rule]).check(chunks).verdicts[rule]


@pytest.mark.parametrize("field", ["content", "reasoning_content"])
@pytest.mark.parametrize("encoding", ["latin-1", "cp1252"])
@pytest.mark.parametrize("text", ["café", "a → b", "3 ≤ 4", "£5", "№", "✓", "😀", "it\u2019s"])
def test_a_wrong_encoding_is_found(text: str, encoding: str, field: str) -> None:
    broken = text.encode().decode(encoding)
    assert judged(f"{STREAM}/decoded-once", *broken, field=field) is Verdict.FAIL


@pytest.mark.parametrize(
    "text", ["NÃO", "« voilà\u00a0»", "é\u0085b", "pâté»", "IRMÃ»", "Â»", "ça coûte 5°"]
)
def test_letters_with_accents_are_decoded(text: str) -> None:
    assert judged(f"{STREAM}/decoded-once", text) is Verdict.PASS


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (r"It stays empty.\n\nOn the site, look.", Verdict.FAIL),
        (r"Steps:\n1. Mix.\n2. Bake it.", Verdict.FAIL),
        (r"I don\u2019t know.", Verdict.FAIL),
        (r"`a.\n\nB` is two lines", Verdict.PASS),
        (r'print("Well.\n\nSo")', Verdict.PASS),
        ("Split at " + r"\n\n" + ".\nThat is all.", Verdict.PASS),
        (r"where $E = -\nabla V$ and \neq 0.", Verdict.PASS),
        (r"C:\notes\new is the folder.", Verdict.PASS),
        (r'{"text": "it isn\u2019t"}', Verdict.PASS),
    ],
)
def test_who_writes_of_escapes_quotes_them(text: str, wanted: Verdict) -> None:
    assert judged(f"{STREAM}/escaped-once", *text) is wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Themeaningoflifeisaphilosophicalandpersonalquestionthathasbeendebated", Verdict.FAIL),
        ("AbstractInterruptibleBatchPreparedStatementSetterFactoryBeanFor", Verdict.PASS),
        ("acgtacgtacgtacgtacgtacgtacgtacgtacgtacgtacgtacgtacgtacgtacgtacgt", Verdict.PASS),
        ("pneumonoultramicroscopicsilicovolcanoconiosis", Verdict.PASS),
        ("rindfleischetikettierungsaufgabenübertragungsgesetz", Verdict.PASS),
        ("https://example.org/the-meaning-of-life/and-the-question-for-you", Verdict.PASS),
        ("llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch", Verdict.PASS),
    ],
)
def test_a_long_word_is_no_sentence(text: str, wanted: Verdict) -> None:
    assert judged(f"{STREAM}/words-apart", *text) is wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (f"The boat{ERROR}", Verdict.FAIL),
        ("So: Error code: 500 - {'error': {'message': 'Internal'}}", Verdict.FAIL),
        (f"The server answers\n```json\n{ERROR}\n```", Verdict.PASS),
        (f"It says {ERROR}, so wait.", Verdict.PASS),
        ('{"error": null, "rows": []}', Verdict.PASS),
        ("Error code: 404 means that nothing is there.", Verdict.PASS),
    ],
)
def test_who_explains_an_error_goes_on(text: str, wanted: Verdict) -> None:
    assert judged(NO_ERROR, text) is wanted


@pytest.mark.parametrize(
    ("seal", "wanted"),
    [
        ("EqQBCkgIARABGAIiQL+w==", Verdict.PASS),
        ("[trimmed for fixture]", Verdict.PASS),
        ("EqQB\nCkgI", Verdict.FAIL),
        ("Let me think.", Verdict.FAIL),
    ],
)
def test_a_mark_of_who_publishes_a_log_is_no_word_of_a_server(seal: str, wanted: Verdict) -> None:
    body = response("Yes.")
    body["output"][0]["encrypted_content"] = seal
    assert verdict("thinking/answer/seal-not-read", "openai.responses", body) is wanted


@pytest.mark.parametrize(
    ("status", "listed", "wanted"),
    [
        ("completed", "completed", Verdict.PASS),
        ("queued", None, Verdict.PASS),
        (None, "incomplete", Verdict.PASS),
        ("stop", "completed", Verdict.FAIL),
        ("completed", "COMPLETED", Verdict.FAIL),
    ],
)
def test_a_status_is_one_of_the_api(status: Any, listed: Any, wanted: Verdict) -> None:
    body = {**response("Yes."), "status": status}
    body["output"][1]["status"] = listed
    # Hosted tools have words of their own.
    body["output"].append({"id": "ig_1", "type": "image_generation_call", "status": "generating"})
    assert verdict("wire/responses-items/statuses-known", "openai.responses", body) is wanted


@pytest.mark.parametrize(
    ("event", "wanted"),
    [
        ({"code": None, "message": "Overloaded."}, Verdict.PASS),
        ({"error": {"message": "Overloaded."}}, Verdict.PASS),
        ({"error": {}}, Verdict.FAIL),
        ({"error": None, "message": None}, Verdict.FAIL),
    ],
)
def test_an_error_may_be_nested(event: Any, wanted: Verdict) -> None:
    events = [{"type": "error", "sequence_number": 0, **event}]
    rule = "wire/responses-items/error-says-why"
    assert streamed(rule, "openai.responses", events) is wanted


def test_a_refusal_may_be_a_text() -> None:
    body = json.dumps({"code": "invalid-argument", "error": "This key is not known."}).encode()
    checker = Checker("openai.responses", rules=["wire/responses-items/error-says-why"])
    found = checker.check([body], response={"status": 400})
    assert found.verdicts["wire/responses-items/error-says-why"] is Verdict.PASS


@pytest.mark.parametrize(("cached", "wanted"), [(9, Verdict.PASS), (10, Verdict.FAIL)])
def test_a_whole_prompt_may_be_cached(cached: int, wanted: Verdict) -> None:
    counts = {"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10}
    body = {**CHAT, "usage": {**counts, "prompt_tokens_details": {"cached_tokens": cached}}}
    assert verdict("wire/chat/cached-within-prompt", "openai.chat", body) is wanted


@pytest.mark.parametrize(
    ("deltas", "wanted"),
    [
        ([{"reasoning": "So"}, {"reasoning": " nine."}], Verdict.PASS),
        ([{"reasoning": "So", "reasoning_content": ""}, {"reasoning": " nine."}], Verdict.PASS),
        ([{"reasoning": "So", "reasoning_content": "So"}, {"reasoning": " nine."}], Verdict.PASS),
        ([{"reasoning": "So"}, {"reasoning_content": " nine."}], Verdict.FAIL),
    ],
)
def test_a_field_that_is_empty_or_doubled_is_no_other_one(deltas: Any, wanted: Verdict) -> None:
    events = [{"choices": [{"index": 0, "delta": each}]} for each in deltas]
    assert streamed("wire/chat/thinking-field-kept", "openai.chat", events) is wanted


def declined(stated: Any, closed: Any, kept: Any) -> list[dict[str, Any]]:
    """A message whose first part is text; the refusals as stated, in their parts, in the item."""
    place = {"output_index": 0, "item_id": "msg_1"}
    text = {"type": "output_text", "text": "The lock is a cylinder.", "annotations": []}
    events = [{"type": "response.content_part.done", **place, "content_index": 0, "part": text}]
    for index, (whole, part) in enumerate(zip(stated, closed, strict=True), 1):
        at = {**place, "content_index": index}
        events.append({"type": "response.refusal.done", **at, "refusal": whole})
        refusal = {"type": "refusal", "refusal": part}
        events.append({"type": "response.content_part.done", **at, "part": refusal})
    content = [text, *({"type": "refusal", "refusal": each} for each in kept)]
    item = {"id": "msg_1", "type": "message", "role": "assistant", "content": content}
    return [*events, {"type": "response.output_item.done", "output_index": 0, "item": item}]


@pytest.mark.parametrize(
    ("stated", "closed", "kept", "in_part", "in_item"),
    [
        (["No."], ["No."], ["No."], Verdict.PASS, Verdict.PASS),
        (["No.", "Not so."], ["No.", "Not so."], ["No.", "Not so."], Verdict.PASS, Verdict.PASS),
        ([], [], [], Verdict.VACUOUS, Verdict.VACUOUS),
        (["No."], ["Yes."], ["No."], Verdict.FAIL, Verdict.PASS),
        (["No."], ["No."], ["Yes."], Verdict.PASS, Verdict.FAIL),
        (["No.", "Not so."], ["No.", "Not so."], ["No."], Verdict.PASS, Verdict.FAIL),
    ],
    ids=["one", "two", "text only", "other part", "other item", "one lost"],
)
def test_a_refusal_stays_what_it_was(
    stated: Any, closed: Any, kept: Any, in_part: Verdict, in_item: Verdict
) -> None:
    events = declined(stated, closed, kept)
    for rule, wanted in (("part", in_part), ("item", in_item)):
        name = f"wire/responses-parts/refusal-{rule}-agrees"
        assert streamed(name, "openai.responses", events) is wanted


@pytest.mark.parametrize(
    ("payload", "wanted"),
    [
        ({"error": None}, Verdict.FAIL),
        ({"error": {}}, Verdict.FAIL),
        ({"error": "", "type": None}, Verdict.FAIL),
        ({"error": "The model is loading."}, Verdict.PASS),
        ({"error": None, "type": "keepalive"}, Verdict.PASS),
        ({"error": False, "count": 0}, Verdict.PASS),
        ({"data": []}, Verdict.PASS),
    ],
)
def test_a_payload_says_something(payload: Any, wanted: Verdict) -> None:
    begun = {"choices": [{"index": 0, "delta": {"content": "At"}}]}
    assert streamed("wire/chat/payload-is-object", "openai.chat", [begun, payload]) is wanted


@pytest.mark.parametrize(
    ("path", "full", "before", "wanted"),
    [
        ("/generate_stream", None, "", Verdict.PASS),
        ("/generate_stream", None, " ", Verdict.PASS),
        ("/generate_stream", True, "Is it on? ", Verdict.PASS),
        ("/", None, "Is it on? ", Verdict.PASS),  # as the model is registered
        ("/generate_stream", None, "Is it on? ", Verdict.FAIL),
        ("/generate_stream", False, "Is it on? ", Verdict.FAIL),
    ],
)
def test_a_prompt_stands_before_the_whole_text_where_it_was_asked_for(
    path: str, full: bool | None, before: str, wanted: Verdict
) -> None:
    asked = {"inputs": "Is it on? ", "parameters": {"return_full_text": full}}
    token = {"id": 1, "text": "It is.", "logprob": -0.1, "special": False}
    last = {"index": 1, "token": token, "generated_text": f"{before}It is.", "details": None}
    rule = "wire/tgi/whole-text-agrees"
    result = Checker("huggingface.tgi", rules=[rule]).check(
        [f"data: {json.dumps(last)}\n\n".encode()], request=Request(path=path, json=asked)
    )
    assert result.verdicts[rule] is wanted
