"""Writes docs/profiles.md: every knob, every shipped profile, what it changes, how it is known.

python -m tests.authoring.profile_table
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from conformance.profiles.fingerprints import Fingerprint
from conformance.profiles.knobs import spell_value
from conformance.profiles.load import load_profile
from conformance.profiles.lookup import available
from conformance.profiles.profile import Profile
from conformance.profiles.variants import Variant

PAGE: Final = Path(__file__).parents[2] / "docs" / "profiles.md"
_NOT_SYSTEMS: Final = frozenset({"strict"})
_HEAD: Final = """\
# Profiles

A profile states how one real system uses a dialect, so that what the system promises is no finding.
`conformance identify FILE` names the profile of a recording and shows the knobs that it used.
`conformance identify FILE --write-profile mine.yaml` drafts one for a system that has none.
A profile of your own is used with `--profile mine.yaml`.

A profile with `side: client` states what a client promises about its requests.
`run --client CMD --profile NAME` judges the requests by it, and the answers by the profile of each
recording.

In brackets after each knob and rule: in how many recordings it was seen, and from when.
`specs/profiles/` gives the reasons; `python -m tests.authoring.profile_table` writes this page from
there.

## How a profile is recognised

A fingerprint is something that one system sends and others do not.
A fingerprint that names a system is enough for `check` to use its profile.
A weak one, marked *maybe*, is a guess: `check` uses `strict`, and a note next to its findings names
the system.
Behaviour that a knob describes is a habit, and only a weak sign.
A gateway passes on the names of its provider, so its own signs decide.
The host of a recorded URL is a sign, too: importers keep scheme and host, of public services only,
so that nobody learns the name of your own machine.
A profile may have variants: for certain requests, or for recordings until a certain month, another
profile is used, and a note names it.
In brackets: in how many recordings of the system the sign was found, and in how many of others.

Some senders have no fingerprint. Gemini, the Interactions API, Cohere and Ollama's own API were
recorded only from their makers (15, 6, 5 and 4 recordings), so there is nothing to compare a sign
with: Gemini's `serviceTier` is in 8 of the 15, and may be in those of a proxy. Name the profile
there; `strict` has what the API itself requires.
Of eight recordings of Anthropic one has the id that names it. The ids of the others were removed,
and gateways pass on the rest (`inference_geo` and `service_tier`, 7 of 8), so it is a guess.
"""


def page() -> str:
    """Build the whole page."""
    dialects = sorted({dialect for _, dialect, _ in available()})
    return (
        "\n".join([_HEAD, *(line for each in dialects for line in _dialect(each))]).rstrip() + "\n"
    )


def _dialect(dialect: str) -> Iterator[str]:
    profiles = [load_profile(path) for _, spoken, path in available() if spoken == dialect]
    strict = next(profile for profile in profiles if profile.name == "strict")
    yield from _knobs(strict)
    yield f"## {dialect}: systems"
    yield ""
    yield from _row("profile", "system", "recognised by", "otherwise than strict")
    yield from _row("---", "---", "---", "---")
    for profile in profiles:
        if profile.name not in _NOT_SYSTEMS and profile.side == "server":
            yield from _row(f"`{profile.name}`", profile.title, _signs(profile), _settings(profile))
    yield ""
    yield from _clients([profile for profile in profiles if profile.side == "client"])


def _clients(profiles: list[Profile]) -> Iterator[str]:
    if not profiles:
        return
    yield f"## {profiles[0].dialect}: clients"
    yield ""
    yield from _row("profile", "client", "what it promises")
    yield from _row("---", "---", "---")
    for profile in profiles:
        yield from _row(f"`{profile.name}`", profile.title, _settings(profile))
    yield ""


def _knobs(strict: Profile) -> Iterator[str]:
    yield f"## {strict.dialect}: knobs"
    yield ""
    yield from _row("knob", "values, strict first", "what it is")
    yield from _row("---", "---", "---")
    for name, knob in strict.declared.items():
        whose = "Of a client: " if knob.side == "client" else ""
        says = _text(f"{whose}{knob.says}")
        yield from _row(f"`{name}`", _values(knob.values) or knob.type, says)
    yield ""


def _values(values: tuple[Any, ...]) -> str:
    return ", ".join(f"`{spell_value(value)}`" for value in values)


def _signs(profile: Profile) -> str:
    return "; ".join(map(_sign, profile.fingerprints))


def _sign(fingerprint: Fingerprint) -> str:
    maybe = "maybe " if fingerprint.is_weak else ""
    return f"{maybe}{_text(fingerprint.says)} ({_text(fingerprint.seen)})"


def _settings(profile: Profile) -> str:
    knobs = [
        f"`{name}: {_short(profile.knobs[name])}` ({_text(reason.seen)})"
        for name, reason in profile.reasons.items()
    ]
    rules = [
        f"`{rule}` {each.level} ({_text(each.seen)})" for rule, each in profile.overrides.items()
    ]
    promises = [f"promises `{promise}`" for promise in profile.promises]
    variants = [f"variant `{_variant(each)} ({_text(each.seen)})" for each in profile.variants]
    return "; ".join([*knobs, *rules, *promises, *variants]) or "as strict"


def _variant(variant: Variant) -> str:
    return f"{variant.profile}` until {variant.until}" if variant.until else f"{variant.profile}`"


def _text(text: str) -> str:
    """Text of a file, in which Markdown would take <uuid> for a tag unless it stands as code."""
    parts = text.split("`")
    parts[::2] = [part.replace("&", "&amp;").replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


def _short(value: Any) -> str:
    return spell_value(value) if len(spell_value(value)) <= 60 else f"{len(value)} values"


def _row(*cells: str) -> Iterator[str]:
    yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
