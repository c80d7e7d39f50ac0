"""`conformance watch`: what passes between a client and a server, judged and shown as it comes."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Annotated, Final

import typer
from msgspec import Struct

from conformance.cli import options as shared
from conformance.cli.failures import CONFORMS, INTERNAL
from conformance.cli.listening import (
    allow_descriptors,
    announce_ready,
    exit_code_on_signal,
    listening_address,
    settle_exit,
    upstream_origin,
    warn_beyond_loopback,
    write_port,
)
from conformance.cli.terminal import put, warn
from conformance.cli.verbs import takes_fields_of
from conformance.core.errors import UsageError
from conformance.dialects import SUPPORTED, get
from conformance.judging.checker import YAML_SUFFIXES
from conformance.profiles.load import load_profile
from conformance.profiles.lookup import has_profile
from conformance.report.printable import visible
from conformance.report.wording import count
from conformance.targets.recording import (
    ProxyLimits,
    RecordingOptions,
    RecordingProxy,
    RecordingQueue,
)
from conformance.watching.feed import KeyPressed, NoticeText, TrafficFeed
from conformance.watching.judging import TrafficJudge
from conformance.watching.line_view import LineView
from conformance.watching.timed_view import TrafficView
from conformance.watching.watcher import Watcher
from conformance.wire.hosts import AllowedHosts

if sys.platform != "win32":
    import termios
    import tty

KeyReader = Callable[[TrafficFeed, Callable[[], None]], AbstractContextManager[None]]

_KEY: Final = re.compile(r"\x1b[\[O][0-9;]*[A-Za-z~]|.", re.DOTALL)
_NAMED_KEYS: Final = {
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x1b[B": "down",
    "\x1bOB": "down",
    "\r": "enter",
    "\n": "enter",
    "\x1b": "escape",
}
_SAYS_S: Final = 0.5  # that the last line may take
_DROPS_S: Final = 0.3  # in which what a terminal does not read is dropped
_GIVE_BACK: Final = b"\x1b[?1049l\x1b[?25h"  # the screen before ours, and the cursor


class WatchArguments(Struct, frozen=True, kw_only=True):
    """The command line as it was given."""

    proxy: Annotated[
        str,
        typer.Option(
            metavar="[HOST:]PORT",
            help="Listen here and forward to --upstream; port 0: any free one.",
        ),
    ]
    upstream: Annotated[str, typer.Option(metavar="URL", help="Server to which --proxy forwards.")]
    save: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also record the traffic in this folder."),
    ] = None
    dialect: shared.DialectOption = None
    profile: shared.ProfileOption = None
    suite: shared.SuiteOption = None
    rule: shared.RuleOption = None
    lines: Annotated[
        bool,
        typer.Option("--lines", help="Print lines even on a terminal."),
    ] = False
    port_file: shared.PortFileOption = None
    allow_host: shared.AllowHostOption = None
    allow_origin: shared.AllowOriginOption = None
    cacert: shared.CacertOption = None
    insecure: shared.InsecureOption = False


@takes_fields_of(WatchArguments)
def watch_command(given: WatchArguments) -> None:
    """Show and judge the traffic between a client and a server."""
    judge = _traffic_judge(given)
    upstream = upstream_origin(given.upstream, given.cacert, insecure=given.insecure)
    host, port = listening_address(given.proxy)
    feed = TrafficFeed()
    terms = RecordingOptions(profile=given.profile)
    queue = None if given.save is None else RecordingQueue(given.save, terms)
    proxy = RecordingProxy(
        upstream,
        queue,
        host=host,
        port=port,
        warn=lambda text: feed.post(NoticeText(visible(text))),
        limits=ProxyLimits(clients=allow_descriptors(ProxyLimits().clients, each=2)),
        hosts=AllowedHosts.at(host, given.allow_host or (), given.allow_origin or ()),
        watch=feed.new_log,
    )
    warn_beyond_loopback(host)
    ended, watcher = asyncio.run(_watch_proxy(proxy, feed, judge, given))
    if watcher.error is not None:
        raise watcher.error
    is_over = not watcher.is_alive()
    if not is_over and sys.stdout.isatty():
        with suppress(OSError, termios.error):
            _give_terminal_back(watcher)
    is_read = not watcher.is_stuck and _ends_within(_SAYS_S, partial(_put_summary, watcher, given))
    if not (is_over and is_read):
        os._exit(ended)  # Python would wait for output that is never read
    raise typer.Exit(ended)


async def _watch_proxy(
    proxy: RecordingProxy, feed: TrafficFeed, judge: TrafficJudge, given: WatchArguments
) -> tuple[int, Watcher]:
    """Stands between until a signal or `q` comes. The exit code, and who watched."""
    code = exit_code_on_signal()
    loop = asyncio.get_running_loop()
    with tempfile.TemporaryDirectory(prefix="conformance-watch-") as pages:
        async with proxy:
            view, screen, keys = _chosen_view(given, proxy.url, Path(pages))
            watcher = Watcher(
                feed,
                judge,
                view,
                screen,
                lambda: loop.call_soon_threadsafe(settle_exit, code, INTERNAL),
            )
            watcher.start()
            try:
                with keys(feed, lambda: settle_exit(code, CONFORMS)):
                    ended = await code
            finally:
                await asyncio.to_thread(watcher.stop)
    return ended, watcher


def _ends_within(seconds: float, say: Callable[[], None]) -> bool:
    """Whether the last line gets written in time."""
    saying = Thread(target=say, daemon=True)
    saying.start()
    saying.join(seconds)
    return not saying.is_alive()


def _give_terminal_back(watcher: Watcher) -> None:
    """Drops the pending output of a terminal, and leaves our screen.

    A blocked writer holds the terminal, and only a signal interrupts it.
    """
    flags = os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK
    terminal = os.open(os.ttyname(sys.stdout.fileno()), flags)
    signal.signal(signal.SIGUSR1, lambda *_: None)
    until = monotonic() + _DROPS_S
    while watcher.is_alive() and watcher.is_stuck and monotonic() < until:
        termios.tcflush(terminal, termios.TCOFLUSH)
        signal.pthread_kill(watcher.ident or 0, signal.SIGUSR1)
        watcher.join(_DROPS_S / 50)
    termios.tcflush(terminal, termios.TCOFLUSH)
    os.write(terminal, _GIVE_BACK)


def _put_summary(watcher: Watcher, given: WatchArguments) -> None:
    traffic = watcher.traffic
    saved = f", recorded in {given.save}" if given.save else ""
    cut = "; what came last was not shown" if watcher.is_cut else ""
    facts = f"{count(traffic.total, 'exchange')}, {traffic.faulty} with findings{saved}{cut}"
    put(visible(facts, 2000))


def _chosen_view(
    given: WatchArguments, url: str, pages: Path
) -> tuple[TrafficView, AbstractContextManager[object], KeyReader]:
    """The view of the traffic, the contexts to enter for it, and the reader of keys."""
    if given.lines or not _has_screen():
        announce_ready(url, given.port_file)
        return LineView(put, warn), nullcontext(), _no_keys
    write_port(url, given.port_file)
    # rich is only loaded where it draws.
    from conformance.watching.screen_view import ScreenView  # noqa: PLC0415
    from conformance.watching.timeline import open_timeline  # noqa: PLC0415

    screen = ScreenView(url, given.upstream, partial(open_timeline, folder=pages))
    return screen, screen, _pressed_keys if sys.stdin.isatty() else _no_keys


def _has_screen() -> bool:
    return sys.platform != "win32" and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


@contextmanager
def _no_keys(_feed: TrafficFeed, _on_quit: Callable[[], None]) -> Iterator[None]:
    yield


@contextmanager
def _pressed_keys(feed: TrafficFeed, on_quit: Callable[[], None]) -> Iterator[None]:
    """Reads keys as they are pressed, without echo, until it is left."""
    descriptor = sys.stdin.fileno()
    loop = asyncio.get_running_loop()
    before = termios.tcgetattr(descriptor)

    def read_keys() -> None:
        for name in key_names(os.read(descriptor, 1024).decode("utf-8", "replace")):
            if name == "q":
                on_quit()
            else:
                feed.post(KeyPressed(name))

    # Closing the window must remove the folder of pages, too.
    loop.add_signal_handler(signal.SIGHUP, on_quit)
    tty.setcbreak(descriptor)
    loop.add_reader(descriptor, read_keys)
    try:
        yield
    finally:
        loop.remove_reader(descriptor)
        # At once: waiting for the output would mean waiting for a reader that does not read.
        termios.tcsetattr(descriptor, termios.TCSANOW, before)


def key_names(typed: str) -> list[str]:
    """The keys that a terminal sent; sequences that are not known are left out."""
    named = (_NAMED_KEYS.get(each, each) for each in _KEY.findall(typed))
    return [name for name in named if name.isprintable()]


def _traffic_judge(given: WatchArguments) -> TrafficJudge:
    """Raises UsageError for a profile or dialect that is not there, SpecError for broken files."""
    if given.dialect is not None:
        get(given.dialect)
    profile = given.profile
    if profile is not None and profile.endswith(YAML_SUFFIXES):
        load_profile(profile)
    elif profile is not None and not any(has_profile(each, profile) for each in SUPPORTED):
        raise UsageError(f"no profile {profile!r}", hint="see conformance list profiles")
    return TrafficJudge(
        dialect=given.dialect, profile=profile, suites=given.suite or (), rules=given.rule or ()
    )
