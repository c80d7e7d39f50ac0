"""`conformance run` where URL, key or way are wrong: what is told, and the exit codes."""

from __future__ import annotations

import http.server
import shutil
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from conformance.cli import main
from tests.targets.test_record_direct import certificate

JSON = "application/json"
PAGE = b"<!doctype html><title>Some &amp; Chat</title>"
HTTP_2_SETTINGS = b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x64"
KEY_HINT = "(name the key's variable with --api-key-env, another header with --api-key-header)"


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)


@contextmanager
def answering(
    status: int, kind: str, body: bytes, headers: Mapping[str, str] | None = None, pem: str = ""
) -> Iterator[str]:
    """A server that answers every request alike; gives where it listens."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(status)
            fields = {"content-type": kind, "content-length": str(len(body)), **(headers or {})}
            for name, value in fields.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815  # the server calls it so

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        if pem:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(pem)
            server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


@contextmanager
def saying(data: bytes) -> Iterator[str]:
    """A server that says the same to whoever connects, and leaves."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(data)

        threading.Thread(target=serve, daemon=True).start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"


ANSWERS = [
    # status, content type, body, headers; what is told, without --model and with it; exit codes
    (401, JSON, b'{"error": {"message": "No key"}}', {}, "HTTP 401: No key " + KEY_HINT, "", 3, 3),
    (403, JSON, b"{}", {}, "HTTP 403 " + KEY_HINT, "", 3, 3),
    (404, JSON, b"{}", {}, "lists no model: HTTP 404 at /v1/models", "HTTP 404 at /v1/", 2, 3),
    (
        200,
        "text/html",
        PAGE,
        {},
        "a web page came, no API's answer (HTTP 200, 'Some & Chat')",
        "",
        3,
        3,
    ),
    (
        301,
        "text/html",
        b"",
        {"location": "https://u:p@h.example/v2?key=k"},
        "HTTP 301 redirects to https://h.example/v2 (name that address with --url)",
        "",
        3,
        3,
    ),
]


@pytest.mark.parametrize("model", [[], ["--model", "m"]], ids=["listed", "named"])
@pytest.mark.parametrize("answer", ANSWERS, ids=["401", "403", "404", "a web page", "a redirect"])
def test_what_is_no_api_is_reported_as_what_it_is(
    answer: tuple[int, str, bytes, dict[str, str], str, str, int, int],
    model: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    status, kind, body, headers, listed, named, code_listed, code_named = answer
    with answering(status, kind, body, headers) as address:
        code = main(["run", "--url", f"http://{address}", *model])
    assert code == (code_named if model else code_listed)
    printed = capsys.readouterr().err
    assert ((named or listed) if model else listed) in printed
    assert "u:p" not in printed
    assert "key=k" not in printed


def test_whole_endpoint_is_its_api_at_its_base(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with answering(404, JSON, b"{}") as address:
        url = f"http://{address}/v1/chat/completions/"
        assert main(["run", "--url", url, "--model", "m"]) == 3
        assert "openai.chat: the target has no such API: HTTP 404 at /v1/chat/completions " in (
            capsys.readouterr().err
        )
        assert main(["run", "--url", url, "--model", "m", "--api", "responses"]) == 2
    assert "--url names the endpoint of chat (--api chat, or none)" in capsys.readouterr().err


def test_endpoint_of_two_apis_is_reported_by_its_base(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["run", "--url", "http://h.invalid/api/chat", "--model", "m", "--plan"]) == 0
    assert capsys.readouterr().out.startswith("ollama.chat, ")


@pytest.mark.parametrize(
    ("variables", "code", "message"),
    [
        (
            {"HTTP_PROXY": "http://u:p@127.0.0.1:1"},
            3,
            "asked through the proxy 127.0.0.1:1 (unset HTTP_PROXY, or name the host in NO_PROXY)",
        ),
        ({"ALL_PROXY": "ftp://h"}, 2, "the environment's proxy cannot be used: "),
    ],
)
def test_a_proxy_of_the_environment_is_named(
    variables: dict[str, str],
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert main(["run", "--url", "http://127.0.0.1:9", "--model", "m"]) == code
    assert message in capsys.readouterr().err


def test_http_2_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with saying(HTTP_2_SETTINGS) as address:
        assert main(["run", "--url", f"http://{address}", "--model", "m"]) == 3
    printed = capsys.readouterr().err
    assert "maybe HTTP/2 without TLS, or another protocol (name a port" in printed


def test_tls_where_none_is_spoken_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    with answering(404, JSON, b"{}") as address:
        assert main(["run", "--url", f"https://{address}", "--model", "m"]) == 3
    assert "(no TLS is spoken there; try http://)" in capsys.readouterr().err


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl for a certificate")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "TLS failed: self-signed certificate (--cacert FILE names"),
        (["--insecure"], "HTTP 404 at"),
        (["--cacert", "PEM"], "HTTP 404 at"),
    ],
)
@pytest.mark.parametrize("verb", ["run", "record"])
def test_a_self_signed_certificate_is_reported_and_can_be_trusted(
    verb: str, options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pem = str(certificate(tmp_path))
    call = ["run", "--model", "m"]
    if verb == "record":
        (tmp_path / "body.json").write_text("{}")
        out = str(tmp_path / "a.cassette.jsonl")
        call = ["record", "--request", str(tmp_path / "body.json"), "--api", "chat", "-o", out]
        message = message.replace("HTTP 404 at", "POST /v1/chat/completions: 404")
    with answering(404, JSON, b"{}", pem=pem) as address:
        given = [pem if each == "PEM" else each for each in options]
        main([*call, "--url", f"https://{address}", *given])
    out, err = capsys.readouterr()
    assert message in out + err


@pytest.mark.parametrize(
    ("status", "kind", "hint"),
    [
        (301, "text/html", "The target's URL must be the one that it redirects to."),
        (200, "text/html", "The target's URL must be the base of its API"),
        (418, JSON, "--without CAPABILITY"),
    ],
)
def test_a_finding_names_the_option_of_its_case_and_shows_the_request(
    status: int, kind: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with answering(status, kind, PAGE, {"location": "/elsewhere"}) as address:
        code = main(["run", "--url", f"http://{address}", "--model", "m", "--api", "chat", "-v"])
    out = capsys.readouterr().out
    assert code == 1
    assert hint in out
    assert '       0  http.request   POST /v1/chat/completions {"model": "m", ' in out
