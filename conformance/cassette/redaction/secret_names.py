"""Names of fields whose values are secrets, in whatever case and with whatever separators."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

import jsonschema_rs

_SEPARATORS: Final = str.maketrans("", "", "_-. ")
_NAMES: Final = frozenset(
    {
        *("authorization", "proxyauthorization", "cookie", "setcookie", "credential"),
        *("credentials", "idtoken", "jwt", "passphrase", "pwd", "token", "connectionstring"),
        *("xapikey", "securitytoken", "bearertoken", "privatekeypem", "signingkey"),
        *("encryptionkey", "accesskeyid", "storagekey", "accountkey", "sharedaccesskey"),
        *("auth", "pass", "pat"),
    }
)
# With whatever before them: OPENAI_API_KEY, dbPassword.
_ENDINGS: Final = (
    *("apikey", "secret", "password", "passwd", "accesstoken", "refreshtoken", "authtoken"),
    *("apitoken", "sessiontoken", "secretkey", "privatekey", "secretaccesskey", "bearertoken"),
    *("subscriptionkey", "masterkey", "authkey", "accesskeyid"),
)
_COUNTED: Final = re.compile(r"s?[0-9]{0,2}\Z")  # OPENAI_API_KEY_2, apiKeys
# What may be called so and be none: a token of a text, a kind of pass.
_DOUBTFUL: Final = frozenset({"token", "auth", "pass", "pat"})
# Without one of these there is no such name.
SIGN: Final = (
    r"(?i:(?:api|secret|private|signing|encryption|storage|account|access|subscription|master"
    r"|auth)[_. -]?key"
    r"|passw|passphrase|\bpwd\b|secret|authorization|credential|cookie|\bjwt\b"
    r"|connection[_. -]?string|(?:token|auth|pass|pat)\\*\")"
)
FAST_SIGN: Final = SIGN.replace(r"\b", r"(?-u:\b)")
"""The same for Rust's engine, which takes a hundred times as long for a word of any script."""

# Headers that carry a credential, and the last words of names that do.
_HEADERS: Final = frozenset({"authorization", "proxy-authorization", "cookie", "set-cookie"})
_LAST_WORDS: Final = frozenset(
    {
        *("key", "apikey", "token", "secret", "auth", "authorization", "password", "passwd", "pwd"),
        *("credential", "cookie", "jwt", "bearer", "pat", "sig", "passphrase"),
    }
)
_LONGEST: Final = 64
# What a token is: a word of a model's vocabulary is none.
_TOKEN: Final = re.compile(rb"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[A-Za-z0-9._~+/=:-]{16,}")


def may_have_names(text: bytes) -> bool:
    """Whether such a name may be in there. False is certain."""
    return _sign_validator().is_valid(text.decode("latin-1"))


def search_validator(*patterns: str) -> jsonschema_rs.Validator:
    """Valid is a text in which one of these patterns is found.

    Python's own engine takes fifty times as long where nothing stands fast, or for so many.
    """
    schema = {"type": "string", "pattern": "|".join(patterns)}
    return jsonschema_rs.validator_for(schema, pattern_options=jsonschema_rs.RegexOptions())


@cache
def _sign_validator() -> jsonschema_rs.Validator:
    return search_validator(FAST_SIGN)


def is_secret_name(name: bytes) -> bool:
    if len(name) > _LONGEST:
        return False
    plain = name.decode("latin-1").lower().translate(_SEPARATORS)
    return _is_name(plain) or _is_name(_COUNTED.sub("", plain))


def _is_name(plain: str) -> bool:
    return plain in _NAMES or plain.endswith(_ENDINGS)


def names_secret_header(name: str) -> bool:
    """Whether a header of this name carries a credential: its last word says so."""
    plain = name.lower()
    last = re.split(r"[-_.]", plain.rstrip("0123456789-_"))[-1]
    last = last if last == "tokens" else last.removesuffix("s")  # `x-max-tokens` counts
    raw = plain.encode("utf-8", "replace")
    return plain in _HEADERS or last in _LAST_WORDS or is_secret_name(raw)


def is_secret_value(name: bytes, value: bytes) -> bool:
    """Whether this value is one, as names say: a `token` may be one of a text."""
    return name.decode("latin-1").lower() not in _DOUBTFUL or is_token(value)


def is_token(value: bytes) -> bool:
    """Whether this looks like one, whatever its name."""
    return _TOKEN.fullmatch(value) is not None


def name_rule(name: bytes) -> str:
    return f"field.{name.decode('latin-1').lower()}"
