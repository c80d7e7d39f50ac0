"""Writes docs/contradictions.md: every preset judged by every profile of its side, by a run.

python -m tests.systems.matrix
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from conformance.systems import Preset, find_system, system_names
from tests.systems.contradictions import Axis, Contradictions, load_contradictions
from tests.systems.pages import linked, row, text
from tests.systems.runs import Ran, presets

PAGE: Final = Path(__file__).parents[2] / "docs" / "contradictions.md"
SIDES: Final = ("client", "server")
_TITLES: Final = {"client": "Clients", "server": "Servers"}
Cells = Mapping[tuple[str, str], frozenset[str]]
"""Preset and profile -> the rules that the run found broken."""

_HEAD: Final = """\
# Where the systems contradict each other

Four systems with thinking models disagree, and each follows its own documents.
So each has a profile. A rule that only some systems keep applies only to profiles that promise it.
For each system the reference client or server has a preset (`--like NAME`), which sets its choices.
A preset keeps its own profile, and breaks another profile exactly where the two systems disagree.

`python -m tests.systems.matrix` runs every preset under every profile and writes this page.
[Systems](systems.md) lists what the documents require.

```console
$ LIKE_OPAL="python -m conformance.reference client harness --like opal"
$ conformance run --client "$LIKE_OPAL" --profile openhands-document
$ python -m conformance.reference server --like neuron-may --port 8000 &
$ conformance run --url http://127.0.0.1:8000 --profile ogx-merged
```

*Not run: it takes minutes, and the server needs torch; the script that writes this page runs more.*
"""
_AXES: Final = """\
## The questions

What each system does, and the rules and knobs that show the difference.
If no rule can fail, the last column gives the reason.
"""


def contradictions() -> Contradictions:
    """The axes of the page."""
    return load_contradictions(Path(__file__).with_name("contradictions.yaml"))


def all_presets(side: str) -> tuple[Preset, ...]:
    """The systems' own presets of a side."""
    found = (each for name in system_names() for each in find_system(name).presets)
    return tuple(each for each in found if each.side == side and not each.is_beside)


def cells(side: str) -> Iterator[tuple[Preset, str]]:
    """Every preset of a side with every profile of that side."""
    every = all_presets(side)
    yield from ((preset, other.profile) for preset in every for other in every)


def declared() -> Cells:
    """What the table of contradictions says of every cell."""
    listed = contradictions()
    pairs = (pair for side in SIDES for pair in cells(side))
    return {
        (preset.name, profile): listed.failing(preset.name, profile) for preset, profile in pairs
    }


def measured(run: Callable[[Preset, str], Ran]) -> Cells:
    """What runs say of every cell."""
    pairs = (pair for side in SIDES for pair in cells(side))
    return {(preset.name, profile): run(preset, profile).broken for preset, profile in pairs}


def page(found: Cells) -> str:
    """The whole page."""
    lines = [_HEAD]
    for side in SIDES:
        lines += _matrix(side, found)
    lines += [_AXES, *_axes(contradictions().axes)]
    return "\n".join(lines).rstrip() + "\n"


def _matrix(side: str, found: Cells) -> Iterator[str]:
    own = [preset.name for preset, profile in cells(side) if preset.name == profile]
    yield f"## {_TITLES[side]}"
    yield ""
    yield row("preset", *(f"by profile `{profile}`" for profile in own))
    yield row("---", *("---" for _ in own))
    for preset in own:
        yield row(f"`{preset}`", *(_cell(found[preset, profile]) for profile in own))
    yield ""


def _cell(rules: frozenset[str]) -> str:
    return ", ".join(linked(rule) for rule in sorted(rules)) or "conforms"


def _axes(axes: Sequence[Axis]) -> Iterator[str]:
    systems = system_names()
    yield row(
        "question", *(find_system(name).title.partition(",")[0] for name in systems), "shown by"
    )
    yield row("---", *("---" for _ in systems), "---")
    for axis in axes:
        does = (text(axis.does.get(name, "-")) for name in systems)
        yield row(text(axis.title), *does, _axis_text(axis))


def _axis_text(axis: Axis) -> str:
    named = [linked(rule) for rule in axis.rules]
    named += [f"knob `{knob}`" for knob in axis.knobs]
    return "; ".join(filter(None, [", ".join(named), text(axis.reason)]))


if __name__ == "__main__":
    with presets() as run:
        PAGE.write_text(page(measured(run)), encoding="utf-8")
