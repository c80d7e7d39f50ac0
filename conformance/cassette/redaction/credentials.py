r"""Finds keys, tokens and account ids by their published shapes, in the bytes of a body or a path.

What a group holds is the secret; what is around it only says what it is. A key begins where
no character of a key is before it, or a JSON escape such as `\\n` does; so every run of key
characters is looked at once, and time is linear.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Final, NamedTuple

import jsonschema_rs

from conformance.cassette.redaction import named_values
from conformance.cassette.redaction.key_shapes import PATTERNS
from conformance.cassette.redaction.key_shapes import PREFIXES as PUBLISHED
from conformance.cassette.redaction.named_values import is_named_secret
from conformance.cassette.redaction.secret_names import search_validator

_START: Final = (
    rb"(?:(?<![A-Za-z0-9_-]%b)|(?<=\\[nrtbf]%b)|(?<=\\u[0-9a-fA-F]{4}%b)|(?<=%%[0-9A-F]{2}%b))"
)
# Characters that a shape begins with, and none that is repeated.
_LITERALS: Final = re.compile(rb"(?:[A-Za-z0-9_:$/=~-]|\\[-.$ ~])+(?![?*+{])")


def _starting_after(known: bytes) -> bytes:
    """What holds where these characters came, and a key could begin with them."""
    return _START.replace(b"%b", known).replace(b"%%", b"%")


def _anchored_shape(shape: bytes) -> bytes:
    """The shape where a key can begin; a search for characters is far faster than one for that."""
    literals = _LITERALS.match(shape)
    known = literals[0] if literals else b""
    return known + _starting_after(known) + shape[len(known) :]


# A key has a digit somewhere; without that, `sk-loading-indicator-icon` would be one.
_DIGIT: Final = rb"(?=[A-Za-z_-]{0,60}[0-9])"
# A string inside a string: its quotes are escaped, and what it holds is escaped twice.
_INNER: Final = rb'\\"[ \t]{0,8}:[ \t]{0,8}\\"'
_AUTHRESS: Final = (
    rb"[A-Za-z0-9]{5,30}\.[A-Za-z0-9]{4,6}\.acc[_-]([A-Za-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,}+)"
)
_HARNESS: Final = rb"([A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}+)"
_DISCORD: Final = r"[A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}"
# Rule, what must occur for the pattern to be tried at all, pattern.
_SHAPES: Final = (
    ("key.sk", b"sk-", rb"sk-(" + _DIGIT + rb"[A-Za-z0-9_-]{16,}+)"),
    ("key.sess", b"sess-", rb"sess-([A-Za-z0-9]{20,}+)"),
    *(
        ("key.stripe", kind, kind + rb"_(?:live|test|prod)_([A-Za-z0-9]{10,}+)")
        for kind in (b"sk", b"rk", b"pk")
    ),
    ("key.google", b"AIza", rb"AIza([A-Za-z0-9_-]{35,}+)"),
    ("key.google-oauth", b"ya29.", rb"ya29\.([A-Za-z0-9_.-]{20,}+)"),
    ("key.google-secret", b"GOCSPX-", rb"GOCSPX-([A-Za-z0-9_-]{20,}+)"),
    ("key.github", b"gh", rb"gh[pousr]_([A-Za-z0-9]{20,}+)"),
    ("key.github-pat", b"github_pat_", rb"github_pat_([A-Za-z0-9_]{20,}+)"),
    (
        "key.gitlab",
        b"gl",
        (
            rb"gl(?:pat|oas|dt|rtr?|ptt|cbt|soat|ffct|ft|imt|agent)-"
            rb"([A-Za-z0-9_-]{20,}+(?:\.[A-Za-z0-9_-]{2,}+){0,4}+)"
        ),
    ),
    ("key.slack", b"xox", rb"xox[abcdeoprs]-([A-Za-z0-9%/+-]{10,}+=*+)"),
    ("key.slack-app", b"xapp-", rb"xapp-([A-Za-z0-9-]{20,}+)"),
    ("key.aws", b"IA", rb"A[BKS]IA([A-Z0-9]{16}+)(?![A-Za-z0-9])"),
    ("key.aws", b"A3T", rb"A3T[A-Z0-9]([A-Z0-9]{16}+)(?![A-Za-z0-9])"),
    ("key.aws", b"ACCA", rb"ACCA([A-Z0-9]{16}+)(?![A-Za-z0-9])"),
    ("key.bedrock", b"ABSK", rb"ABSK([A-Za-z0-9+/]{40,}+=*+)"),
    ("key.huggingface", b"hf_", rb"hf_([A-Za-z0-9]{30,}+)"),
    ("key.groq", b"gsk_", rb"gsk_([A-Za-z0-9]{40,}+)"),
    ("key.xai", b"xai-", rb"xai-([A-Za-z0-9_-]{70,}+|[A-Za-z0-9]{40,}+)"),
    ("key.nvidia", b"nvapi-", rb"nvapi-([A-Za-z0-9_-]{40,}+)"),
    ("key.perplexity", b"pplx-", rb"pplx-([A-Za-z0-9]{40,}+)"),
    ("key.fireworks", b"fw_", rb"fw_([A-Za-z0-9]{20,}+)"),
    ("key.together", b"tgp_v1_", rb"tgp_v1_([A-Za-z0-9_-]{30,}+)"),
    ("key.replicate", b"r8_", rb"r8_([A-Za-z0-9]{30,}+)"),
    ("key.cerebras", b"csk-", rb"csk-([A-Za-z0-9]{30,}+)"),
    ("key.langsmith", b"lsv2_", rb"lsv2_(?:pt|sk)_([a-fA-F0-9]{32}_[a-fA-F0-9]{10,}+)"),
    ("key.tavily", b"tvly-", rb"tvly-([A-Za-z0-9_-]{20,}+)"),
    ("key.npm", b"npm_", rb"npm_([A-Za-z0-9]{30,}+)"),
    ("key.pypi", b"pypi-", rb"pypi-([A-Za-z0-9_-]{50,}+)"),
    ("key.sendgrid", b"SG.", rb"SG\.([\w-]{16,}+\.[\w-]{16,}+)"),
    ("key.digitalocean", b"_v1_", rb"do[opr]_v1_([a-f0-9]{40,}+)"),
    ("key.databricks", b"dapi", rb"dapi([a-f0-9]{32}(?:-[0-9])?+)(?![A-Za-z0-9])"),
    ("key.jwt", b"eyJ", rb"eyJ([\w-]{8,}+)\.eyJ([\w-]{8,}+)\.([\w-]{8,}+)"),
    ("key.jwe", b"eyJ", rb"eyJ([\w-]{8,}+)\.([\w-]*+)\.([\w-]{8,}+)\.([\w-]{8,}+)\.([\w-]{8,}+)"),
    ("key.twilio", b"SK", rb"SK([0-9a-fA-F]{32}+)(?![A-Za-z0-9])"),
    ("id.twilio", b"AC", rb"AC([0-9a-f]{32}+)(?![A-Za-z0-9])"),
    ("key.telegram", b":AA", rb"[0-9]{8,10}:(AA[A-Za-z0-9_-]{33}+)"),
    ("key.airtable", b"pat", rb"pat[A-Za-z0-9]{14}\.([a-f0-9]{64}+)"),
    ("key.mailchimp", b"-us", rb"([0-9a-f]{32}+)-us[0-9]{1,2}"),
    ("key.azure-secret", b"Q~", rb"[A-Za-z0-9_~.]{3}[0-9]Q~([A-Za-z0-9_~.-]{31,}+)"),
    ("key.terraform", b".atlasv1.", rb"[A-Za-z0-9]{14}\.atlasv1\.([A-Za-z0-9_=-]{60,}+)"),
    ("key.authress", b".acc", rb"(?:sc|ext|scauth|authress)_" + _AUTHRESS),
    *(("key.harness", each, each.replace(b".", rb"\.") + _HARNESS) for each in (b"pat.", b"sat.")),
    ("key.maxmind", b"_mmk", rb"([A-Za-z0-9]{6}_[A-Za-z0-9]{29})_mmk"),
    ("key.resend", b"re_", rb"re_([1-9A-Za-z]{8}_[1-9A-Za-z]{24}+)"),
    *(
        ("key.discord", kind, kind + rb"([A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[\w-]{27,}+)")
        for kind in (b"M", b"N", b"O")
    ),
    ("key.workato", b"wrka", rb"wrka(?:[a-z]{2})?-([A-Za-z0-9_.-]{80,}+)"),
    *PATTERNS,
    ("id.organization", b"org-", rb"org-(" + _DIGIT + rb"[A-Za-z0-9]{16,}+)"),
    ("id.user", b"user-", rb"user-(" + _DIGIT + rb"[A-Za-z0-9]{16,}+)"),
    ("id.project", b"proj_", rb"proj_(" + _DIGIT + rb"[A-Za-z0-9]{16,}+)"),
)
_BASIC: Final = (
    rb"[Bb]asic[ \t]{1,8}((?=[a-z0-9+/]{0,60}[A-Z])(?=[A-Za-z+/]{0,60}[0-9=])"
    rb"[A-Za-z0-9+/]{12,}+=*+)"
)
_PEM: Final = (
    rb"PRIVATE KEY(?: BLOCK)?-----"
    rb"((?:[A-Za-z0-9+/= \t]|\\{1,8}[a-z]|\r?\n(?=[A-Za-z0-9+/=]{16})){40,}+)"
)
_QUERY: Final = (
    rb"[?&](?:key|api[_-]?key|access_token|token|sig|X-Amz-(?:Signature|Security-Token))"
    rb"=([A-Za-z0-9%._~+/-]{12,}+=*+)"
)
SECRET_NAME: Final = (
    rb"(?:[A-Za-z_-]{0,40}(?:[Aa][Pp][Ii][_-]?[Kk][Ee][Yy]|[Ss]ecret|SECRET|[Pp]assword|PASSWORD"
    rb"|(?:[Aa]ccess|[Rr]efresh|[Aa]uth)_?[Tt]oken|(?:ACCESS|REFRESH|AUTH)_TOKEN"
    rb"|(?:[Ss]ecret|SECRET)_?[Kk][Ee][Yy])|[Aa]uthorization)"
)
_NESTED: Final = rb'\\"' + SECRET_NAME + _INNER + rb'([^"\\\r\n]{1,4096}+)'
_HEX_AND_POINT: Final = rb"[0-9A-Fa-f]{32}\."
_ZAI: Final = (
    rb"\.(?<="
    + _HEX_AND_POINT
    + rb")"
    + _starting_after(_HEX_AND_POINT)
    + rb"("
    + _DIGIT
    + rb"[0-9A-Za-z]{16}+)(?![A-Za-z0-9])"
)
_ASSIGNED: Final = (
    rb"(?:AccountKey|SharedAccessKey|SharedAccessSignature|Password|Pwd)[ \t]{0,4}="
    rb"[ \t]{0,4}([^\s;\"'\\<>&]{8,512}+)"
)
_CONNECTED: Final = rb";Secret=([A-Za-z0-9+/]{36,}+=*+)"
_SIGNED: Final = rb"Signature=([0-9a-f]{64}+)"
# These come after a word or between marks, and may begin in the middle of a run.
_PHRASES: Final = (
    ("key.facebook", b"|", rb"\|(?<=[0-9]{15}\|)([0-9A-Za-z_-]{27,40}+)"),
    ("key.facebook", b"%", rb"%(?<=[0-9]{15}%)(?:7C)?([0-9A-Za-z_-]{27,40}+)"),
    ("key.salesforce", b"!", rb"!(?<=00[A-Za-z0-9]{13}!)([A-Za-z0-9._-]{80,}+)"),
    ("key.zai", b".", _ZAI),
    ("key.bearer", b"earer", rb"[Bb]earer[ \t]{1,8}([A-Za-z0-9._~+/-]{16,}+=*+)"),
    ("key.basic", b"asic", _BASIC),
    ("key.pem", b"PRIVATE KEY", _PEM),
    ("key.assigned", b"=", _ASSIGNED),
    ("key.assigned", b";Secret=", _CONNECTED),
    ("key.sigv4", b"Signature=", _SIGNED),
    ("userinfo", b"@", rb"[a-z]://[^/?#@\s:\"'\\<>]{0,256}+:([^/?#@\s\"'\\<>]{1,512}+)@"),
    ("query", b"=", _QUERY),
    ("field.nested", b'\\"', _NESTED),
)
# Regular expressions for text without which there is no credential, whatever the pattern. Where
# the hint is in every other event, this says more.
_TELLING: Final = {
    b".acc": r"\.acc[_-]",
    b"|": r"[0-9]{15}\|[0-9A-Za-z_-]{27}",
    b"%": r"[0-9]{15}%[0-9A-Za-z_-]{27}",
    **{
        each: each.decode().replace(".", r"\.") + r"[A-Za-z0-9_-]{22}\."
        for each in (b"pat.", b"sat.")
    },
    b"re_": r"re_[1-9A-Za-z]{8}_",
    b"!": r"00[A-Za-z0-9]{13}!",
    b".": r"[0-9A-Fa-f]{32}\.[0-9A-Za-z]{16}",
    b"API-": "API-[A-Z0-9]{26}",
    b"pa-": "pa-[A-Za-z0-9_-]{43}",
    b"al-": "al-[A-Za-z0-9_-]{43}",
    b"cli_": "cli_[a-z0-9]{16}",
    b":AA": r"[0-9]:AA[A-Za-z0-9_-]{33}",
    b"pat": r"pat[A-Za-z0-9]{14}\.",
    b"-us": r"[0-9a-f]{32}-us[0-9]",
    b"SK": "SK[0-9a-fA-F]{32}",
    b"AC": "AC[0-9a-f]{32}",
    b"sk_": "sk_[a-fA-F0-9]{40}",
    b"fc-": "fc-[a-f0-9]{32}",
    b"sl.": r"sl\.[A-Za-z0-9_-]{60}",
    b"key-": "key-[a-f0-9]{32}",
    b"oy2": "oy2[a-z0-9]{43}",
    b"secret_": "secret_[A-Za-z0-9]{40}",
    b"ion_": "ion_[A-Za-z0-9]{40}",
    b"@": r'://[^\s"]*@',
    b"=": r"[?&][A-Za-z_-]{3,30}=|(?:Key|Signature|Password|Pwd)[ \t]{0,4}=|"
    + named_values.ASSIGNED,
    **named_values.TELLING,
    **{kind: kind.decode() + _DISCORD for kind in (b"M", b"N", b"O")},
    b'\\"': r'\\"[A-Za-z_-]*(?i:key|secret|password|token|authorization)\\"',
    b"asic": r"asic[ \t]",
    b"earer": r"earer[ \t]",
    b"gh": "gh[pousr]_",
    b"gl": "gl[a-z]{2,5}-",
    **{kind: kind.decode() + "_(?:live|test|prod)_" for kind in (b"sk", b"rk", b"pk")},
    b"IA": "A[BKS]IA",
}
_PATTERNS: Final = (
    *_PHRASES,
    *((rule, hint, _anchored_shape(shape)) for rule, hint, shape in _SHAPES),
    *named_values.PATTERNS,
)


# Prefixes that ordinary words end in: no text waits for what comes after them.
_COMMON: Final = frozenset(
    {"key-", "ion_", "sl.", "fc-", "sk_", "pa-", "al-", "cli_", "API-", "tss_", "prf_"}
)
# How a key begins: a text that ends in part of one may continue as a secret.
PREFIXES: Final = tuple(
    prefix.encode()
    for prefix in (
        *("sk-", "sess-", "sk_live_", "sk_test_", "rk_live_", "rk_test_", "pk_live_", "pk_test_"),
        *("AIza", "ya29.", "GOCSPX-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        *("glpat-", "gloas-", "gldt-", "glrt-", "glptt-", "glcbt-", "glsoat-"),
        *("xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-", "AKIA", "ASIA", "ABSK"),
        *("hf_", "gsk_", "xai-", "nvapi-", "pplx-", "fw_", "tgp_v1_", "r8_", "csk-", "lsv2_"),
        *("tvly-", "npm_", "pypi-", "SG.", "dop_v1_", "doo_v1_", "dor_v1_", "dapi", "eyJ"),
        *("org-", "user-", "proj_"),
        *(prefix for prefix in PUBLISHED if prefix not in _COMMON),
    )
)
_COUNT: Final = re.compile(r"\{([0-9]+)(?:,[0-9]*)?\}")
_FEW: Final = 3


def _with_few_characters(sign: str) -> str:
    """The sign with a few characters where many are counted; it is found wherever the sign is.

    An engine that counts in many patterns at once takes milliseconds for a page of random letters,
    and goes on so for every text after that.
    """
    return _COUNT.sub(lambda match: f"{{{min(int(match[1]), _FEW)},}}", sign)


_LITERAL_SIGNS: Final = tuple(
    dict.fromkeys(re.escape(hint.decode()) for _, hint, _ in _PATTERNS if hint not in _TELLING)
)
SIGNS: Final = (*_LITERAL_SIGNS, *dict.fromkeys(map(_with_few_characters, _TELLING.values())))
_PATTERNS_WITH_SIGN: Final = tuple(each for each in _PATTERNS if each[1] in _TELLING)


_CUT: Final = (
    _starting_after(b"") + b"(?:" + b"|".join(map(re.escape, PREFIXES)) + rb")([A-Za-z0-9_.-]++)\Z"
)
_LONGEST_CUT: Final = 64


class Span(NamedTuple):
    """Where a secret stands, and the redaction rule that it falls under."""

    start: int
    stop: int
    rule: str


def find_credentials(text: bytes) -> Iterator[Span]:
    """Every credential; two rules never claim the same byte."""
    plain = text.decode("latin-1")  # which maps bytes to characters one by one
    if not _sign_validator().is_valid(plain):
        return
    taken = bytearray()
    patterns = _PATTERNS if _literal_validator().is_valid(plain) else _PATTERNS_WITH_SIGN
    for rule, hint, pattern in patterns:
        if hint not in text or not _has_sign(hint, plain):
            continue
        taken = taken or bytearray(len(text))
        for match in _compiled_pattern(pattern).finditer(text):
            for start, stop in match.regs[1:]:
                if rule in named_values.RULES and not is_named_secret(rule, text[start:stop]):
                    continue
                if 1 not in taken[start:stop]:
                    taken[start:stop] = b"\x01" * (stop - start)
                    yield Span(start, stop, rule)


@cache
def _sign_validator() -> jsonschema_rs.Validator:
    return search_validator(*SIGNS)


@cache
def _literal_validator() -> jsonschema_rs.Validator:
    return search_validator(*_LITERAL_SIGNS)


def _has_sign(hint: bytes, plain: str) -> bool:
    """Whether what says more than the hint is there, too. False is certain."""
    return hint not in _TELLING or _telling_validator(hint).is_valid(plain)


@cache
def _telling_validator(hint: bytes) -> jsonschema_rs.Validator:
    return search_validator(_TELLING[hint])


@cache
def _compiled_pattern(pattern: bytes) -> re.Pattern[bytes]:
    """Compiled when its hint is first met: most never are, and forty take 5 ms."""
    return re.compile(pattern)


def cut_short(text: bytes) -> Span | None:
    """What a text ends in, if that begins like a key: the rest may not have come."""
    match = _compiled_pattern(_CUT).search(text, max(0, len(text) - _LONGEST_CUT))
    return match and Span(*match.span(1), "key.cut")
