"""The host of a recorded URL says who answered; a request says which variant of its ways."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.cassette import open_recording, write
from conformance.cassette.header import Header
from conformance.cassette.redaction.public_hosts import is_public
from conformance.core.events import Event, Exchange, Request, Response
from conformance.identify import named
from conformance.judging.result import StreamResult
from conformance.profiles.fingerprints import Signs, Watch
from conformance.profiles.lookup import available, find, fingerprints
from conformance.recordings.check import check_paths
from conformance.recordings.choices import recorded_month
from tests.profiles.identifying import CHAT, identified, written

CHUNK = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
SAID = {"index": 0, "delta": {"role": "assistant", "content": "Yes."}, "finish_reason": "stop"}


def recorded(
    folder: Path, url: str, asked: dict[str, Any] | None = None, date: str = "", **more: Any
) -> StreamResult:
    """A stream that VCR kept, judged."""
    chunk = {**CHUNK, "choices": [SAID], **more}
    body = f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n"
    request = {"model": "m", "messages": [], "stream": True, **(asked or {})}
    head = {"content-type": ["text/event-stream"], "date": [date]}
    interaction = {
        "request": {"method": "POST", "uri": url, "headers": {}, "body": json.dumps(request)},
        "response": {"status": {"code": 200}, "headers": head, "body": {"string": body}},
    }
    path = folder / "vcr.json"
    path.write_text(json.dumps({"interactions": [interaction], "version": 1}), encoding="utf-8")
    (stream,) = check_paths([path]).streams
    return stream


@pytest.mark.parametrize(
    ("url", "profile"),
    [
        ("https://api.z.ai/api/paas/v4/chat/completions", "zai"),
        ("https://api.cerebras.ai/v1/chat/completions", "cerebras"),
        ("https://api.xiaomimimo.com/v1/chat/completions", "xiaomi"),
        ("https://api.hunyuan.cloud.tencent.com/v1/chat/completions", "hunyuan"),
        ("https://ark.cn-beijing.volces.com/api/v3/chat/completions", "volcengine"),
        ("https://acme.openai.azure.com/openai/deployments/m/chat/completions", "azure"),
        ("https://adb-1.azuredatabricks.net/serving-endpoints/chat/completions", "databricks"),
        ("https://api.cloudflare.com/client/v4/accounts/a/ai/v1/chat/completions", "cloudflare"),
        ("https://openrouter.ai/api/v1/chat/completions", "openrouter"),
        ("https://text.pollinations.ai/openai", "pollinations"),
        ("https://user:pass@api.groq.com:443/openai/v1/chat/completions", "groq-raw"),
        ("https://api.z.ai.example.com/chat/completions", "strict"),
        ("https://example.com/api.z.ai/chat/completions", "strict"),
        ("http://127.0.0.1:8000/v1/chat/completions", "strict"),
        ("/v1/chat/completions", "strict"),
    ],
)
def test_host_of_a_recorded_url_names_the_system(url: str, profile: str, tmp_path: Path) -> None:
    assert recorded(tmp_path, url).profile == profile


@pytest.mark.parametrize(
    ("model", "profile"),
    [
        ("us.anthropic.claude-sonnet-5", "claude"),
        ("arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fus.amazon.nova-lite", "nova"),
        ("us.amazon.nova-2-lite-v1%3A0", "nova-2"),
        ("openai.gpt-oss-120b-1%3A0", "gpt-oss"),
        ("deepseek.r1-v1%3A0", "deepseek"),
        ("qwen.qwen3-32b-v1%3A0", "qwen"),
        ("think-1", "strict"),
    ],
)
def test_model_that_the_path_names_decides(model: str, profile: str, tmp_path: Path) -> None:
    """A body that lacks its signatures has no other sign of the model that signs."""
    answer = {
        "output": {"message": {"role": "assistant", "content": [{"text": "Yes."}]}},
        "stopReason": "end_turn",
    }
    url = f"https://bedrock-runtime.us-east-1.amazonaws.com/model/{model}/converse"
    interaction = {
        "request": {"method": "POST", "uri": url, "headers": {}, "body": '{"messages": []}'},
        "response": {"status": {"code": 200}, "body": {"string": json.dumps(answer)}},
    }
    path = tmp_path / "vcr.json"
    path.write_text(json.dumps({"interactions": [interaction], "version": 1}), encoding="utf-8")
    (stream,) = check_paths([path]).streams
    assert stream.profile == profile


def test_gateway_is_named_by_its_host_whatever_it_passes_on(tmp_path: Path) -> None:
    stream = recorded(
        tmp_path, "https://openrouter.ai/api/v1/chat/completions", x_groq={"id": "req_1"}
    )
    assert stream.profile == "openrouter"


def test_host_and_a_sign_of_another_system_name_none(tmp_path: Path) -> None:
    stream = recorded(
        tmp_path, "https://api.openai.com/v1/chat/completions", x_groq={"id": "req_1"}
    )
    assert stream.profile == "strict"


@pytest.mark.parametrize(
    ("asked", "profile"),
    [
        ({}, "groq-raw"),
        ({"reasoning_format": "raw"}, "groq-raw"),
        ({"reasoning_format": "parsed"}, "groq"),
        ({"model": "openai/gpt-oss-20b"}, "groq"),
    ],
)
def test_request_names_its_variant(asked: dict[str, Any], profile: str, tmp_path: Path) -> None:
    url = "https://api.groq.com/openai/v1/chat/completions"
    stream = recorded(tmp_path, url, asked)
    assert stream.profile == profile
    assert ("a variant of groq" in " ".join(stream.notes)) is (profile == "groq-raw")


def test_a_sign_that_is_a_habit_silences_nothing(tmp_path: Path) -> None:
    empty = {"index": 0, "delta": {}}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    chunk = {"object": "chat.completion.chunk", "id": "c1", "created": 1, "model": "m"}
    body = [{**chunk, "choices": [SAID]}, {**chunk, "choices": [empty], "usage": usage}]
    path = tmp_path / "answer.sse"
    lines = "".join(f"data: {json.dumps(each)}\n\n" for each in body)
    path.write_text(f"{lines}data: [DONE]\n\n", encoding="utf-8")
    (stream,) = check_paths([path]).streams
    assert stream.profile == "strict"
    assert any(note.startswith("perhaps litellm, by a guess") for note in stream.notes)


def saved(url: str, folder: Path) -> str:
    """The server in a cassette that was made of a recording of this URL."""
    recorded(folder, url)
    path = folder / "saved.cassette.jsonl"
    write(path, open_recording(folder / "vcr.json").cassette)
    (exchange,) = open_recording(path).exchanges
    assert exchange.request is not None
    return exchange.request.server


def test_only_servers_that_everybody_knows_are_written(tmp_path: Path) -> None:
    assert saved("https://api.z.ai/api/paas/v4/chat/completions", tmp_path) == "https://api.z.ai"
    assert saved("https://llm.acme.example/v1/chat/completions", tmp_path) == ""
    assert saved("https://acme.openai.azure.com/openai/v1/chat/completions", tmp_path) == ""


def test_hosts_of_profiles_are_public_unless_customers_have_names_there() -> None:
    asked = [
        str(pattern["pattern"])
        for dialect in {dialect for _, dialect, _ in available()}
        for each in fingerprints(dialect)
        if each.event.types == ("http.request",)
        for path, pattern in each.event.conditions
        if path == "host"
    ]
    plain = [pattern[1:-1].replace("\\", "") for pattern in asked if "*" not in pattern]
    assert len(plain) > 30
    assert [host for host in plain if not is_public(host)] == []
    assert not is_public("acme.openai.azure.com")
    assert is_public("bedrock-runtime.eu-west-1.amazonaws.com")
    assert not is_public("acme.execute-api.eu-west-1.amazonaws.com")


def test_host_is_that_of_the_url_or_of_the_header() -> None:
    assert Request(server="https://API.x.ai:443").host == "api.x.ai"
    assert Request(headers=(("Host", "api.x.ai:443"),)).host == "api.x.ai"
    assert Request().host == ""


def test_every_variant_is_a_profile() -> None:
    for name, dialect, _ in available():
        for each in find(name, dialect).variants:
            assert find(each.profile, dialect).dialect == dialect


@pytest.mark.parametrize(
    ("dialect", "host", "profile"),
    [
        ("openai.responses", "chatgpt.com", "chatgpt-codex"),
        ("openai.responses", "openrouter.ai", "openrouter"),
        ("openai.chat", "api.individual.githubcopilot.com", "copilot"),
        ("openai.chat", "us-south.ml.cloud.ibm.com", "watsonx"),
        ("openai.chat", "coding.dashscope.aliyuncs.com", "dashscope"),
        ("openai.chat", "api.kimi.com", "moonshot"),
        ("anthropic.messages", "bedrock-runtime.eu-west-1.amazonaws.com", "bedrock"),
        ("anthropic.messages", "aiplatform.googleapis.com", "vertex"),
        ("gemini.generate", "us-central1-aiplatform.googleapis.com", "vertex"),
        ("ollama.chat", "ollama.com", "ollama-cloud"),
    ],
)
def test_host_is_a_sign_of_one_profile(dialect: str, host: str, profile: str) -> None:
    watch = Watch(Signs(fingerprints(dialect)))
    watch.see(Event("http.request", {"host": host}, 0, "transport"))
    assert named(watch.met) == (profile, "certain")


@pytest.mark.parametrize(("model", "profile"), [("openai/gpt-5", None), ("gpt-5", "openai")])
def test_openrouter_is_not_openai(model: str, profile: str | None, tmp_path: Path) -> None:
    own = {"id": "chatcmpl-" + "A" * 29, "obfuscation": "x", "service_tier": "default"}
    chunk = {**CHUNK, **own, "model": model, "choices": [SAID]}
    assert identified(written(tmp_path / "a.sse", [chunk]), CHAT).identity.profile == profile


@pytest.mark.parametrize(
    ("model", "profile"), [("claude-haiku-4.5", "copilot"), ("anthropic/claude-haiku-4.5", None)]
)
def test_copilot_shows_by_missing_object(model: str, profile: str | None, tmp_path: Path) -> None:
    bare = {key: value for key, value in CHUNK.items() if key != "object"}
    chunk = {**bare, "model": model, "choices": [SAID]}
    assert identified(written(tmp_path / "a.sse", [chunk]), CHAT).identity.profile == profile


def test_chat_is_the_dialect_of_these_profiles() -> None:
    names = {name for name, dialect, _ in available() if dialect == CHAT}
    assert names >= {"cerebras", "tgi", "baseten", "ai21", "cline", "aihubmix", "opencode-go"}


@pytest.mark.parametrize(
    ("date", "profile"),
    [
        ("Sun, 02 Mar 2025 05:50:44 GMT", "google-early"),
        ("Tue, 01 Apr 2025 00:00:00 GMT", "google"),
        ("soon", "google"),
        ("", "google"),
    ],
)
def test_old_answer_is_judged_by_ways_of_its_time(tmp_path: Path, date: str, profile: str) -> None:
    url = "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions"
    assert recorded(tmp_path, url, date=date).profile == profile


@pytest.mark.parametrize(
    ("date", "profile"),
    [("Sun, 02 Mar 2025 05:17:57 GMT", "xai-early"), ("Tue, 01 Apr 2025 00:00:00 GMT", "xai")],
)
def test_xai_had_other_ways_until_march_2025(tmp_path: Path, date: str, profile: str) -> None:
    assert recorded(tmp_path, "https://api.x.ai/v1/chat/completions", date=date).profile == profile


@pytest.mark.parametrize(
    ("date", "asked", "level"),
    [
        ("Thu, 05 Jun 2025 00:31:26 GMT", {}, "SHOULD"),
        ("Thu, 05 Jun 2025 00:31:26 GMT", {"think": True}, "MUST"),
        ("Sat, 01 Nov 2025 00:00:00 GMT", {}, "MUST"),
    ],
)
def test_ollama_left_tags_in_the_text_where_no_think_was_asked(
    tmp_path: Path, date: str, asked: dict[str, Any], level: str
) -> None:
    line = {"model": "q", "message": {"role": "assistant", "content": "<think>a</think>b"}}
    interaction = {
        "request": {
            "method": "POST",
            "uri": "http://localhost:11434/api/chat",
            "headers": {},
            "body": json.dumps({"model": "q", "messages": [], **asked}),
        },
        "response": {
            "status": {"code": 200},
            "headers": {"content-type": ["application/x-ndjson"], "date": [date]},
            "body": {"string": json.dumps({**line, "done": True, "done_reason": "stop"}) + "\n"},
        },
    }
    path = tmp_path / "vcr.json"
    path.write_text(json.dumps({"interactions": [interaction], "version": 1}), encoding="utf-8")
    (stream,) = check_paths([path], profile="ollama").streams
    levels = {each.rule: each.level for each in stream.findings}
    assert levels["stripping/visible-text/no-markers"] == level


@pytest.mark.parametrize(
    ("path", "profile"), [("api/v0", "lmstudio"), ("v1", "strict"), ("my/api/v0", "strict")]
)
def test_the_older_api_of_lm_studio_is_known_by_its_path(
    tmp_path: Path, path: str, profile: str
) -> None:
    assert recorded(tmp_path, f"http://127.0.0.1:1234/{path}/chat/completions").profile == profile


def test_a_server_does_not_say_in_which_year_it_is_judged() -> None:
    old = Response(200, headers=(("date", "Sun, 02 Mar 2025 05:50:44 GMT"),))
    exchange = Exchange(response=old)
    assert recorded_month(Header(origin="imported"), exchange) == "2025-03"
    assert recorded_month(Header(origin="live"), exchange) == ""
    assert recorded_month(Header(recorded_at="2026-11-27T10:00:00Z"), exchange) == "2026-11"
