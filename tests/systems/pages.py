"""Writes docs/systems.md: what the documents of real systems ask for, and what judges it.

python -m tests.systems.pages
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from conformance.systems import Preset, Requirement, System, find_system, system_names

PAGE: Final = Path(__file__).parents[2] / "docs" / "systems.md"
_WITHOUT_PAGE: Final = ("harness/", "scenario/")
_HEAD: Final = """\
# Systems

What the documents of four systems ask for, sentence by sentence, and which rules judge it.
A behaviour that no rule can judge is listed with the reason.
Two systems that contradict each other are both right: see [contradictions](contradictions.md).

```console
$ conformance list systems
$ conformance list --system opal
```

## With a report

A run, or a check of recordings, gives every requirement a verdict:

```console
$ CLIENT="python -m conformance.reference client harness --like opal"
$ conformance run --client "$CLIENT" --cases quick --api responses --profile opal -o json=mine.json
$ conformance list --system opal --report mine.json
```

It is the first of these that any of its rules has in the exchanges that exercise it:
ERROR, FAIL, INCONCLUSIVE, PASS, UNTESTABLE, VACUOUS, NOT-APPLICABLE.
`--report` may be given several times.
`--format json` gives the rows as data (`conformance schema list`).
Listing judges nothing, so its exit code is 0 whatever the verdicts: `run` and `check` judge.

## Presets

Systems have a model each: the reference client or server with other choices (`--like NAME`).
Beside them stand, for what they cannot show, the reference itself and recordings that ship.
What each must come to is in the last column below; a test runs them and holds it.

## A table of your own

```console
$ conformance list --system mine.yaml
$ conformance lint mine.yaml
```

`conformance schema system` describes the file; those that ship are in `specs/systems/`.
`lint` tells rules, scenarios and profiles that do not exist.

This page is written from there, by `python -m tests.systems.pages`.
"""


def page() -> str:
    """The whole page."""
    tables = (line for name in system_names() for line in _system(find_system(name)))
    return "\n".join([_HEAD, *tables]).rstrip() + "\n"


def row(*cells: str) -> str:
    """One row of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def text(words: str) -> str:
    """Words of a file, in which Markdown would take <uuid> for a tag unless it stands as code."""
    parts = words.split("`")
    parts[::2] = [part.replace("&", "&amp;").replace("<", "&lt;") for part in parts[::2]]
    return "`".join(parts)


def linked(rule: str) -> str:
    """A rule, with its page where it has one."""
    if rule.startswith(_WITHOUT_PAGE):
        return f"`{rule}`"
    return f"[{rule}](rules/{rule}.md)"


def _system(system: System) -> Iterator[str]:
    yield f"## {system.title.partition(',')[0]}"
    yield ""
    yield f"{text(system.title)}."
    judged = sum(bool(each.rules) for each in system.requirements)
    yield f"{len(system.requirements)} requirements, {judged} of them judged by rules."
    yield ""
    yield from (f"- *{name}*: {text(title)}" for name, title in system.documents.items())
    yield from (
        f"- {_kind(each)} `{each.name}` ({each.side}), profile `{each.profile}`"
        for each in system.presets
    )
    yield ""
    yield row("requirement", "what is asked for", "side", "source", "judged by", "verdict")
    yield row(*["---"] * 6)
    yield from (_requirement(each) for each in system.requirements)
    yield ""


def _kind(preset: Preset) -> str:
    return "beside them" if preset.is_beside else "preset"


def _requirement(each: Requirement) -> str:
    name = each.id.partition("/")[2]
    source = f"{each.source.document}: {text(each.source.at)}"
    return row(f"`{name}`", text(each.says), each.side, source, _judged(each), _verdict(each))


def _judged(each: Requirement) -> str:
    if not each.rules:
        return f"not judged: {text(each.reason)}"
    rules = ", ".join(linked(rule) for rule in each.rules)
    where = ", ".join(f"`{scenario}`" for scenario in each.scenarios)
    return f"{rules} in {where}" if where else rules


def _verdict(each: Requirement) -> str:
    if not each.rules:
        return "-"
    return f"{each.verdict} ({', '.join(f'`{preset.name}`' for preset in each.presets)})"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
