"""The words that all views of traffic share: one line, printable, without secrets."""

from __future__ import annotations

from conformance.judging.result import Finding
from conformance.report.printable import visible
from conformance.report.wording import count, error_sentence, finding_sentence, slice_of
from conformance.watching.exchange import WatchedExchange
from conformance.watching.lanes import LANES, Lane
from conformance.wire.origin import shown_url


def request_line(exchange: WatchedExchange) -> str:
    """`POST /v1/chat/completions  chatty`; a query may hold a key and is left out."""
    path = visible(exchange.clean(exchange.target.partition("?")[0]), 80)
    named = (f"{visible(exchange.method, 20)} {path}", model_name(exchange), talk_words(exchange))
    return "  ".join(filter(None, named))


def talk_words(exchange: WatchedExchange) -> str:
    """`conversation 1, turn 3 after #2`; empty where it is one exchange."""
    place = exchange.place
    if place is None:
        return ""
    after = "" if place.after is None else f" after #{place.after}"
    return f"conversation {place.conversation}, turn {place.turn}{after}"


def model_name(exchange: WatchedExchange) -> str:
    return visible(exchange.clean(exchange.model), 60)


def lane_text(exchange: WatchedExchange, lane: Lane) -> str:
    """The end of a lane's text."""
    text = exchange.lanes.lanes[lane].text
    return visible(exchange.clean(text), len(text))


def state_words(exchange: WatchedExchange) -> str:
    """`200  1.24 s  2 findings`, as far as it came."""
    status = exchange.response.status if exchange.response else None
    words = [str(status)] if status else []
    words.append(f"{exchange.elapsed_ms / 1000:.2f} s")
    if exchange.findings:
        words.append(count(len(exchange.findings), "finding"))
    elif not exchange.is_over:
        words.append("...")
    elif exchange.result is not None and not exchange.is_refusal:
        words.append("ok")
    return "  ".join(words)


def outcome_line(exchange: WatchedExchange) -> str:
    """What came of it so far: sizes of lanes, how it ended."""
    facts: list[str] = []
    sizes = {lane: exchange.lanes.lanes[lane].size for lane in LANES}
    facts += (f"{lane} {size:,}" for lane, size in sizes.items() if size and lane != "tools")
    facts += [count(sizes["tools"], "call")] if sizes["tools"] else []
    if exchange.lanes.finish:
        facts.append(f"finish {visible(exchange.clean(exchange.lanes.finish), 40)}")
    response = exchange.response
    if response is not None and exchange.is_refusal and (to := response.header("location")):
        facts.append(f"redirects to {shown_url(exchange.clean(to))}")
    if exchange.end is not None and exchange.end != "eof":
        facts.append(exchange.end)
    if exchange.size and not any(sizes.values()):
        facts.append(count(exchange.size, "byte"))
    return ", ".join(facts)


def trouble_lines(exchange: WatchedExchange) -> list[str]:
    """An error in the answer, and what was not judged or kept."""
    error = exchange.clean(exchange.lanes.error)
    if not error and exchange.result is not None and exchange.result.error is not None:
        error = error_sentence(exchange.result.error)
    named = (("error", error), ("note", exchange.clean(exchange.note)))
    return [f"{name}  {visible(text, 300)}" for name, text in named if text]


def judged_words(exchange: WatchedExchange) -> str:
    """As what it was judged, or that it was not."""
    result = exchange.result
    if result is None:
        return "not judged"
    assumed = "" if result.named else " (assumed)" if result.profile == "strict" else " (shown)"
    return f"{visible(result.dialect)}, profile {visible(result.profile)}{assumed}"


def finding_name(finding: Finding) -> str:
    return f"{finding.verdict} {finding.level} {visible(finding.rule)}"


def finding_line(finding: Finding) -> str:
    """Where it stands and what was found."""
    where = f"event {finding.event}" if finding.event else "request or response head"
    within = f", {slice_of(finding)}" if finding.slice else ""
    given = finding.upstream
    if given is not None and given.side == "answer":
        where, within = "request", f", given in #{given.exchange} event {given.event}"
    return f"({where}{within})  {visible(finding_sentence(finding), 300)}"
