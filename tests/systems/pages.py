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

What the documents of four systems require, sentence by sentence, and which rules judge it.
If no rule can judge a requirement, the table gives the reason.
Some requirements [contradict each other](contradictions.md); then each system is judged by its own.

```console
$ conformance list systems
$ conformance list --system opal
```

## With a report

A report of `run` or `check` gives every requirement a verdict:

```console
$ CLIENT="python -m conformance.reference client harness --like opal"
$ conformance run --client "$CLIENT" --cases quick --api responses --profile opal -o json=mine.json
$ conformance list --system opal --report mine.json
```

A requirement gets the first of these verdicts that one of its rules has:
ERROR, FAIL, INCONCLUSIVE, PASS, UNTESTABLE, VACUOUS, NOT-APPLICABLE.
`--report` is repeatable. `--format json` gives the rows as data (`conformance schema list`).
`list` judges nothing, so its exit code is always 0.

## Presets

Each system has presets (`--like NAME`): the reference client or server with its choices.
For requirements that no preset can show, the reference itself or shipped recordings are used.
A test runs them all and compares the verdicts with the last column of the tables.

## A table of your own

```console
$ conformance list --system mine.yaml
$ conformance lint mine.yaml
```

`conformance schema system` describes the file; shipped ones are in `specs/systems/`.
`lint` reports rules, scenarios and profiles that do not exist.

`python -m tests.systems.pages` writes this page from those files.
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
    yield row("requirement", "what is required", "side", "source", "judged by", "verdict")
    yield row(*["---"] * 6)
    yield from (_requirement(each) for each in system.requirements)
    yield ""


def _kind(preset: Preset) -> str:
    return "also run" if preset.is_beside else "preset"


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
