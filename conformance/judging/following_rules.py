"""Which rules follow from which: the rows of `consequences`, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from conformance.judging.run_rules import ENDING

_OF_CLIENT: Final = "thinking/client/agrees-with-wire"
_MARKERS_OF_TGI: Final = ("wire/tgi/carries", "wire/tgi/whole-text-agrees")
_UNPLACED: Final = ("carries", "message-identified", "type-known", "tuple", "last-comes")
_NO_COUNTS: Final = (
    *("usage-present", "counts-are-whole", "counts-stated", "body-fields", "result-fields"),
    *("thinking/stream/answer-counted", "wire/responses/usage-present", ENDING.id),
)
_OF_SEALS: Final = (
    *("*/signed-unchanged", "*/sealed-unchanged", "*/redacted-unchanged", "*/signed-calls"),
    *("*/signature-present", "*/sealed-or-left-out", "*/signed-in-place", "*/turn-signed"),
    *("*/turn-sealed", "*/details-signed", "*/details-sealed"),
)
ITEM_CLOSED: Final = "wire/responses/item-closed"
PART_ORDERS: Final = (
    *("text-part-lifecycle", "raw-part-lifecycle", "refusal-part-lifecycle"),
    "part-lifecycle",
)
# What an event of a bus is of: whose part it is, and what that is.
_OF_BUS: Final = ("event-fields", "message-announced", "part-stays", "part-type-stays")
_OF_NAMES: Final = ("named-stored", "named-by-its-id", "named-once")
_OF_PLACES: Final = (
    "*/signed-in-place",
    "*/step-signed",
    "history/gemini/signed-unchanged",
    "*/signed-calls",
)
# Rule -> the ones whose breach may be why; a bare name is that of a rule in the same suite, a name
# after `*/` that of one in any suite.
FOLLOWING: Final[Mapping[str, tuple[str, ...]]] = {
    "before-its-turn": ("history/calls/asked",),
    "signed-calls": ("history/calls/asked",),
    "sealed-unchanged": ("sealed-or-left-out", "ids-distinct"),
    "call-answered": (
        *("output-of-call", "result-of-call", "result-asked", "result-addressed", "result-named"),
        *("*/calls-as-made", "line-fields", "result-last"),
    ),
    "result-named": (
        *("*/calls-as-made", "result-asked"),
        *("history/calls/asked", "history/calls/answered"),
    ),
    "none-left-open": ("asked",),
    # Of events without a type nothing is read, so that the answer seems to be cut, or empty.
    "ending": ("wire/messages/event-typed",),
    "answer-present": ("event-typed",),
    "snapshot-has-calls": ("result-of-call",),
    "input-agrees": ("hop/tools",),
    # A call that never ends is not known, nor one whose event lost its id.
    "output-of-call": ("input-complete", "call-fields"),
    "result-after-call": ("call-closed",),
    "sealed-owner": ("span-opened",),
    "span-opened": ("run-fields",),
    # What is sent as a broken call is no call of the provider's.
    "tools": (
        *("*/call-json", "*/call-opened", "*/call-open-once", "*/call-fields", "*/event-fields"),
        *("*/call-closed", "wire/arguments/are-object"),
    ),
    # Who decodes or trims what the provider sent shows another text.
    **dict.fromkeys(
        ("characters-whole", "decoded-once", "escaped-once", "words-apart"),
        ("hop/tools", "hop/text", "hop/thinking"),
    ),
    "turned-off": ("wire/chat/answer-present", "wire/chat/finish-present"),  # no answer came
    "finish-last": ("done-last",),
    "stop-reason": ("delta-present",),
    # A call is known by its index, and what is no text is no piece of its arguments.
    **dict.fromkeys(("tool-complete", "tool-identified"), ("tool-index-known", "tool-index")),
    "tool-arguments-json": ("tool-arguments-text", "tool-index-known", "tool-index"),
    "result-thinks-first": ("thinking-before-text",),
    # A part that is never closed is not closed before its item either, nor is that of an item that
    # stays open when the response ends.
    "part-closed": (*PART_ORDERS, *_OF_BUS, "part-announced", "error-said"),
    # A part that names another item is none of those that its item began.
    **dict.fromkeys(PART_ORDERS, (ITEM_CLOSED, "in-reasoning-item")),
    "parts-in-step": ("finish-last",),
    "step-finished": ("steps-in-order",),
    "not-split": (  # each ends the block
        *("before-finish", "*/reasoning-id-unique", "*/start-once", "*/message-started-once"),
        *("wire/adk/carries", "wire/acp/messages-told-apart"),
    ),
    # A message that begins again begins its calls again.
    **dict.fromkeys(("call-json", "input-json"), ("start-once",)),
    # The wire says the same of its own end, whatever comes after it.
    "before-finish": (
        "*/done-last",
        "*/finish-last",
        "*/created-first",
        "*/silent-after-response",
        "*/silent-after-cancelled",
        "*/silent-after-run",
        "*/step-last",
        "*/turn-last",
        # Turns that nothing parts are read as one.
        *("wire/stream-json/init-first", "wire/stream-json/result-last"),
        "wire/stream-json/line-fields",
        _OF_CLIENT,
    ),
    # What a client reports is not what was sent, so its order and its counts are others, too.
    **dict.fromkeys(
        (*("before-call", "before-delta", "before-text", "delta-not-empty", "said"),),
        (_OF_CLIENT,),
    ),
    # What is lost of a turn, or altered, is none of what other rules compare in it.
    "always-carried": ("signed-unchanged", "signature-present", "turn-signed"),
    "blocks-in-order": ("first-in-content",),
    "turn-sealed": ("sealed-unchanged", "sealed-or-left-out"),
    "raw-text-stated": ("raw-agrees",),
    # What was stated wrongly agrees with nothing that is built from the deltas.
    "refusal-part-agrees": ("refusal-agrees", "carries"),
    "refusal-item-agrees": ("refusal-agrees", "refusal-part-agrees"),
    "stored-sealed": ("turn-sealed",),
    # Who names something else, or what is not kept, sends what fits that.
    "named-items-once": _OF_NAMES,
    "named-not-repeated": (*_OF_NAMES, "named-items-once"),
    "named-asked": _OF_NAMES,
    "named-answered": (*_OF_NAMES, "named-asked"),
    "summary-carried": ("sealed-unchanged", "sealed-or-left-out"),
    "turn-signed": ("signed-unchanged", "signature-unchanged", "signature-present", "step-signed"),
    # Who begins a message, an item or a part under another name, or where it is not read, leaves
    # open what it was to close, and states what did not begin.
    "part-announced": (*_OF_BUS, "tool-state"),
    "part-over": ("part-announced", "part-stays", "part-ends-once"),
    "message-announced": ("event-fields",),
    "error-reported": ("event-fields", "message-announced", "error-said"),
    "idle-sent": ("event-fields", "part-stays"),
    "idle-last": ("part-closed",),
    "turn-ended": ("event-fields", "message-announced", "turn-first", "turn-named", "item-in-turn"),
    "block-type-agrees": ("message-started", "message-over"),
    "block-stated": ("block-lifecycle", "block-type-agrees", "carries"),
    "result-of-call": ("wire/stream-json/carries",),
    # A piece without content is missing where ADK states the whole.
    "fragment-says-something": ("whole-keeps-thoughts", "whole-keeps-text"),
    "result-present": ("init-first", "result-last"),
    "delta-present": ("carries", ENDING.id),
    "session-agrees": ("events-of-session",),
    "item-closed": ("item-opened", "ids-stated"),
    # A piece outside its item, or its turn, is none of what the whole is compared with.
    **dict.fromkeys(("message-agrees", "raw-agrees"), ("item-opened", "item-over")),
    "turn-last": ("item-opened", "item-over", "turn-ended"),
    # An id that is taken is that of an item, or a turn, of before.
    **dict.fromkeys(("item-opened", "question-as-asked"), ("item-stays",)),
    "turn-finished": ("turn-ended",),
    "turn-agrees": ("turn-named",),
    "turn-own-id": ("turn-closed", "turn-as-answered"),
    "result-once": ("line-once",),
    "response-own-id": ("end-once",),
    "call-ended": ("call-told-first", "call-told-once"),
    "tool-resulted": ("tool-lifecycle",),
    # Runs that nothing parts are counted as one.
    "calls-counted": ("init-once", "end-last"),
    "end-present": ("end-last", "wire/sglang/carries"),
    # A block of LangChain that is not known by its index is not finished.
    "blocks-finished": ("block-announced", "carries"),
    "message-known": ("event-id-once",),
    # Without a marker of Harmony, what it begins or ends is read as what it is not.
    "begins-with-start": ("nothing-between",),
    "call-addressed": ("content-unmarked", "role", "channel-stated"),
    "typed-for-somebody": ("role", "channel-stated"),
    **dict.fromkeys(("no-call-markup", "unmarked"), ("wire/harmony/content-unmarked",)),
    # A choice that is no text holds no message, and no end.
    **dict.fromkeys(
        ("choice-text", "chunk-fields"), ("wire/harmony/message-present", "wire/harmony/stops")
    ),
    # A request without its method leaves an answer that nothing asks for.
    "stop-reason-known": ("wire/acp/message-typed", "wire/acp/carries"),
    "silent-after-response": ("wire/acp/load-replays", "wire/acp/carries"),
    "silent-after-run": ("run-ended",),
    "chunk-begun": ("carries", "event-known"),  # nothing was read of what began
    "item-index-contiguous": ("item-index-known",),
    "reason-at-end": ("done-present",),
    **dict.fromkeys(
        ("result-states-arguments", "result-states-outputs"),
        ("result-states-calls", "result-fields", "call-named"),
    ),
    "calls-agree": ("turn-says", "carries"),
    "tool-requested": ("turn-says", "calls-agree", "carries"),
    "tool-completed": ("tool-requested",),
    "details-last": ("end-present",),  # the last event without its text is none
    # A marker that TGI sent otherwise than it wrote it down.
    "markers-balanced": _MARKERS_OF_TGI,
    "marked-before-text": (_OF_CLIENT, *_MARKERS_OF_TGI),
    "line-fields": ("done-present",),
    "arguments-fit": ("wire/gemini/partial-args-placed",),
    "tool-offered": ("*/call-named", "*/tool-named"),
    "finished-calls-there": ("delta-types",),
    "parts-kept": ("item-opened",),
    "part-opened": ("item-opened",),
    "turn-first": ("status-known",),
    "whole-text-agrees": ("carries", "thinking/stream/text-increments"),
    "details-as-asked": ("carries",),
    "no-markers": ("wire/tgi/carries",),  # what is special is no text
    "usage-last": ("answer-present", "finish-present", ENDING.id),
    "result-asked": (
        *("carries", "fragment-completed", "whole-keeps-thoughts", "*/calls-as-made"),
    ),
    "not-left-open": ("wire/chat/delta-types", "wire/chat/chunk-fields", "wire/chat/choice-fields"),
    "finish-stated": ("*/before-finish",),
    "finish-present": (
        *("finish-key", "chunk-fields", "choice-fields", "wire/chat/delta-types"),
        ENDING.id,
    ),
    "empty-choices-last": ("finish-present", ENDING.id),  # nothing it could come after
    # What is altered besides its calls is altered in later turns, too.
    "earlier-calls-signed": ("signed-calls",),
    "earlier-details-signed": ("details-signed",),
    "earlier-details-sealed": ("details-sealed",),
    "turn-redacted": ("redacted-unchanged",),
    # What a request lost of sealed data, an application lost.
    **dict.fromkeys(("opaque", "opaque-returned"), _OF_SEALS),
    "turn-unchanged": ("text-unchanged", "summary-unchanged", "kept-with-tools", "turn-signed"),
    "thoughts-as-received": ("signed-unchanged", "signed-in-place"),
    "thinking-kept": ("signature-unchanged", "turn-signed"),
    "text-unchanged": (
        *("signed-unchanged", "signature-present", "details-signed", "earlier-details-signed"),
        *("details-text-unchanged", "turn-signed"),
    ),
    "summary-unchanged": (
        *("signed-unchanged", "sealed-unchanged", "sealed-or-left-out", "turn-sealed"),
        *("ids-distinct", "items-in-order"),
    ),
    "details-text-unchanged": ("details-signed", "earlier-details-signed"),
    # The comparison shows both sides; what a request alone lacks follows from it.
    **dict.fromkeys(("signature-present", "step-signed", "signed-in-place"), ("signed-unchanged",)),
    "result-addressed": ("history/calls/asked", "history/calls/answered", "*/calls-as-made"),
    "finish-agrees": ("wire/opencode-serve/step-counted",),
    "result-stop-agrees": ("*/stop-reason-known", "wire/stream-json/tool-stop-has-tool"),
    "thinking-apart": (
        "*/reasoning-apart-from-text",  # the wire says the same of its own part
        *("*/call-opened", "*/call-closed", "*/call-json", "*/event-fields", "*/run-first"),
        *("*/signature-unchanged", "*/turn-signed", "*/thinking-kept", "*/text-as-said"),
        *("*/signed-unchanged", "*/sealed-unchanged", "*/sealed-or-left-out"),
    ),
    # A request for thoughts in a field that no server reads is no request.
    "hidden-unless-asked": ("own-fields",),
    "turns-alternate": (
        *("history/returned/turn-once", "history/returned/turns-in-order"),
        *("history/returned/one-of-tries", "history/returned/question-once"),
        *("history/calls/answered", "history/calls/none-left-open"),
    ),
    "turn-once": ("*/ids-distinct", "*/message-ids-distinct", "*/before-its-turn"),
    "message-ids-distinct": ("history/calls/asked",),
    # An answer with events of two runs is of neither.
    **dict.fromkeys(
        ("run-new", "event-new", "task-new", "entries-new"),
        ("*/run-agrees", "*/invocation-agrees", "*/task-agrees", "*/entry-identified"),
    ),
    "task-kept": ("history/a2a/task-open",),
    "thinking-marked": (
        *("*/text-as-said", "*/signed-unchanged", "*/details-signed", "*/kept-with-calls"),
        "*/kept-with-tools",
    ),
    # Who names a task with another context is to be refused.
    "context-kept": ("history/a2a/context-of-task",),
    "calls-as-made": (
        *("history/calls/ids-distinct", "history/calls/asked", "history/calls/answered"),
        *_OF_PLACES,
    ),
    "calls-complete": (
        *("calls-as-made", "history/calls/asked", "*/result-asked"),
        *("history/calls/ids-distinct", *_OF_PLACES),
    ),
    "thinking-as-received": ("sealed-unchanged",),
    "output-as-came": ("sealed-unchanged", "history/returned/calls-as-made"),
    "text-as-said": (
        *("history/returned/text-kept", "*/round-text-as-said"),
        *("signed-unchanged", "turn-signed", "turn-unchanged"),
    ),
    "round-text-as-said": ("history/returned/text-kept", "text-unchanged"),
    **dict.fromkeys(("text-once", "words-kept"), ("*/text-as-said", "*/round-text-as-said")),
    # What is closed twice is read as one part more.
    "thinking-parts": ("*/reasoning-over",),
    "said-once": (
        *("hop/try-replaced", "*/not-doubled", "increments", _OF_CLIENT),
        # The words of one message are taken for another one's.
        *("wire/stream-json/message-started", "wire/stream-json/message-stopped"),
        *("wire/stream-json/message-once", "wire/stream-json/init-first"),
    ),
    "text-said-once": ("hop/try-replaced", "text-increments"),
    "concise-is-short": ("summary/client/text-agrees",),  # a client says it twice
    "encrypted-streamed": (ITEM_CLOSED,),
    # A chunk of no message, or of another one, is missing where LangGraph restates the message.
    **dict.fromkeys(
        (*("state-keeps-thinking", "state-keeps-text", "state-keeps-calls"), "state-keeps-sealed"),
        _UNPLACED,
    ),
    "answer-counted": ("*/reasoning-within-output", "*/turn-own-id", _OF_CLIENT),
    # Counts that are no counts cannot be right.
    **dict.fromkeys(
        (
            *("thinking-counted", "thoughts-counted", "whole-thinking-counted"),
            "thinking-count-true",
        ),
        (
            *("usage-details", "wire/responses-items/usage-details", "counts-stated"),
            *("answer-counted", *_NO_COUNTS),
        ),
    ),
    "total-is-sum": _NO_COUNTS,
    "usage-details": ("wire/responses/usage-present", ENDING.id),
    "usage-as-streamed": ("*/usage-present", "*/counts-stated", "*/body-fields", "*/body-counted"),
    # Who makes up the end of an answer that broke off has neither its reason nor its counts.
    **dict.fromkeys(("usage-present", "usage-when-asked"), (ENDING.id,)),
    # What is turned off is counted: one rule of the API says so, too.
    "off-uncounted": ("effort/gemini/nought-means-none", "effort/responses/none-means-none"),
    # Thinking that came as text is counted as thinking, and lost as such.
    "text-counted": ("scenario/thinking", "*/no-markers", "*/no-thinking-body"),
    "thinking-shown": ("scenario/thinking",),
    "tail-kept": ("wire/chat/error-without-success",),
}
# Rules that follow from another id only where that leaves two halves: a begin and an end.
HALVED: Final = frozenset({"wire/copilot/tool-completed"})
# Rule -> the fields by whose breach it leads, or follows: others say nothing of an end.
LEADS_BY: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(
        ("wire/chat/delta-types", "wire/chat/chunk-fields", "wire/chat/choice-fields"),
        ("choices", "index"),
    ),
    "wire/harmony/chunk-fields": ("choices",),
    "wire/ollama/line-fields": ("done",),
    "wire/langchain-events/carries": ("index",),
    "wire/sglang/carries": ("finish_reason",),
    "wire/acp/carries": ("method", "params"),
}
# Rule -> the fields by whose breach others lead it, whatever else they lead by.
LED_BY: Final[Mapping[str, tuple[str, ...]]] = {
    "wire/chat/finished-calls-there": ("tool_calls", "function"),
}
# Rules that lead only by a field whose values part what follows: who has no id is not found by it.
LEADS_BY_SLICE: Final = ("/run-fields",)
# Rule over two answers -> the ones whose breach in either may be why their texts differ.
COMPARED: Final[Mapping[str, tuple[str, ...]]] = {
    "stripping/opt-in/stream-thinks-as-body": (
        *("scenario/thinking", "thinking/stream/increments"),
        *("*/raw-agrees", "*/result-states-thinking"),
    ),
    "stripping/opt-in/stream-calls-as-body": (
        *("*/tool-arguments-json", "*/finished-calls-there", "*/arguments-there"),
        *("*/tool-ids-distinct", "*/message-fields"),
    ),
    "stripping/opt-in/stream-equals-body": (
        *("stripping/visible-text/no-markers", "stripping/visible-text/no-thinking-body"),
        *("thinking/stream/text-increments", "thinking/stream/decoded-once"),
        *("*/text-agrees", "*/result-states-text"),
        *("thinking/answer/said", "*/answer-present", "*/message-fields", "*/body-fields"),
    ),
}
