"""`python -m tests.live.demo`: the reference server asked, judged, recorded and replayed.

Everything runs as a user would run it: programs of this project, over HTTP on this machine.
Exit code 0 only if all is well.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from conformance.judging.rulebook import Rulebook
from conformance.targets.replay import ReplayOptions, ReplayServer, serving
from tests.live.processes import CLIENT, ROOT, SERVER, TOOL, NotReadyError, Started, running

OUT: Final = ROOT / "build" / "demo-live"
MODEL: Final = "tiny-think"
QUESTION: Final = "What is 37 + 45?"
ANSWER: Final = "37 + 45 = 82."
THOUGHT: Final = "Carry 1."
EXERCISED: Final = ("thinking", "stripping", "summary")
# The reference server finishes a choice once, and interrupts no part of a summary.
NO_CASE: Final = frozenset({"thinking/stream/one-reason", "summary/lifecycle/part-status"})
ASKING: Final[Mapping[str, Sequence[str]]] = {
    "chat": ("--include-thinking",),
    "responses": ("--effort", "high", "--summary", "detailed"),
    "messages": ("--effort", "high"),
}
LIMIT: Final = 300.0  # seconds for any one program, also where the machine is busy


class FailedError(Exception):
    """A step did not go as it should."""


@dataclass(frozen=True, slots=True)
class Demo:
    """The steps; each tells what it does, and raises FailedError where it goes wrong."""

    out: Path
    tell: Callable[[str], object]

    def go(self) -> None:
        """All steps, one after the other; what is started is ended."""
        with running(Started((*SERVER, "--port", "0"), self.out / "server.log")) as url:
            self.tell(f"1. The reference server is at {url}.")
            self.judge(url)
            asked = self.record(url)
        self.judge_again()
        self.replay(asked)
        self.replay_to_harness()

    def judge(self, url: str) -> None:
        """Every scenario on every API; the recordings and the html report stay."""
        self.tell("2. All scenarios on all its APIs, recorded and judged by all rules:")
        output = program(
            *(*TOOL, "run", "--url", url, "--profile", "reference"),
            *("--save", str(self.recorded), "-o", f"html={self.report}"),
        )
        self.tell(indented(output))

    def judge_again(self) -> None:
        """From the recordings: no rule of these suites may go without a case."""
        self.tell(f"3. The recordings again; rules of {', '.join(EXERCISED)} have their case:")
        rules = (rule.id for rule in Rulebook.load(EXERCISED).rules if rule.id not in NO_CASE)
        chosen = (word for rule in rules for word in ("--rule", rule))
        output = program(
            *TOOL,
            "check",
            *chosen,
            "--require-exercised",
            "--trust",
            str(self.recorded),
            str(self.recorded),
        )
        self.tell(indented(output))

    def record(self, url: str) -> Mapping[str, str]:
        """What the client showed, by API; between it and the server stood the recording proxy."""
        self.tell("   The reference client asks, through the recording proxy:")
        proxy = (*TOOL, "record", "--proxy", "127.0.0.1:0", "--upstream", url)
        start = Started((*proxy, "-o", str(self.asked)), self.out / "proxy.log")
        with running(start) as between:
            answers = {api: ask(between, api) for api in ASKING}
        for api, answer in answers.items():
            self.tell(f"   {api}:\n{indented(answer)}")
            if ANSWER not in answer or THOUGHT not in answer:
                raise FailedError(f"{api}: expected {THOUGHT!r} and {ANSWER!r}")
        return answers

    def replay(self, answers: Mapping[str, str]) -> None:
        """The same client at the recordings, torn into random chunks: the same words."""
        self.tell("4. The client again, answered by its recordings in random pieces:")
        with serving([self.asked], options=ReplayOptions.parse(chunking="seed:7")) as server:
            for api, answer in answers.items():
                if ask(server.base_url(), api) != answer:
                    raise FailedError(f"{api}: the replayed answer reads otherwise")
            server.settle()
            self.tell(f"   {_account(server)}, the same words")

    def replay_to_harness(self) -> None:
        """Everything that was recorded, as a conformance test of the client."""
        self.tell("5. The recordings of all scenarios, played to the client under test:")
        harness = shlex.join((*CLIENT, "harness"))
        who = ("--client", harness, "--profile", "reference", "--cases", "quick")
        output = program(*TOOL, "run", *who, "--cassette", str(self.recorded))
        self.tell(indented(output))

    @property
    def recorded(self) -> Path:
        return self.out / "recorded"

    @property
    def asked(self) -> Path:
        return self.out / "asked"

    @property
    def report(self) -> Path:
        return self.out / "report.html"


def ask(url: str, api: str) -> str:
    """What the reference client shows."""
    where = ("--url", f"{url}/v1", "--model", MODEL, "--api", api)
    return program(*CLIENT, "chat", *where, *ASKING[api], QUESTION)


def program(*command: str) -> str:
    """What a program says. Raises FailedError where its exit code is not 0."""
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT, check=False
        )
    except subprocess.TimeoutExpired as slow:
        raise FailedError(f"{shlex.join(command)}: not done in {LIMIT:.0f} s") from slow
    if done.returncode != 0:
        output = f"{done.stdout[-4000:]}{done.stderr[-2000:]}"
        raise FailedError(f"{shlex.join(command)}: exit code {done.returncode}\n{output}")
    return done.stdout.rstrip()


def indented(text: str) -> str:
    return "\n".join(f"     {line}" for line in text.splitlines())


def _account(server: ReplayServer) -> str:
    outcomes = [seen.outcome for seen in server.seen]
    if set(outcomes) != {"complete"} or server.unused():
        raise FailedError(f"requests ended {outcomes}; unused: {server.unused()}")
    return f"{len(outcomes)} requests, {len(outcomes)} answered whole"


def main(given: Sequence[str] | None = None) -> int:
    """The exit code: 0 if all is well, 1 if not."""
    parser = argparse.ArgumentParser(prog="python -m tests.live.demo", description=__doc__)
    parser.add_argument("--out", type=Path, default=OUT, help="folder for what is recorded")
    out = parser.parse_args(given).out.resolve()
    begun = time.monotonic()
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    demo = Demo(out, lambda text: sys.stdout.write(f"{text}\n") and sys.stdout.flush())
    try:
        demo.go()
    except (FailedError, NotReadyError) as fault:
        sys.stderr.write(f"error: {fault}\n")
        return 1
    sys.stdout.write(f"All is well, after {time.monotonic() - begun:.0f} s. See {demo.report}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
