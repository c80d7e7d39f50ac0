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

from tests.adapters.run_once import run_once_rows

ROOT: Final = Path(__file__).parent.parent.parent
RESULTS: Final = Path(__file__).with_name("results.json")
PAGE: Final = ROOT / "docs" / "client-matrix.md"
AGREES: Final = "thinking/client/agrees-with-wire"
ENDING: Final = "harness/ending"
BASELINES: Final = ROOT / "specs" / "baselines" / "clients"
RIGHT: Final = "ok"
NOT_RUN: Final = ""
PARTS: Final = ("quick", "full")
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
DIALECTS: Final = ("openai.chat", "openai.responses", "anthropic.messages", "vercel.ui", "agui")
Result = Mapping[str, Any]
# What an adapter wrote to stderr names files of the machine that it ran on.
_STDERR: Final = re.compile(
    r"; stderr ends: .*?(?=(?: \(in \d+ of \d+ replays?: [^()]*\))?$)", re.DOTALL
)
_BASELINE: Final = "What {} is known to do wrong with the shipped recordings, each replayed once."
_BASELINE_MORE: Final = ("# Adapter: tests/adapters; more in docs/client-matrix.md.",)
_SCHEMAS: Final = "Fields and events beyond the provider's schema are dropped or end the stream."
_HELPER: Final = (
    "The stream helper of Chat Completions shows no thinking, and that of Responses raises on what "
    "it does not expect."
)
_EXTRA_FIELDS: Final = (
    "The SDK has no field for thinking; what this reader takes from the extra fields is not all "
    "of it."
)
_AS_TEXT: Final = "A summary comes as text, and thinking in fields that it does not know is lost."
# Why each client breaks rules, in its baseline.
REASONS: Final = {
    "ag-ui-client": "A value that seals thinking without a text names no message, and is dropped.",
    "ai-sdk-ui-5": "A part that came with version 7 ends the message in an error.",
    "ai-sdk-ui-6": "A part that came with version 7 ends the message in an error.",
    "ai-sdk-compatible": _SCHEMAS,
    "ai-sdk-openai-chat": "The chat model of @ai-sdk/openai drops reasoning_content.",
    "ai-sdk-openai-responses": "Raw thinking is dropped; summaries come by their events alone.",
    "ai-sdk-openrouter": "The provider reads reasoning and reasoning_details alone.",
    "anthropic-node": "An error event ends the iteration of messages.stream() without an error.",
    "claude-code": "After an error in an answer that has begun it asks again, and shows every try.",
    "codex-exec": (
        "Raw thinking is hidden by default, parts of a summary are joined by a line end, and an "
        "answer that was cut short is reported as an error, without what had come of it."
    ),
    "langchain-chat": (
        "ChatOpenAI drops reasoning_content, and of Responses shows summaries alone."
    ),
    "litellm-sdk": "Thinking in fields that the SDK does not know is lost.",
    "openhands-sdk": _AS_TEXT,
    "openhands-sdk-bodies": _AS_TEXT,
    "openai-agents": (
        "An answer that was cut short is reported as an error; thinking is read from two fields, "
        "and from events."
    ),
    "openai-node-helper": _HELPER,
    "openai-node-raw": _EXTRA_FIELDS,
    "openai-python-helper": _HELPER,
    "openai-python-raw": _EXTRA_FIELDS,
    "pasted-iter-lines": (
        "The reader knows one field, one spelling of lines, and no end but [DONE]."
    ),
    "pydantic-ai": "Raw thinking of Responses goes to provider_details only.",
}


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
            of = made.setdefault(path.name.removesuffix(f".{part}.json"), {})
            of[part] = list(_streams(path))
            of[f"{part} on"] = json.loads(path.read_text("utf-8"))["call"]["started"][:10]
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


def _streams(path: Path) -> Iterator[dict[str, Any]]:
    for stream in json.loads(path.read_text("utf-8"))["streams"]:
        file = stream["file"].partition("cassettes/")[2].removesuffix(".cassette.jsonl")
        if not file or not stream["verdicts"]:
            continue
        findings = {f["rule"]: _STDERR.sub("", f["message"]) for f in stream["findings"]}
        judged = sorted(rule for rule, verdict in stream["verdicts"].items() if verdict == "PASS")
        yield {"file": file, "exchange": stream["exchange"], "pass": judged, "findings": findings}


def write_baselines(folder: Path) -> None:
    """A baseline for each client that breaks a rule, in place of those of other versions."""
    for path in sorted(folder.glob("*.quick.json")):
        name = path.name.removesuffix(".quick.json")
        for old in (*BASELINES.glob(f"{name}-[0-9]*.yaml"), *BASELINES.glob(f"{name}.*.yaml")):
            old.unlink()
        streams = [s for s in json.loads(path.read_text("utf-8"))["streams"] if s["findings"]]
        if not streams:
            continue
        target = streams[0]["target"]
        broken: dict[str, set[str]] = {}
        for stream in streams:
            where = f"{stream['scenario']}/{stream['role'] or stream['exchange']}"
            for finding in stream["findings"]:
                broken.setdefault(finding["rule"], set()).add(where)
        lines = [
            f"# {_BASELINE.format(target)}",
            *_BASELINE_MORE,
            f'target: "{target}"',
            "entries:",
        ]
        for rule in sorted(broken):
            lines += [f"  - rule: {rule}", "    exchange:"]
            lines += [f"      - {where}" for where in sorted(broken[rule])]
            lines += [f'    reason: "{REASONS[name]}"']
        (BASELINES / f"{target}.yaml").write_text("\n".join(lines) + "\n", "utf-8")


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
        self.quick, self.full = of["quick"], of.get("full", [])
        self.days = tuple(of[f"{part} on"] for part in PARTS if of.get(part))
        self.findings = tuple(self._found())
        self._anchors = {(f.file, f.exchange, f.rule): f.anchor for f in self.findings}

    def anchor(self, stream: Result, rule: str) -> str:
        """Where the finding of a recording stands; the client's list if it was not told twice."""
        return self._anchors.get((stream["file"], stream["exchange"], rule), self.name)

    def _found(self) -> Iterator[Finding]:
        told = {(s["file"], s["exchange"]) for s in self.full}
        rest = [s for s in self.quick if (s["file"], s["exchange"]) not in told]
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
    lines += [*run_once_rows(), "", _TAKEN_BACK, "## Findings", "", _FINDINGS, ""]
    for client in clients:
        lines += [*_findings(client), ""]
    return "\n".join(lines).rstrip() + "\n"


def _families(clients: Iterable[Client]) -> Iterator[str]:
    yield f"| client | {' | '.join(FAMILIES)} | legal edits of the framing | run on |"
    yield f"|---|{'---|' * (len(FAMILIES) + 2)}"
    for client in clients:
        row = [_family(client, wanted) for wanted in FAMILIES.values()]
        row += [edited(client), ", ".join(dict.fromkeys(client.days))]
        yield f"| {client.name} | {' | '.join(row)} |"


def _family(client: Client, wanted: Any) -> str:
    judged = [s for s in client.quick if any(map(wanted, (*s["pass"], *s["findings"])))]
    broken = [(s, rule) for s in judged for rule in s["findings"] if wanted(rule)]
    if not judged:
        return NOT_RUN
    told = f"{len(judged) - len({id(s) for s, _ in broken})} of {len(judged)}"
    return _linked(told, client.anchor(*broken[0])) if broken else told


def edited(client: Client) -> str:
    """Edits under which a recording is told otherwise than as recorded, each with a finding."""
    found: dict[str, str] = {}
    for stream in client.full:
        for rule, message in stream["findings"].items():
            for name in _edits(message):
                found.setdefault(name, client.anchor(stream, rule))
    if not found:
        return RIGHT if client.full else NOT_RUN
    return ", ".join(_linked(name, found[name]) for name in sorted(found))


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
    return _linked(*worst) if worst.anchor else worst.word


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
        return "breaks off untold", ENDING
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
    "Generated by `python -m tests.adapters.matrix write` from a recorded run,",
    "`tests/adapters/results.json`.",
    "The adapters are in `tests/adapters/`, the versions in `requirements.txt` and `package.json`;",
    "those of npm look for packages below the folder that `CLIENTS_FOLDER` names.",
    "`ai-sdk-ui` is `readUIMessageStream` of `ai`, whose versions 5 and 7 are those of",
    "`tests/live/applications/applications.yaml`; `ag-ui-client` is AG-UI's own `HttpAgent`.",
    "`claude-code` and `codex-exec` are the commands of both packages, run once a recording.",
    "",
    "Every recording is replayed once, and for the edits of the framing a few in every replay;",
    "`run on` names both days where they differ.",
    "",
    "How many recordings each client takes without a finding, of those that exercise the rules.",
    "A link leads to the one finding behind it, the first where there are several:",
)
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
    "`breaks off untold` (half an answer ends as if it were whole), `differs`. "
    "Empty: the client does not speak it."
)
_FINDINGS: Final = (
    "The first difference: what the client reported, against what the bytes say. "
    "Known defects are in [baselines](../specs/baselines/clients)."
)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
