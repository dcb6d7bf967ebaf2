"""A campaign of abuse: peers without the secret, a host with it, and a target in a process of its own."""

import asyncio
import multiprocessing
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NamedTuple

from flashtrain.host import LinkFactory, open_device
from flashtrain.nvme.client.authentication import Offer
from flashtrain.nvme.client.host import Host
from flashtrain.nvme.errors import NvmeError
from flashtrain.nvme.target.server import Target
from flashtrain.nvme.target.settings import DEFAULT_NQN, LOOPBACK, Settings
from flashtrain.nvme.wire.dhchap import make_secret
from flashtrain.nvme.wire.ffdhe import DhGroup
from flashtrain.spec import FlashtrainError, ZoneAction, preset
from flashtrain.spec.streams import SERVE_NODE

from .peers import Peer

_SECRET = make_secret(bytes(range(32)))
_HOST = "nqn.2014-08.org.nvmexpress:uuid:00000000-0000-4000-8000-0000000000aa"
_NSID = 1
_PATIENCE_SECONDS = 300
"""A command of a simulation may take long on a loaded machine, and its host is silent for that."""


class Abused(FlashtrainError):
    """The target has let a peer in, has failed its host, or holds something; the message names the seed."""


class Counts(NamedTuple):
    """The state of a target: open connections, controllers, lines of its log, most memory, its fault."""

    connections: int
    controllers: int
    lines: int
    most_memory_bytes: int
    fault: str


@dataclass
class Endured:
    """A campaign, as it went.

    - connections: of peers, each with some abuse; dialogues: authentications that were begun.
    - operations: of the host, each with right data; longest_seconds: of them.
    - counts: of the target at the end; gone_seconds: until it had neither connections nor controllers.
    """

    connections: int = 0
    dialogues: int = 0
    operations: int = 0
    longest_seconds: float = 0.0
    gone_seconds: float = 0.0
    counts: Counts = Counts(0, 0, 0, 0, "")


def abuse(
    name: str, link: LinkFactory, seconds: float, seed: int, *, peers: int = 8, dialogues: int = 0,
    stalled_seconds: float = 30.0, progress: Callable[[str], None] = lambda line: None,
) -> Endured:  # fmt: skip
    """Abuse a target of preset `name` for so long, and for so many authentications; :class:`Abused`.

    In no time there are authentications only. The seed of peer n is `seed + n`. `progress` gets a line each
    minute.
    """
    endured = Endured()
    with _served(name, link, stalled_seconds) as (port, pipe):
        all_peers = [Peer((LOOPBACK, port), DEFAULT_NQN, random.Random(seed + n)) for n in range(peers)]
        ended = threading.Event()
        threads = [threading.Thread(target=_run, args=(peer, ended, not seconds)) for peer in all_peers]
        for thread in threads:
            thread.start()
        try:
            until, minutes = time.monotonic() + seconds, time.monotonic()
            while time.monotonic() < until or sum(peer.dialogues for peer in all_peers) < dialogues:
                _use((LOOPBACK, port), name, random.Random(seed + endured.operations), endured, seed)
                if time.monotonic() > minutes:
                    minutes += 60
                    done = sum(peer.dialogues for peer in all_peers)
                    progress(f"{endured.operations} operations, {done} authentications, {_counts(pipe)}")
        finally:
            ended.set()
            for thread in threads:
                thread.join()
        endured.connections = sum(peer.connections for peer in all_peers)
        endured.dialogues = sum(peer.dialogues for peer in all_peers)
        if any(peer.admitted for peer in all_peers):
            raise Abused(f"seed {seed}: a peer without the secret was let in")
        endured.gone_seconds = _gone(pipe, stalled_seconds + 10, seed)
        endured.counts = _counts(pipe)
    if endured.counts.fault:
        raise Abused(f"seed {seed}: the device has stopped: {endured.counts.fault}")
    return endured


def _run(peer: Peer, ended: threading.Event, dialogues_only: bool) -> None:
    while not ended.is_set():
        peer.run(dialogues_only)


def _use(address: tuple[str, int], name: str, rng: random.Random, endured: Endured, seed: int) -> None:
    """A host with the secret connects, writes, and reads 20 times."""
    offer, started = Offer(_SECRET, groups=(DhGroup.NULL,)), time.monotonic()
    try:
        with Host(
            address,
            DEFAULT_NQN,
            _HOST,
            offer=offer,
            keep_alive=1000 * _PATIENCE_SECONDS,
            timeout=_PATIENCE_SECONDS,
        ) as host:
            data = rng.randbytes(4 * preset(name).geometry.page_bytes)
            host.manage(_NSID, 0, ZoneAction.RESET)
            host.write(_NSID, 0, data)
            for _ in range(20):
                if host.read(_NSID, 0, 4) != data:
                    raise Abused(f"seed {seed}: the host reads wrong data")
                now = time.monotonic()
                endured.longest_seconds = max(endured.longest_seconds, now - started)
                started = now
                endured.operations += 1
    except (NvmeError, OSError) as error:
        raise Abused(f"seed {seed}: the host with the secret: {error}") from error


def _gone(pipe: Connection, seconds: float, seed: int) -> float:
    """The seconds until the target has no connections and no controllers any more."""
    started = time.monotonic()
    while True:
        counts = _counts(pipe)
        if not (counts.connections or counts.controllers):
            return time.monotonic() - started
        if time.monotonic() > started + seconds:
            raise Abused(f"seed {seed}: {seconds:.0f} s after the abuse the target has {counts}")
        time.sleep(0.2)


def _counts(pipe: Connection) -> Counts:
    pipe.send(None)
    return pipe.recv()


@contextmanager
def _served(name: str, link: LinkFactory, stalled_seconds: float) -> Iterator[tuple[int, Connection]]:
    """The port of a target in a process of its own, and a pipe for its counts."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(name, link, stalled_seconds, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        try:
            port = ours.recv()
        except EOFError:
            raise Abused("the target has not started") from None
        yield port, ours
    finally:
        ours.close()
        process.join()


def _serve(name: str, link: LinkFactory, stalled_seconds: float, asked: Connection) -> None:
    """Serve until the other end of the pipe is closed, and send the counts when they are asked for."""
    lines: list[str] = []

    async def serve() -> None:
        settings = Settings(port=0, secret=_SECRET, stalled_seconds=stalled_seconds)
        async with Target(device, settings, lines.append) as target:
            asked.send(target.port)
            while await asyncio.to_thread(_is_asked, asked):
                fault = target.subsystem.fault
                asked.send(
                    Counts(
                        target.connections, len(target.subsystem.controllers), len(lines),
                        _most_memory(), str(fault or ""),
                    )
                )  # fmt: skip

    with open_device(name, link, SERVE_NODE) as device:
        asyncio.run(serve())


def _most_memory() -> int:
    """The most bytes of memory of this process. In `ru_maxrss` its parent counts, from before `exec`."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM:"))


def _is_asked(asked: Connection) -> bool:
    try:
        asked.recv()
    except (EOFError, OSError):
        return False
    return True
