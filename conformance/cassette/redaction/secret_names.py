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
    }
)
# With whatever before them: OPENAI_API_KEY, dbPassword.
_ENDINGS: Final = (
    *("apikey", "secret", "password", "passwd", "accesstoken", "refreshtoken", "authtoken"),
    *("apitoken", "sessiontoken", "secretkey", "privatekey", "secretaccesskey", "bearertoken"),
)
# Without one of these there is no such name.
SIGN: Final = (
    r"(?i:(?:api|secret|private|signing|encryption|storage|account|access)[_. -]?key"
    r"|passw|passphrase|\bpwd\b|secret|authorization|credential|cookie|\bjwt\b"
    r"|connection[_. -]?string|token\\*\")"
)
FAST_SIGN: Final = SIGN.replace(r"\b", r"(?-u:\b)")
"""The same for Rust's engine, which takes a hundred times as long for a word of any script."""

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
    """Whether what stands under this name is a secret."""
    if len(name) > _LONGEST:
        return False
    plain = name.decode("latin-1").lower().translate(_SEPARATORS)
    return plain in _NAMES or plain.endswith(_ENDINGS)


def is_secret_value(name: bytes, value: bytes) -> bool:
    """Whether this value is one, as names say: a `token` may be one of a text."""
    return name.decode("latin-1").lower() != "token" or is_token(value)


def is_token(value: bytes) -> bool:
    """Whether this looks like one, whatever its name."""
    return _TOKEN.fullmatch(value) is not None


def name_rule(name: bytes) -> str:
    """The redaction rule of such a name."""
    return f"field.{name.decode('latin-1').lower()}"
