"""Values behind telling names in text, in parts of forms, and what only looks like one."""

from __future__ import annotations

import pytest

from conformance.cassette import Redactor

VALUE = "Zk9Qm3vX7Lr5tYpW8sBnHd2kLmN4pQ"
TEXTS = (
    *("client_secret={}", "grant_type=x&client_secret={}&y=1", "subscription-key={}", "auth={}"),
    *("sig={}", "X-Api-Key: {}", "Ocp-Apim-Subscription-Key: {}", "Authorization: Token {}"),
    *("--api-key {}", "--token={}", "password: {}", "OPENAI_API_KEY_2={}", "GH_PAT={}"),
    *("DB_PASS='{}'", 'curl -H "x-api-key: {}"', "cookie: sid={}; a=b", "{{'api_key': '{}'}}"),
    *('{{"subscription_key":"{}"}}', '{{"apiKeys":["{}"]}}', '{{"auth":"{}"}}'),
    'content-disposition: form-data; name="api_key"\r\n\r\n{}\r\n--b--',
    'form-data; name=\\"api_key\\"\\r\\ncontent-type: text/plain\\r\\n\\r\\n{}\\r\\n--b--',
)
DISCORD = (
    "M" + "TAxNDU2Nzg5MDEyMzQ1Njc4" + ".GaBcDe." + "aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789_-",
    "mf" + "a." + "aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789_-" * 2,
)
HARMLESS = (
    *("token: internationalisation", "auth: required, see below", "password=os.environ['X']"),
    *("api_key=settings.openai_api_key", "token=request.headers.get('x')", "secret=${MY_SECRET}"),
    *("password: correct-horse", "a monkey=Zk9Qm3vX7Lr5tYpW8sBn", "design=Zk9Qm3vX7Lr5tYpW8sBn"),
    *('{"pass": true, "pat": "a pat on the back"}', "--pass-through some-long-word-2"),
)


@pytest.mark.parametrize("text", TEXTS)
def test_a_value_after_its_name_is_found(text: str) -> None:
    spelled = text.format(VALUE)
    clean = Redactor().text(spelled)
    assert VALUE[2:] not in clean
    assert len(clean) == len(spelled)
    assert Redactor().text(clean) == clean


@pytest.mark.parametrize("token", DISCORD)
def test_tokens_of_discord_are_found(token: str) -> None:
    assert token[5:] not in Redactor().text(f"log in with {token} now")


@pytest.mark.parametrize("text", HARMLESS)
def test_words_and_expressions_stay(text: str) -> None:
    assert Redactor().text(text) == text
