"""The page `docs/client-matrix.md`, from reports of `conformance run --client`.

    python -m tests.adapters.matrix collect FOLDER   # NAME.quick.json, NAME.full.json
    python -m tests.adapters.matrix write            # of what was collected
    python -m tests.adapters.matrix baselines FOLDER # what is known of these clients, anew

`quick` reports hold every shipped recording once, `full` ones a few recordings in every replay.
What is known of clients that the folder does not name stays, each with the day of its run.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.adapters.client_baselines import write_baselines
from tests.adapters.run_once import run_once_rows

ROOT: Final = Path(__file__).parent.parent.parent
RESULTS: Final = Path(__file__).with_name("results.json")
PAGE: Final = ROOT / "docs" / "client-matrix.md"
AGREES: Final = "thinking/client/agrees-with-wire"
ENDING: Final = "harness/ending"
RIGHT: Final = "ok"
NOT_RUN: Final = ""
PARTS: Final = ("quick", "full")
# What a pair comes to, the gravest first.
WORDS: Final = (
    "fails",
    "shows reasoning as text",
    "loses reasoning",
    "hides the break",
    "differs",
    RIGHT,
    NOT_RUN,
)
GREEN, YELLOW, RED = "🟢", "🟡", "🔴"
COLOURS: Final = {RIGHT: GREEN, "differs": YELLOW}  # red for the other words
FAMILIES: Final = {
    "what was sent": lambda rule: rule == AGREES,
    "the end": lambda rule: rule == ENDING,
    "`thinking/`": lambda rule: rule.startswith("thinking/") and rule != AGREES,
    "`stripping/`": lambda rule: rule.startswith("stripping/"),
}
DIALECTS: Final = (
    *("openai.chat", "openai.responses", "anthropic.messages", "vercel.ui", "agui"),
    *("google.a2a", "huggingface.tgi"),
)
Result = Mapping[str, Any]
# What an adapter wrote to stderr names files of the machine that it ran on.
_STDERR: Final = re.compile(
    r"; stderr ends: .*?(?=(?: \(in \d+ of \d+ replays?: [^()]*\))?$)", re.DOTALL
)


def main(arguments: list[str]) -> int:
    """Collects or writes; 2 for anything else."""
    if arguments[:1] == ["collect"] and len(arguments) == 2:
        known = json.loads(RESULTS.read_text("utf-8"))
        made = collect(Path(arguments[1]))
        both = {name: {**known.get(name, {}), **of} for name, of in made.items()}
        RESULTS.write_text(_one_stream_a_line({**known, **both}), "utf-8")
    elif arguments[:1] == ["baselines"] and len(arguments) == 2:
        write_baselines(Path(arguments[1]))
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
    for part in PARTS:
        for path in sorted(folder.glob(f"*.{part}.json")):
            name = path.name.removesuffix(f".{part}.json")
            report = json.loads(path.read_text("utf-8"))
            of = made.setdefault(name, {})
            of["version"] = _version(report, name)
            of[part] = list(_streams(report))
            of[f"{part} on"] = report["call"]["started"][:10]
    return made


def _one_stream_a_line(made: Mapping[str, Mapping[str, Any]]) -> str:
    clients = []
    for name, of in made.items():
        parts = []
        for part, value in of.items():
            if isinstance(value, str):
                parts.append(f"{json.dumps(part)}: {json.dumps(value)}")
                continue
            lines = ",\n".join(json.dumps(each, ensure_ascii=False) for each in value)
            parts.append(f"{json.dumps(part)}: [\n{lines}\n]")
        clients.append(f"{json.dumps(name)}: {{\n{', '.join(parts)}\n}}")
    return "{\n" + ",\n".join(clients) + "\n}\n"


def _version(report: Result, name: str) -> str:
    """What the adapter introduced itself with, behind its name."""
    shown = (each["target"] for each in report["streams"] if each["target"])
    return next(shown, "").removeprefix(name).removeprefix("-")


def _streams(report: Result) -> Iterator[dict[str, Any]]:
    for stream in report["streams"]:
        file = stream["file"].partition("cassettes/")[2].removesuffix(".cassette.jsonl")
        if not file or not stream["verdicts"]:
            continue
        findings = {f["rule"]: _STDERR.sub("", f["message"]) for f in stream["findings"]}
        judged = sorted(rule for rule, verdict in stream["verdicts"].items() if verdict == "PASS")
        yield {"file": file, "exchange": stream["exchange"], "pass": judged, "findings": findings}


class Finding(NamedTuple):
    """One finding of one client, and the place of the page that holds it."""

    file: str
    exchange: int
    rule: str
    message: str
    anchor: str


class Worst(NamedTuple):
    """What a server's recordings come to in a client, and the anchor of the finding behind it."""

    word: str
    anchor: str = ""


class Client:
    """The results of one client, and its findings in the order of the page."""

    def __init__(self, name: str, of: Mapping[str, Any]) -> None:
        self.name = name
        self.version: str = of["version"]
        self.quick, self.full = of["quick"], of.get("full", [])
        self.days = tuple(of[f"{part} on"] for part in PARTS if of.get(part))
        self.findings = tuple(self._found())
        self._anchors = {(f.file, f.exchange, f.rule): f.anchor for f in self.findings}

    def anchor(self, stream: Result, rule: str) -> str:
        """Where the finding of a recording stands; the client's list if it has no line."""
        return self._anchors.get((stream["file"], stream["exchange"], rule), self.name)

    def _found(self) -> Iterator[Finding]:
        replayed = {(s["file"], s["exchange"]) for s in self.full}
        rest = [s for s in self.quick if (s["file"], s["exchange"]) not in replayed]
        number = 0
        for stream in [*self.full, *rest]:
            for rule, message in stream["findings"].items():
                number += 1
                anchor = f"{self.name}-{number}"
                yield Finding(stream["file"], stream["exchange"], rule, message, anchor)


def page(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The whole page."""
    names = sorted(results, key=lambda name: (name != "reference-client", name))
    clients = [Client(name, results[name]) for name in names]
    lines = [*_HEAD, "", *_families(clients), "", "## By server", "", _BY_SERVER, ""]
    for dialect in DIALECTS:
        lines += [*_servers(clients, dialect), ""]
    lines += [*run_once_rows(), "", _TAKEN_BACK, _MADE, "## Findings", "", _FINDINGS, ""]
    for client in clients:
        lines += [*_findings(client), ""]
    return "\n".join(lines).rstrip() + "\n"


def _families(clients: Iterable[Client]) -> Iterator[str]:
    yield f"| client | version | {' | '.join(FAMILIES)} | legal edits of the framing | run on |"
    yield f"|---|---|{'---|' * (len(FAMILIES) + 2)}"
    for client in clients:
        row = [_family(client, wanted) for wanted in FAMILIES.values()]
        row += [edited(client), ", ".join(dict.fromkeys(client.days))]
        yield f"| {client.name} | {client.version} | {' | '.join(row)} |"


def _family(client: Client, wanted: Any) -> str:
    judged = [s for s in client.quick if any(map(wanted, (*s["pass"], *s["findings"])))]
    broken = [(s, rule) for s in judged for rule in s["findings"] if wanted(rule)]
    if not judged:
        return NOT_RUN
    kept = len(judged) - len({id(s) for s, _ in broken})
    shown = f"{kept} of {len(judged)}"
    if not broken:
        return f"{GREEN} {shown}"
    colour = YELLOW if kept * 2 >= len(judged) else RED
    return f"{colour} {_linked(shown, client.anchor(*broken[0]))}"


def edited(client: Client) -> str:
    """Edits under which a client reports something else than of the recording, with a finding."""
    found: dict[str, str] = {}
    for stream in client.full:
        for rule, message in stream["findings"].items():
            for name in _edits(message):
                found.setdefault(name, client.anchor(stream, rule))
    if not found:
        return f"{GREEN} {RIGHT}" if client.full else NOT_RUN
    return f"{YELLOW} {', '.join(_linked(name, found[name]) for name in sorted(found))}"


def _edits(message: str) -> Iterator[str]:
    replays = re.search(r"\(in \d+ of \d+ replays?: (.*)\)$", message)
    names = replays[1].split(", ") if replays else []
    if "recorded" not in names:
        yield from (name for name in names if re.match(r"[FA]\d*-", name))


def _linked(text: str, anchor: str) -> str:
    return f"[{text}](#{anchor})"


def _servers(clients: Iterable[Client], dialect: str) -> Iterator[str]:
    worst = {client.name: cells(client, dialect) for client in clients}
    speaking = [name for name, of in worst.items() if of]
    servers = sorted({server for of in worst.values() for server in of})
    yield f"### {dialect}"
    yield ""
    yield f"| server | {' | '.join(speaking)} |"
    yield f"|---|{'---|' * len(speaking)}"
    for server in servers:
        shown = (_cell(worst[name].get(server, Worst(NOT_RUN))) for name in speaking)
        yield f"| {server} | {' | '.join(shown)} |"


def _cell(worst: Worst) -> str:
    if worst.word == NOT_RUN:
        return NOT_RUN
    shown = _linked(*worst) if worst.anchor else worst.word
    return f"{COLOURS.get(worst.word, RED)} {shown}"


def cells(client: Client, dialect: str) -> dict[str, Worst]:
    """The gravest word of each server's recordings, of equal ones the first."""
    made: dict[str, Worst] = {}
    for stream in client.quick:
        spoken, server, _ = stream["file"].split("/", 2)
        if spoken == dialect:
            known = made.setdefault(server, Worst(RIGHT))
            word, rule = _word(stream)
            if WORDS.index(word) < WORDS.index(known.word):
                made[server] = Worst(word, client.anchor(stream, rule))
    return made


def _word(stream: Result) -> tuple[str, str]:
    """What a recording comes to, and the rule that says so."""
    findings = stream["findings"]
    if "expected completed" in findings.get(ENDING, ""):
        return "fails", ENDING
    if re.search("; the thinking is (?:told|reported) as text", findings.get(AGREES, "")):
        return "shows reasoning as text", AGREES
    if re.search(r"against 'thinking\.del|; all thinking is lost", findings.get(AGREES, "")):
        return "loses reasoning", AGREES
    if ENDING in findings:
        return "hides the break", ENDING
    return ("differs", next(iter(findings))) if findings else (RIGHT, "")


def _findings(client: Client) -> Iterator[str]:
    yield f"### {client.name}"
    yield ""
    if not client.findings:
        yield "None."
        return
    yield "| recording | rule | found |"
    yield "|---|---|---|"
    for each in client.findings:
        shown = each.message.replace("|", "\\|").replace(" as the client saw it", "")
        where = f'<a id="{each.anchor}"></a>{each.file} {each.exchange}'
        yield f"| {where} | {each.rule} | {shown} |"


_HEAD: Final = (
    "# Clients and servers",
    "",
    "Which clients show a recorded stream as it was sent: thinking as thinking, text as text, and",
    "a broken answer as broken.",
    "",
    "A cell counts the recordings that a client takes without a finding, of those that put the",
    f"rules to the test. {GREEN} it takes all of them, {YELLOW} at least half, {RED} fewer;",
    "the link leads to the first finding.",
    "The column of edits lists what a server may change in the framing, and this client fails on.",
)
_MADE: Final = """\
## How this page is made

`python -m tests.adapters.matrix write` writes it from recorded runs, `tests/adapters/results.json`.
The adapters are in `tests/adapters/`, with their versions in `requirements.txt` and `package.json`;
those of npm look for packages below the folder that `CLIENTS_FOLDER` names.
`ai-sdk-ui` is `readUIMessageStream` of `ai`, whose versions 5 and 7 are those of
`tests/live/applications/applications.yaml`; `ag-ui-client` is AG-UI's own `HttpAgent`.
`claude-code` and `codex-exec` are the commands of both packages, run once a recording.

Every recording is replayed once, and for the edits of the framing a few in every replay;
`run on` names both days where they differ.
"""
_TAKEN_BACK: Final = """\
## Taken back

What earlier versions of this page held against clients, and was the toolkit's own doing:

- AI SDK: 11 rows said that it takes a broken answer for a whole one (`harness/ending`:
  `cut event:0` and so on in 7 exchanges of Chat Completions and 3 of Responses, and
  `openai.responses/openai/closed-by-client`).
  The replay server had sent `connection: close`, which no recording has, and undici takes such a
  body for whole however it ends. Without it every cut is reported as broken.
  What is left is one replay, `A-unfinished-event`: a stream of Responses that ends cleanly without
  its terminal event finishes as `other`, without an error.
- LiteLLM's SDK asks for a whole body where it does not know a model of Responses.
  A stream is no longer replayed to it then, and no such case is judged.
- In `interleaved-thinking` of Messages a result of a web search had no `encrypted_content`, which
  the API requires and AI SDK asks for. Calls that the server carries out itself no longer
  concern a client.
- The rows of the OpenHands SDK said that it loses streams of Responses, which it had not asked for:
  it is built on LiteLLM's. It was run anew with Python 3.12, and `openhands-sdk-bodies` asks for
  whole bodies.
- Follow-ups of the toolkit dropped keys that it did not know (`thinking_blocks`), and the loss was
  blamed on the client: they go back as they came.

In the run of 2026-11-23 no recording that an earlier run had replayed once gained or lost a
finding. Of the edits, `A-cr-bytewise` and `F2-cr` no longer fail for `ai-sdk-openai-responses`,
and `A-bom-mid-stream` not of `openai-node-helper`; why was not looked into.
The machine was busy: seven recordings in `codex-exec` and one in `litellm-sdk` exceeded the
deadline of 5 s, and were replayed again with 60 s. The edits were not replayed anew to
`langchain-chat` and `litellm-sdk`.
"""
_BY_SERVER: Final = (
    "What becomes of a server's recordings in a client, at the worst of them: "
    "`loses reasoning` (thinking that was sent is not shown), `shows reasoning as text`, "
    "`fails` (a whole answer ends in an error), "
    f"`hides the break` (half an answer ends as if it were whole), {YELLOW} `differs`. "
    "Empty: the client does not speak it."
)
_FINDINGS: Final = (
    "The first difference: what the client reported, against what the bytes say. "
    "Known defects are in [baselines](../specs/baselines/clients)."
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
