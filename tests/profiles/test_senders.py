"""Who sent a stream is told by its signs: one at a time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.core.events import Event
from conformance.identify import Witness, named
from conformance.profiles.fingerprints import Fingerprint, Signs
from conformance.profiles.lookup import fingerprints
from conformance.rules.alias import Alias
from tests.profiles.identifying import CHAT, PRIVATE, identified, written


def sign(profile: str, *, weak: bool = False, gateway: bool = False) -> Fingerprint:
    return Fingerprint(profile, "s", weak, Alias("e", "chat.chunk"), gateway)


NAMED: tuple[tuple[list[Fingerprint], str | None, str], ...] = (
    ([], None, "none"),
    ([sign("a")], "a", "certain"),
    ([sign("a"), sign("a")], "a", "certain"),
    ([sign("b", weak=True), sign("b", weak=True), sign("a")], "a", "certain"),
    ([sign("a", weak=True)], "a", "guess"),
    ([sign("a", weak=True), sign("b", weak=True), sign("b", weak=True)], "b", "guess"),
    ([sign("a", weak=True), sign("b", weak=True)], None, "none"),
    ([sign("a"), sign("b"), sign("b")], "b", "guess"),
    ([sign("a"), sign("b")], None, "none"),
    ([sign("a"), sign("a"), sign("b", gateway=True)], "b", "certain"),
    ([sign("a"), sign("b", gateway=True, weak=True)], "a", "certain"),
    ([sign("a", gateway=True), sign("b", gateway=True)], None, "none"),
)


@pytest.mark.parametrize(("met", "profile", "certainty"), NAMED)
def test_named_profile_is_sure(met: list[Fingerprint], profile: str | None, certainty: str) -> None:
    assert named(met) == (profile, certainty)


UUID = "6ddfbb47-99c8-1430-d8bb-896bd9e00a4e"
OPEN_ = {"delta": {"role": "assistant", "content": "Hi"}, "index": 0}
CHUNK = {"id": "a", "object": "chat.completion.chunk", "created": 1, "model": "m"}
FILTERED = {"choices": [], "created": 0, "id": "", "model": "", "prompt_filter_results": []}
GROK = {**CHUNK, "id": UUID, "model": "grok-4-fast"}
DEEP = {**CHUNK, "id": UUID, "model": "deepseek-chat", "choices": []}
PASSED = {"reasoning_text": "so", "reasoning_opaque": "zz"}
USED = {"usage": {"total_tokens": 3}, "choices": [{"index": 0, "delta": {}}]}
OWN = {"choices": [{"index": 0, "delta": {"provider_specific_fields": {}}}]}
CLAUDE = {"type": "message", "role": "assistant", "model": "claude-haiku-4-5", "content": []}
NOTHING = {"input_tokens": 0, "output_tokens": 0}
UNCACHED = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}

# What a stream holds, and who sent it.
SENT: tuple[tuple[str, dict[str, Any], str | None, str], ...] = (
    ("azure", {**FILTERED, "object": ""}, "azure", "certain"),
    ("copilot", FILTERED, "copilot", "certain"),
    ("xai", {**GROK, "choices": [OPEN_]}, "xai", "certain"),
    ("xai in a region", {**GROK, "id": f"{UUID}_us-east-1", "choices": [OPEN_]}, "xai", "certain"),
    (
        "grok on azure",
        {**GROK, "choices": [{**OPEN_, "content_filter_results": {}}]},
        "azure-grok",
        "certain",
    ),
    ("deepseek", {**DEEP, "system_fingerprint": "fp_8802369eaa"}, "deepseek", "certain"),
    ("a model of deepseek anywhere", DEEP, None, "none"),
    (
        "its usage anywhere",
        {**CHUNK, "choices": [], "usage": {"prompt_cache_hit_tokens": 0}},
        "deepseek",
        "guess",
    ),
    ("litellm by a habit", {**CHUNK, **USED}, "litellm", "guess"),
    ("litellm", {**CHUNK, **OWN}, "litellm", "certain"),
    (
        "cloudflare before sglang",
        {**CHUNK, "choices": [{**OPEN_, "matched_stop": None}], "usage": {"neurons": 0.1}},
        "cloudflare",
        "certain",
    ),
    (
        "databricks",
        {
            **CHUNK,
            "choices": [{"index": 0, "delta": {"content": [{"type": "reasoning", "summary": []}]}}],
        },
        "databricks",
        "guess",
    ),
    (
        "writer",
        {**CHUNK, "choices": [{"index": 0, "delta": {"graph_data": None, "llm_data": None}}]},
        "writer",
        "certain",
    ),
    (
        "transformers 4.57",
        {**CHUNK, "id": "req_0", "model": "m@main", "choices": [OPEN_]},
        "transformers-serve-4",
        "certain",
    ),
)


@pytest.mark.parametrize(
    ("chunk_", "profile", "certainty"), [row[1:] for row in SENT], ids=[row[0] for row in SENT]
)
def test_sender_of_a_chunk(
    chunk_: dict[str, Any], profile: str | None, certainty: str, tmp_path: Path
) -> None:
    identity = identified(written(tmp_path / "a.sse", [chunk_]), CHAT).identity
    assert (identity.profile, identity.certainty) == (profile, certainty)


def test_sender_is_reported_by_the_order_of_its_keys(tmp_path: Path) -> None:
    ordered = {"id": "a", "created": 1, "model": "m", "object": CHUNK["object"], "choices": [OPEN_]}
    identity = identified(written(tmp_path / "a.sse", [ordered])).identity
    assert (identity.profile, identity.certainty) == ("litellm", "certain")


def test_gateway_is_named_by_its_own_signs_not_by_those_it_passes_on(tmp_path: Path) -> None:
    thought = {**CHUNK, "choices": [{"index": 0, "delta": PASSED}]}
    identity = identified(written(tmp_path / "a.sse", [thought, {**CHUNK, **OWN}])).identity
    assert (identity.profile, identity.certainty) == ("litellm", "certain")
    assert set(identity.rivals) == {"copilot"}


LITELLM = "resp_bGl0ZWxsbTpj"
OF_LITELLM = {"type": "response.created", "response": {"id": LITELLM}, "model": "m"}
CREATED: tuple[tuple[dict[str, Any], str | None, str], ...] = (
    ({**OF_LITELLM, "sequence_number": 0}, "litellm", "certain"),
    (OF_LITELLM, "litellm-bridge", "certain"),
    (
        {"type": "response.completed", "response": {"id": "r", "usage": {"is_byok": False}}},
        "openrouter",
        "certain",
    ),
    (
        {
            "type": "response.completed",
            "response": {"id": f"resp_{'0a' * 24}", "output": [{"id": "rs_3yo6zy4vu4hq6iegqwhn1"}]},
        },
        "lmstudio",
        "certain",
    ),
    (
        {"type": "response.created", "response": {"id": "resp_req_0", "model": "m@main"}},
        "transformers-serve-4",
        "certain",
    ),
    ({"type": "response.created", "response": {"id": UUID, "model": "deepseek-r1"}}, None, "none"),
)


@pytest.mark.parametrize(("event", "profile", "certainty"), CREATED)
def test_sender_of_a_response(
    event: dict[str, Any], profile: str | None, certainty: str, tmp_path: Path
) -> None:
    path = tmp_path / "a.sse"
    path.write_text(f"data: {json.dumps(event)}\n\n", encoding="utf-8")
    identity = identified(path).identity
    assert (identity.profile, identity.certainty) == (profile, certainty)


STARTED: tuple[tuple[str, dict[str, Any], str | None, str], ...] = (
    ("msg_01NRaPKFsBgXPbFwKfCoVHRG", CLAUDE, "anthropic", "certain"),
    ("msg_01NRaPKFsBgXPbFwKfCoVHRG", {**CLAUDE, "model": "mine"}, None, "none"),
    ("msg_bdrk_018UxgtQKbfUREYdX6y3Cf87", CLAUDE, "bedrock", "certain"),
    ("msg_vrtx_017KKNPUtd6PJZpJQ9mtj9rU", CLAUDE, "vertex", "certain"),
    (
        "msg_1",
        {**CLAUDE, "usage": {"inference_geo": "us", "service_tier": "standard"}},
        "anthropic",
        "guess",
    ),
    (f"msg_{UUID}", {**CLAUDE, "usage": {**NOTHING, **UNCACHED}}, "litellm", "certain"),
    (f"msg_{UUID}", {**CLAUDE, "usage": NOTHING}, None, "none"),
)


@pytest.mark.parametrize(("ident", "message", "profile", "certainty"), STARTED)
def test_sender_of_a_message(
    ident: str, message: dict[str, Any], profile: str | None, certainty: str, tmp_path: Path
) -> None:
    start = {"type": "message_start", "message": {"id": ident, **message}}
    path = tmp_path / "a.sse"
    path.write_text(f"event: message_start\ndata: {json.dumps(start)}\n\n", encoding="utf-8")
    identity = identified(path).identity
    assert (identity.profile, identity.certainty) == (profile, certainty)


def test_a_clean_stream_without_signs_has_no_profile(tmp_path: Path) -> None:
    identity = identified(written(tmp_path / "a.sse", PRIVATE)).identity
    assert (identity.profile, identity.certainty, identity.signs) == (None, "none", ())


def test_rivals_are_reported_next_to_the_profile() -> None:
    witness = Witness(CHAT, Signs(fingerprints(CHAT)))
    data = {"x_groq": {}, "obfuscation": "zz", "id": "a"}
    witness.see(Event("chat.chunk", data, 1, "wire"))
    identity = witness.identity()
    assert (identity.profile, identity.signs) == ("groq", ("x_groq",))
    assert identity.rivals == {"openai": ("obfuscation",)}
