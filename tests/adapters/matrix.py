"""The page `docs/client-matrix.md`, from reports of `conformance run --client`.

    python -m tests.adapters.matrix collect FOLDER   # NAME.quick.json, NAME.full.json
    python -m tests.adapters.matrix write            # of what was collected

`quick` reports hold every shipped recording once, `full` ones a few recordings in every replay.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parent.parent.parent
RESULTS: Final = Path(__file__).with_name("results.json")
PAGE: Final = ROOT / "docs" / "client-matrix.md"
AGREES: Final = "thinking/client/agrees-with-wire"
ENDING: Final = "harness/ending"
RIGHT: Final = "ok"
NOT_RUN: Final = ""
# What a pair comes to, the gravest first.
WORDS: Final = (
    "fails",
    "shows reasoning as text",
    "loses reasoning",
    "breaks off untold",
    "differs",
    RIGHT,
    NOT_RUN,
)
FAMILIES: Final = {
    "what was sent": lambda rule: rule == AGREES,
    "the end": lambda rule: rule == ENDING,
    "`thinking/`": lambda rule: rule.startswith("thinking/") and rule != AGREES,
    "`stripping/`": lambda rule: rule.startswith("stripping/"),
}
Result = Mapping[str, Any]


def main(arguments: list[str]) -> int:
    """Collects or writes; 2 for anything else."""
    if arguments[:1] == ["collect"] and len(arguments) == 2:
        made = collect(Path(arguments[1]))
        RESULTS.write_text(json.dumps(made, ensure_ascii=False, indent=1) + "\n", "utf-8")
    elif arguments == ["write"]:
        results = json.loads(RESULTS.read_text("utf-8"))
        PAGE.write_text(page(results), "utf-8")
    else:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    return 0


def collect(folder: Path) -> dict[str, Any]:
    """What the matrix needs of the reports in a folder, by client."""
    made: dict[str, Any] = {}
    for path in sorted(folder.glob("*.quick.json")):
        name = path.name.removesuffix(".quick.json")
        whole = path.with_name(f"{name}.full.json")
        made[name] = {
            "quick": list(_streams(path)),
            "full": list(_streams(whole)) if whole.exists() else [],
        }
    return made


def _streams(path: Path) -> Iterator[dict[str, Any]]:
    for stream in json.loads(path.read_text("utf-8"))["streams"]:
        file = stream["file"].partition("cassettes/")[2].removesuffix(".cassette.jsonl")
        if not file or not stream["verdicts"]:
            continue
        findings = {f["rule"]: f["message"] for f in stream["findings"]}
        judged = sorted(rule for rule, verdict in stream["verdicts"].items() if verdict == "PASS")
        yield {"file": file, "exchange": stream["exchange"], "pass": judged, "findings": findings}


def page(results: Mapping[str, Mapping[str, list[Result]]]) -> str:
    """The whole page."""
    clients = sorted(results, key=lambda name: (name != "reference-client", name))
    lines = [*_HEAD, "", *_families(results, clients), "", "## By server", "", _BY_SERVER, ""]
    for dialect in ("openai.chat", "openai.responses", "anthropic.messages"):
        lines += [*_servers(results, clients, dialect), ""]
    lines += ["## Findings", "", _FINDINGS, ""]
    for client in clients:
        lines += [*_findings(client, results[client]), ""]
    return "\n".join(lines).rstrip() + "\n"


def _families(results: Mapping[str, Any], clients: Iterable[str]) -> Iterator[str]:
    yield f"| client | {' | '.join(FAMILIES)} | legal edits of the framing |"
    yield f"|---|{'---|' * (len(FAMILIES) + 1)}"
    for client in clients:
        quick, full = results[client]["quick"], results[client]["full"]
        row = [_family(client, quick, wanted) for wanted in FAMILIES.values()]
        row.append(edited(client, full))
        yield f"| {client} | {' | '.join(row)} |"


def _family(client: str, streams: Iterable[Result], wanted: Any) -> str:
    judged = [s for s in streams if any(map(wanted, (*s["pass"], *s["findings"])))]
    broken = [s for s in judged if any(map(wanted, s["findings"]))]
    if not judged:
        return NOT_RUN
    told = f"{len(judged) - len(broken)} of {len(judged)}"
    return f"[{told}](#{client})" if broken else told


def edited(client: str, streams: Iterable[Result]) -> str:
    names = sorted({name for s in streams for name in _edits(s)})
    if not names:
        return RIGHT if streams else NOT_RUN
    return f"[{', '.join(names)}](#{client})"


def _edits(stream: Result) -> Iterator[str]:
    """Edits under which a recording is told otherwise than as recorded."""
    for message in stream["findings"].values():
        replays = re.search(r"\(in \d+ of \d+ replays?: (.*)\)$", message)
        names = replays[1].split(", ") if replays else []
        if "recorded" not in names:
            yield from (name for name in names if re.match(r"[FA]\d*-", name))


def _servers(results: Mapping[str, Any], clients: Iterable[str], dialect: str) -> Iterator[str]:
    words = {client: cells(results[client]["quick"], dialect) for client in clients}
    speaking = [client for client, of in words.items() if of]
    servers = sorted({server for of in words.values() for server in of})
    yield f"### {dialect}"
    yield ""
    yield f"| server | {' | '.join(speaking)} |"
    yield f"|---|{'---|' * len(speaking)}"
    for server in servers:
        shown = (_cell(client, words[client].get(server, NOT_RUN)) for client in speaking)
        yield f"| {server} | {' | '.join(shown)} |"


def _cell(client: str, word: str) -> str:
    return word if word in (RIGHT, NOT_RUN) else f"[{word}](#{client})"


def cells(streams: Iterable[Result], dialect: str) -> dict[str, str]:
    """The gravest word of each server's recordings."""
    made: dict[str, str] = {}
    for stream in streams:
        spoken, server, _ = stream["file"].split("/", 2)
        if spoken == dialect:
            word = min(made.get(server, RIGHT), _word(stream), key=WORDS.index)
            made[server] = word
    return made


def _word(stream: Result) -> str:
    findings = stream["findings"]
    if "expected completed" in findings.get(ENDING, ""):
        return "fails"
    if "; the thinking is told as text" in findings.get(AGREES, ""):
        return "shows reasoning as text"
    if re.search(r"against 'thinking\.del|; all thinking is lost", findings.get(AGREES, "")):
        return "loses reasoning"
    if ENDING in findings:
        return "breaks off untold"
    return "differs" if findings else RIGHT


def _findings(client: str, of: Mapping[str, list[Result]]) -> Iterator[str]:
    yield f"### {client}"
    yield ""
    if not any(s["findings"] for part in of.values() for s in part):
        yield "None."
        return
    yield "| recording | rule | found |"
    yield "|---|---|---|"
    told = {(s["file"], s["exchange"]) for s in of["full"]}
    for stream in [
        *of["full"],
        *(s for s in of["quick"] if (s["file"], s["exchange"]) not in told),
    ]:
        for rule, message in stream["findings"].items():
            shown = message.replace("|", "\\|").replace(" as the client saw it", "")
            yield f"| {stream['file']} {stream['exchange']} | {rule} | {shown} |"


_HEAD: Final = (
    "# Clients and servers",
    "",
    "Generated by `python -m tests.adapters.matrix write` from a recorded run,",
    "`tests/adapters/results.json`.",
    "The adapters are in `tests/adapters/`, the versions in `requirements.txt` and `package.json`.",
    "",
    "How many recordings each client takes without a finding, of those that exercise the rules:",
)
_BY_SERVER: Final = (
    "What becomes of a server's recordings in a client, at the worst of them: "
    "`loses reasoning` (thinking that was sent is not told), `shows reasoning as text`, "
    "`fails` (a whole answer ends in an error), "
    "`breaks off untold` (half an answer ends as if it were whole), `differs`. "
    "Empty: the client does not speak it."
)
_FINDINGS: Final = (
    "The first difference: what the client told, against what the bytes say. "
    "Known defects stand in [baselines](../specs/baselines/clients)."
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
