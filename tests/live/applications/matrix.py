"""The page `docs/app-matrix.md` and the baselines of applications, from a run of them all.

    python -m tests.live.applications.matrix run FOLDER [TARGET ...]   # TARGET.json each
    python -m tests.live.applications.matrix collect FOLDER            # results.json, baselines
    python -m tests.live.applications.matrix write                     # the page

Why a rule is broken is in faults.yaml: a finding without an entry there is an error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

import yaml

from conformance.runs.scenario_run import SIDE_CALL
from tests.live.applications.hosting import BASELINES, HERE, LiveApplication, applications
from tests.live.processes import ROOT

RESULTS: Final = HERE / "results.json"
PAGE: Final = ROOT / "docs" / "app-matrix.md"
RAN_ON: Final = "2026-11-23"  # when the reports of results.json were made
KEPT: Final = "kept"
TURNS: Final = frozenset({"turns", "deepseek"})
TURNS_RAN_ON: Final = "2026-11-28"
APIS: Final = {
    "anthropic.messages": "Messages",
    "openai.responses": "Responses",
    "openai.chat": "Chat Completions",
}
# What happens behind the application, in the order of the tables.
SITUATIONS: Final = {
    "app-answer/turn": "thinking, then text",
    "app-answer/next-turn": "the next turn",
    "app-tools/loop": "a tool between two calls",
    "app-tools/after-loop": "the turn after it",
    "app-tools/long-loop": "then two tools in one turn",
    "app-parts/several": "several blocks of thinking, or parts of a summary",
    "app-sealed/redacted": "redacted thinking, or nothing but encrypted content",
    "app-sealed/omitted": "omitted thinking, or nothing but encrypted content",
    "raw-thinking": "raw thinking, no summary",
    "app-items/overlapping": "items that overlap",
    "app-items/rotating-ids": "an item whose ids change",
    "signed-details": "a signature in `reasoning_details`",
    "thinking-again": "thinking, text, thinking, text",
    "thinking-in-two-fields": "thinking in two fields",
    "thinking-and-text-in-one-chunk": "thinking and text in one chunk",
    "thinking-only": "the limit hits inside the thinking",
    "app-inline/inline": "tags cut over chunks",
    "tags-whole": "tags in chunks of their own",
    "tags-split": "tags cut in two",
    "tags-glued": "tags with text around them",
    "tags-empty": "an empty block between tags",
    "tags-second-empty": "a second block, which is empty",
    "tags-unclosed": "a block that is never closed",
    "app-cut-in-thinking/cut": "the connection breaks in the thinking",
    "app-cut-in-thinking/ends": "a clean end in the thinking",
    "error-in-thinking": "an error in the thinking",
    "app-failures/no-finish": "no finish behind the text",
    "app-failures/cut": "the connection breaks in the text",
    "app-failures/error": "an error in the text",
    "app-failures/refused": "a refusal",
    "app-length/length": "the limit hits in the text",
    "app-stop/stopped": "the user stops it in the thinking",
    "app-stop/again": "and asks again",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an application breaks a rule, and the word for it."""

    rule: str
    reason: str
    word: str
    target: str = "*"
    exchange: str = "*"

    def explains(self, rule: str, target: str, exchange: str) -> bool:
        """Whether it is about this finding."""
        pairs = ((rule, self.rule), (target, self.target), (exchange, self.exchange))
        return all(fnmatchcase(name, pattern) for name, pattern in pairs)


class Faults:
    """The table of faults.yaml."""

    def __init__(self) -> None:
        listed = yaml.safe_load((HERE / "faults.yaml").read_text(encoding="utf-8"))
        self.listed = [Fault(**each) for each in listed]

    def of(self, rule: str, target: str, exchange: str) -> Fault:
        """The first that fits. Raises KeyError where none does."""
        for fault in self.listed:
            if fault.explains(rule, target, exchange):
                return fault
        raise KeyError(rule, target, exchange)


def main(arguments: list[str]) -> int:
    """Runs, collects or writes; 2 for anything else."""
    match arguments:
        case ["run", folder, *names]:
            run(Path(folder), names)
        case ["collect", folder]:
            results = merged(load_results(), collect(Path(folder)))
            lines = (f"{json.dumps(name)}: {json.dumps(of)}" for name, of in results.items())
            RESULTS.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
            write_baselines(results)
        case ["write"]:
            PAGE.write_text(page(load_results()), "utf-8")
        case _:
            sys.stderr.write(f"{__doc__}\n")
            return 2
    return 0


Results = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Target, exchange and rule -> the first thing that was found."""


def load_results() -> Results:
    """What was collected."""
    found: Results = json.loads(RESULTS.read_text("utf-8"))
    return found


def run(folder: Path, names: Sequence[str]) -> None:
    """A report for each application, or for those whose target begins with a name."""
    for each in applications():
        if not names or each.target.startswith(tuple(names)):
            place = folder / f"run-{each.target}"
            place.mkdir(parents=True)
            judged = each.run(place)
            (folder / f"{each.target}.json").write_text(json.dumps(judged.report), "utf-8")
            sys.stdout.write(f"{each.target}: {len(judged.found)} findings\n")


def collect(folder: Path) -> Results:
    """What the page and the baselines need of the reports in a folder."""
    made: dict[str, dict[str, dict[str, str]]] = {}
    for each in applications():
        path = folder / f"{each.target}.json"
        if not path.exists():
            continue
        exchanges = made.setdefault(each.target, {})
        for stream in json.loads(path.read_text("utf-8"))["streams"]:
            if stream["role"] == SIDE_CALL and not stream["findings"]:
                continue
            name = f"{stream['scenario']}/{stream['role']}"
            if stream["dialect"] != each.protocol:
                name = f"{name}/upstream"
            found = exchanges.setdefault(name, {})
            for finding in stream["findings"]:
                found.setdefault(finding["rule"], finding["message"])
    return made


def merged(before: Results, found: Results) -> Results:
    """The results of all applications, those that were not run anew as they were."""
    every = {**before, **found}
    return {each.target: every[each.target] for each in applications() if each.target in every}


def write_baselines(results: Results) -> None:
    """A baseline for each application that breaks a rule."""
    faults = Faults()
    BASELINES.mkdir(exist_ok=True)
    for target, exchanges in results.items():
        broken: dict[tuple[str, str], list[str]] = {}
        for exchange, found in exchanges.items():
            for rule in found:
                reason = faults.of(rule, target, exchange).reason
                broken.setdefault((rule, reason), []).append(exchange)
        path = BASELINES / f"{target}.yaml"
        path.unlink(missing_ok=True)
        if not broken:
            continue
        lines = [f'target: "{target}"', "entries:"]
        for (rule, reason), where in sorted(broken.items()):
            lines += [f"  - rule: {rule}", "    exchange:"]
            lines += [f"      - {each}" for each in sorted(where)]
            lines += [f'    reason: "{reason}"']
        head = (
            "# What is known of an application of docs/app-matrix.md, which runs in the live tier."
        )
        path.write_text("\n".join([head, *lines]) + "\n", "utf-8")


def page(results: Results) -> str:
    """The whole page."""
    faults = Faults()
    lines = [*_HEAD]
    for api, title in APIS.items():
        columns = [each for each in _of(results, api) if each.only not in TURNS]
        lines += ["", f"## {title}", "", *_table(results, columns, faults)]
    lines += ["", "## Three turns with a tool", "", *_TURNS_HEAD, "", *_turns(results, faults)]
    lines += ["", "## What is wrong", "", _WRONG, ""]
    lines += _wrong(results, faults)
    lines += ["", "## Packages", "", *_packages()]
    return "\n".join(lines) + "\n"


def _of(results: Results, api: str) -> list[LiveApplication]:
    return [each for each in applications() if each.api == api and each.target in results]


def _turns(results: Results, faults: Faults) -> Iterator[str]:
    """A row for each conversation with a tool."""
    names = [name for name in SITUATIONS if name.startswith(("app-answer/", "app-tools/"))]
    yield f"| agent or library | API | {' | '.join(SITUATIONS[each] for each in names)} |"
    yield f"|---|---|{'---|' * len(names)}"
    for api, title in (*APIS.items(), ("gemini.generate", "Gemini")):
        for each in _of(results, api):
            if each.only in TURNS:
                cells = [cell(results[each.target], each.target, name, faults) for name in names]
                version = next(iter(each.versions.values()))
                yield f"| {each.column} {version} | {title} | {' | '.join(cells)} |"


def _table(results: Results, columns: Sequence[LiveApplication], faults: Faults) -> Iterator[str]:
    yield f"| behind the application | {' | '.join(each.column for each in columns)} |"
    yield f"|---|{'---|' * len(columns)}"
    for situation, title in SITUATIONS.items():
        cells = [cell(results[each.target], each.target, situation, faults) for each in columns]
        if any(cells):
            yield f"| {title} | {' | '.join(cells)} |"


def cell(
    exchanges: Mapping[str, Mapping[str, str]], target: str, situation: str, faults: Faults
) -> str:
    """The words of what was found in a situation, `kept` for nothing; empty: it was not run."""
    named = [name for name in exchanges if name == situation or name.startswith(f"{situation}/")]
    words = {faults.of(rule, target, name).word: None for name in named for rule in exchanges[name]}
    if not named:
        return ""
    return ", ".join(word for word in words if word != KEPT) or KEPT


def _wrong(results: Results, faults: Faults) -> Iterator[str]:
    yield "| application | what is wrong | rules | where |"
    yield "|---|---|---|---|"
    for target, exchanges in results.items():
        known: dict[str, tuple[set[str], set[str]]] = {}
        for exchange, found in exchanges.items():
            for rule in found:
                rules, where = known.setdefault(
                    faults.of(rule, target, exchange).reason, (set(), set())
                )
                rules.add(f"`{rule}`")
                where.add(exchange.removesuffix("/exchange-1"))
        for reason, (rules, where) in sorted(known.items()):
            joined = (", ".join(sorted(each)) for each in (rules, where))
            yield f"| {target} | {reason} | {' | '.join(joined)} |"


def _packages() -> Iterable[str]:
    pins = {each.packages: each.versions for each in applications()}
    yield "| application | packages |"
    yield "|---|---|"
    for name, versions in pins.items():
        listed = ", ".join(f"{package} {version}" for package, version in versions.items())
        yield f"| {name} | {listed} |"


_HEAD: Final = (
    "# Applications and models",
    "",
    "What applications of real packages lose, change or cover up of what their model said.",
    "Each is a small server (`tests/live/applications/`) under `conformance run --app`, or a",
    "command under `conformance run --agent`, with the toolkit as its model: the scenarios of",
    "[applications](applications.md), recordings that ship, and a few scripted answers.",
    f"Run on {RAN_ON}; the adapters of Strands, LlamaIndex and CrewAI for AG-UI, and TanStack AI,",
    f"on {TURNS_RAN_ON}: each kind of finding of these was compared with the bytes.",
    "`python -m tests.live.applications.matrix write` writes this page from a recorded run,",
    "`tests/live/applications/results.json`; `make test-live` runs them again and holds the",
    "[baselines](../specs/baselines/applications).",
    "",
    "`kept`: thinking, its blocks and order, sealed data, text and calls arrived, and a failure",
    "was reported. An empty cell was not run. pydantic-ai and LangChain run without retries: what",
    "a second call of the model would cover up shows.",
)
_TURNS_HEAD: Final = (
    "What agents and libraries send back to their model: thinking, its signatures and sealed data.",
    f"Run on {TURNS_RAN_ON}, in `app-answer` and `app-tools`. Every finding was compared by hand",
    "with the recorded requests. What asks in Chat Completions is judged by the",
    "profile of DeepSeek, which wants its reasoning back with calls.",
    "A library is in a small agent (`library_agent.py`) that shows the text of a turn alone.",
    "LiteLLM and Strands ask Responses for nothing sealed; their reasoning items do not go back,",
    "which no rule forbids.",
    "fast-agent is held before Chat Completions alone: elsewhere it reports thoughts and calls out",
    "of order, in two or three turns of five, another one each time.",
)
_WRONG: Final = "Every finding of the run, by cause. Those of the protocol's grammar are here, too."

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
