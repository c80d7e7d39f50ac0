"""Fields with telling names, in whatever case, and whole subtrees; shapes that vendors publish."""

from __future__ import annotations

import json

import pytest

from conformance.cassette import Redactor
from conformance.cassette.redaction.key_shapes import KEY_SHAPES, KeyShape

HEX = "0123456789abcdef" * 2
MIX = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv"
# Written in pieces, so that nobody's search for secrets finds them here; none was ever valid.
SHAPES = {
    "vault": "hv" + "s." + MIX,
    "notion": "nt" + "n_" + MIX + MIX,
    "shopify": "shp" + "at_" + HEX,
    "linear": "lin" + "_api_" + MIX + MIX[:8],
    "doppler": "dp" + ".pt." + MIX + MIX[:11],
    "telegram": "123456789" + ":AA" + MIX + "x",
    "twilio": "S" + "K" + HEX,
    "azure": "Account" + "Key=" + MIX + MIX + "==",
    "jwe": "ey" + "JhbGciOiJSU0EifQ." + MIX + "." + MIX[:16] + "." + MIX + "." + MIX[:22],
    "sigv4": "Signa" + "ture=" + HEX * 2,
    "elevenlabs": "sk" + "_" + HEX + HEX[:16],
    "langfuse": "pk" + "-lf-12345678-abcd-ef01-2345-6789abcdef01",
    "airtable": "pa" + "t" + MIX[:14] + "." + HEX * 2,
    "azure secret": "abc" + "8Q~" + MIX,
    "terraform": MIX[:14] + ".atla" + "sv1." + MIX * 2,
}
NAMES = (
    *("API_KEY", "Password", "token", "secret", "client_secret", "clientSecret", "apiKey"),
    *("OPENAI_API_KEY", "db-password", "Refresh-Token", "credentials", "private_key", "passwd"),
)
SECRET = "n0-shape-at-all-7"


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("frame", ["%s", 'data: {"delta":{"content":"it is %s now"}}\n\n'])
def test_a_published_shape_is_found(name: str, frame: str) -> None:
    redactor = Redactor()
    body = (frame % SHAPES[name]).encode()
    clean = redactor.body(body)
    assert SHAPES[name].encode() not in clean
    assert SHAPES[name][-8:].encode() not in clean
    assert len(clean) == len(body)
    assert Redactor().body(clean) == clean


@pytest.mark.parametrize("shape", KEY_SHAPES, ids=lambda shape: shape.rule)
def test_every_prefix_is_reported(shape: KeyShape) -> None:
    kinds = (("A-Z", "A"), ("a-z", "a"), ("0-9", "1"), ("2-7", "2"), ("a-f", "b"))
    made = "".join(one for kind, one in kinds if kind in shape.characters) * 90
    for prefix in shape.prefixes:
        assert made.encode() not in Redactor().body(f"see {prefix}{made} there".encode()), prefix


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [SECRET, [SECRET], {"value": SECRET, "more": [{"x": SECRET}]}])
def test_the_name_of_a_secret_covers_all_below_it(name: str, value: object) -> None:
    body = json.dumps({"input": {name: value, "city": "Paris"}}).encode()
    clean = Redactor().body(body)
    assert SECRET.encode() not in clean
    assert b'"city": "Paris"' in clean
    json.loads(clean)


@pytest.mark.parametrize(
    "value",
    [
        {"usage": {"completion_tokens": 17, "prompt_tokens_details": {"cached_tokens": 1}}},
        {"max_tokens": 12, "tokens": ["a", "b"], "token_type": "text"},
        {"logprobs": {"content": [{"token": "internationalisation", "bytes": None}]}},
        {"token": "                    ", "is_secret": False, "keys": ["a"]},
        {"properties": {"password": {"type": "string", "description": "at least 8 characters"}}},
        {"required": ["password", "token"], "text": "my secret is that I like authorization"},
    ],
)
def test_other_fields_stay(value: object) -> None:
    body = json.dumps(value).encode()
    assert Redactor().body(body) == body
