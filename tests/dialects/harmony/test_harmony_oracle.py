"""Token text as the library of its makers reads it: `openai-harmony`, with its vocabulary."""

from __future__ import annotations

import base64
import json
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance import dialects
from conformance.cassette.token_ids import detokenized
from conformance.core.events import Chunk, Exchange
from conformance.core.reading import Reading
from conformance.recordings.api import check_chunks

openai_harmony = pytest.importorskip("openai_harmony")

pytestmark = pytest.mark.slow

_RANKS: Final = 199_998  # tokens of o200k without the special ones
_TOOL: Final = "functions.get_timetable"
Message = tuple[str, str, str, str]
"""Channel, recipient, type and content."""

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30).filter(
    lambda text: "<|" not in text and "|>" not in text
)
THOUGHTS = st.tuples(st.just("analysis"), st.just(""), st.just(""), TEXTS)
PREAMBLES = st.tuples(st.just("commentary"), st.just(""), st.just(""), TEXTS)
CALLS = st.tuples(
    st.just("commentary"),
    st.just(_TOOL),
    st.sampled_from(["", "json", "<|constrain|>json"]),
    st.just('{"line": "island"}'),
)
CODE = st.tuples(st.just("analysis"), st.just("python"), st.just("code"), TEXTS)
FINALS = st.tuples(st.just("final"), st.just(""), st.just(""), TEXTS)
ANSWERS = st.tuples(st.lists(THOUGHTS | PREAMBLES, max_size=3), st.one_of(FINALS, CALLS, CODE)).map(
    lambda parts: [*parts[0], parts[1]]
)


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The vocabulary, from a package and not from the network."""
    known = pytest.importorskip("bpe_openai").get_encoding("o200k_base")  # imported, it is loaded
    path = tmp_path_factory.mktemp("encodings") / "o200k_base.tiktoken"
    with path.open("wb") as file:
        for rank in range(_RANKS):
            token = base64.b64encode(known.decode_single_token_bytes(rank)).decode()
            file.write(f"{token} {rank}\n".encode())
    return path


@pytest.fixture(scope="module")
def encoding(ranks: Path) -> Any:
    """The encoding of gpt-oss."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TIKTOKEN_ENCODINGS_BASE", str(ranks.parent))
        name = openai_harmony.HarmonyEncodingName.HARMONY_GPT_OSS
        return openai_harmony.load_harmony_encoding(name)


def written(encoding: Any, answer: list[Message]) -> str:
    """An answer as the library writes it, behind a prompt that ends with the assistant's start."""
    found = []
    for channel, recipient, kind, content in answer:
        message = openai_harmony.Message.from_role_and_content("assistant", content)
        message = message.with_channel(channel)
        message = message.with_recipient(recipient) if recipient else message
        found.append(message.with_content_type(kind) if kind else message)
    tokens = [token for each in found for token in encoding.render(each)]
    text = str(encoding.decode(tokens)).removeprefix("<|start|>assistant")
    return f"{text.removesuffix('<|end|>')}<|return|>" if text.endswith("<|end|>") else text


def parsed(encoding: Any, text: str) -> list[Message]:
    """The messages that the library reads. Raises HarmonyError for what it does not take."""
    role = openai_harmony.Role.ASSISTANT
    parser = openai_harmony.StreamableParser(encoding, role)
    for token in encoding.encode(text, allowed_special="all"):
        parser.process(token)
    parser.process_eos()
    return [
        (
            each.channel or "",
            each.recipient or "",
            (each.content_type or "").removeprefix("<|constrain|>"),
            each.content[0].text,
        )
        for each in parser.messages
        if each.author.role == role
    ]


def read(text: str, cuts: list[int]) -> list[Message]:
    """The messages that our reader reads, in whatever chunks they come."""
    body = text.encode()
    places = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    chunks = [Chunk(body[a:b]) for a, b in pairwise(places)]
    trace = dialects.get("harmony").trace(Exchange(chunks=tuple(chunks)), Reading())
    heads: dict[int, tuple[str, str, str]] = {}
    texts: dict[int, str] = {}
    for event in (event for frame in trace for event in frame.events):
        data, number = event.data, event.data.get("message", 0)
        if event.type == "harmony.message" and data["role"] == "assistant":
            stated = [str(data.get(key, "")) for key in ("channel", "recipient", "content_type")]
            heads[number] = (stated[0], stated[1], stated[2])
            texts[number] = ""
        elif event.type == "harmony.text" and data["place"] == "content" and number in texts:
            texts[number] += data["text"]
    return [(*head, texts[number]) for number, head in heads.items()]


@settings(max_examples=60, deadline=None)
@given(ANSWERS, st.lists(st.integers(0, 1000), max_size=8))
def test_any_chunks_read_the_same(encoding: Any, answer: list[Message], cuts: list[int]) -> None:
    text = written(encoding, answer)
    stated = [(a, b, kind.removeprefix("<|constrain|>"), text_) for a, b, kind, text_ in answer]
    assert read(text, cuts) == parsed(encoding, text) == stated


def test_ids_become_the_text_of_the_library(encoding: Any, ranks: Path, tmp_path: Path) -> None:
    text = "<|channel|>analysis<|message|>ひまわり 🌻, naïve.<|end|>"
    ids = encoding.encode(text, allowed_special="all")
    source = tmp_path / "ids.json"
    source.write_text(json.dumps(ids))
    [exchange] = detokenized(source, ranks, dialect="harmony").exchanges
    assert len(exchange.chunks) == len(ids)
    assert exchange.body.decode() == encoding.decode(ids) == text


def failing(text: str) -> set[str]:
    report = check_chunks([text.encode()], dialect="harmony", profile="strict")
    return {finding.rule for stream in report.streams for finding in stream.findings}


@settings(max_examples=40, deadline=None)
@given(ANSWERS)
def test_what_library_writes_breaks_no_rule_of_wire(encoding: Any, answer: list[Message]) -> None:
    text = written(encoding, answer)
    assert {rule for rule in failing(text) if rule.startswith("wire/")} == set()


@settings(max_examples=80, deadline=None)
@given(ANSWERS, st.data())
def test_library_refusals_fail(encoding: Any, answer: list[Message], data: st.DataObject) -> None:
    """One marker or word of a good answer is lost, doubled or another one."""
    text = written(encoding, answer)
    pieces = _pieces(text)
    at = data.draw(st.integers(0, len(pieces) - 1))
    new = data.draw(st.sampled_from(["", pieces[at] * 2, "<|channel|>", "<|end|>", " ??", "\n"]))
    garbled = "".join([*pieces[:at], new, *pieces[at + 1 :]])
    try:
        agrees = parsed(encoding, garbled) == read(garbled, [])
    except openai_harmony.HarmonyError:
        agrees = False
    assert agrees or failing(garbled)


def _pieces(text: str) -> list[str]:
    found = dialects.get("harmony").trace(Exchange(chunks=(Chunk(text.encode()),)), Reading())
    return [frame.frame.data for frame in found if frame.frame is not None]
