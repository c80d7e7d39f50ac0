"""Requests signed for AWS: what arrives has the signature that botocore gives it."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from conformance.cassette import open_recording
from conformance.cli import main
from conformance.core.errors import UsageError
from conformance.core.events import Request
from conformance.targets.aws_signing import AwsSigner, aws_signer
from conformance.targets.server import LiveServer
from tests.reference.client_server import Script, SentRequest, playing

auth = pytest.importorskip("botocore.auth")
awsrequest = pytest.importorskip("botocore.awsrequest")
credentials_of = pytest.importorskip("botocore.credentials")

MODEL = "us.anthropic.claude-opus-4-5-20251101-v1:0"
BODY = {"messages": [{"role": "user", "content": [{"text": "Zwölf?"}]}]}
ANSWER = Script((b'{"message":"no"}',), 400, "application/json")


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "a-session-token-of-an-example")


def assert_signed(asked: SentRequest, base_url: str) -> None:
    """What came is signed as it came: path, host, body and time."""
    sent = asked.headers["authorization"]
    names = sent.split("SignedHeaders=")[1].partition(",")[0].split(";")
    assert {"host", "content-type", "x-amz-date", "x-amz-security-token"} <= set(names)
    body = json.dumps(asked.json, ensure_ascii=False).encode()
    headers = {name: asked.headers[name] for name in names}
    url = base_url.removesuffix("/v1") + asked.path
    request = awsrequest.AWSRequest(method="POST", url=url, headers=headers, data=body)
    request.context["timestamp"] = asked.headers["x-amz-date"]
    secret = "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY"
    known = credentials_of.Credentials("AKIDEXAMPLE", secret)
    signs = auth.SigV4Auth(known, "bedrock", "eu-west-1")
    text = signs.string_to_sign(request, signs.canonical_request(request))
    assert sent.endswith(f"Signature={signs.signature(text, request)}")
    assert "/eu-west-1/bedrock/aws4_request" in sent


@pytest.mark.usefixtures("credentials")
def test_a_live_request_is_signed_as_it_arrives() -> None:
    async def ask(url: str) -> None:
        async with LiveServer(url, signer=AwsSigner("eu-west-1")) as server:
            path = f"/model/{MODEL.replace(':', '%3A')}/converse-stream"
            await server.fetch(Request("POST", path, (), BODY))

    with playing(ANSWER) as played:
        asyncio.run(ask(played.base_url.removesuffix("/v1")))
    (asked,) = played.asked
    assert_signed(asked, played.base_url)


@pytest.mark.usefixtures("credentials")
def test_a_recorded_request_is_signed_and_its_signature_is_not_kept(tmp_path: Path) -> None:
    target = tmp_path / "made.cassette.jsonl"
    (tmp_path / "body.json").write_text(json.dumps(BODY), encoding="utf-8")
    with playing(ANSWER) as played:
        url = played.base_url.removesuffix("/v1")
        options = ["--api", "bedrock", "--model", MODEL, "--aws-region", "eu-west-1"]
        request = ["--request", str(tmp_path / "body.json")]
        main(["record", "--url", url, *request, "-o", str(target), *options])
    (asked,) = played.asked
    assert_signed(asked, played.base_url)
    assert len(open_recording(target).exchanges) == 1
    kept = target.read_text("utf-8")
    hidden = ("AKIDEXAMPLE", asked.headers["authorization"], "a-session-token-of-an-example")
    assert [each for each in hidden if each in kept] == []


def test_what_is_missing_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    with pytest.raises(UsageError, match=r"\$AWS_ACCESS_KEY_ID and .* hold no credentials"):
        AwsSigner("us-east-1")
    with pytest.raises(UsageError, match="'here' is no region"):
        AwsSigner("here")
    with pytest.raises(UsageError, match="do not go together"):
        aws_signer("us-east-1", "NAME")
    assert aws_signer(None, "NAME") is None
    monkeypatch.setitem(sys.modules, "botocore.auth", None)
    with pytest.raises(UsageError, match="needs botocore"):
        AwsSigner("us-east-1")
