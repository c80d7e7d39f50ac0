"""What judging a client costs beside the client itself: `python -m tests.benchmarks.bench_client`.

The same cases are replayed to the reference client twice, in turns: by a whole run, and without any
judging. Goal: the run takes less than 1.5 times as long. Ratios of medians.
"""

from __future__ import annotations

import sys
from statistics import median
from time import perf_counter

from conformance.cassette import open_recording
from conformance.core import shipped
from conformance.dialects import get
from conformance.recordings.choices import CheckChoices, choose_profile
from conformance.targets.client import ClientOptions, run_client
from conformance.targets.client.conversation import case_conversation
from conformance.targets.client.replay_endpoint import ReplayEndpoint, RequestLog
from conformance.targets.client.variation import replay_variations
from conformance.targets.replay import serving

COMMAND = (sys.executable, "-m", "reference_impl.client", "harness")
NAMES = (
    "openai.chat/deepseek/thinking-then-text",
    "openai.chat/deepseek/parallel-tools",
    "openai.responses/openai/summary-four-parts",
    "anthropic.messages/anthropic/thinking-then-text",
)
ROUNDS = 3
GOAL = 1.5
PATHS = [shipped.cassettes() / f"{name}.cassette.jsonl" for name in NAMES]


def whole_run() -> int:
    """Cases judged."""
    return run_client(COMMAND, PATHS, ClientOptions()).cases


def client_alone() -> int:
    """The same replays, and nobody looks at what comes of them."""
    log, cases = RequestLog(), 0
    with (
        serving(on_exchange=log.note_request) as server,
        ReplayEndpoint(COMMAND, server, log, deadline=5.0) as station,
    ):
        edited: set[str] = set()
        for path in PATHS:
            recording = open_recording(path)
            dialect = str(recording.header.dialect)
            profile, _ = choose_profile(get(dialect), CheckChoices(), recording.header.profile)
            for exchange in recording.exchanges:
                conversation = case_conversation(exchange, profile)
                for way in replay_variations(
                    exchange, dialect, "full", edited=dialect not in edited
                ):
                    station.replay_stream(way, dialect, conversation)
                    cases += 1
                edited.add(dialect)
    return cases


def main() -> int:
    """Prints the ratio; 1 where the goal is missed."""
    times: dict[str, list[float]] = {"run": [], "alone": []}
    for _ in range(ROUNDS):
        for name, work in (("run", whole_run), ("alone", client_alone)):
            begin = perf_counter()
            cases = work()
            times[name].append(perf_counter() - begin)
            sys.stdout.write(f"{name}: {cases} cases in {times[name][-1]:.2f} s\n")
    ratio = median(times["run"]) / median(times["alone"])
    sys.stdout.write(f"run / client alone: {ratio:.2f} (goal: below {GOAL})\n")
    return 0 if ratio < GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
