"""A campaign of abuse: peers without the secret, a host with it, and a target in a process of its own."""

import random
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import NamedTuple

from flashtrain.host import LinkFactory, open_device
from flashtrain.nvme.client.authentication import Offer
from flashtrain.nvme.client.host import Host
from flashtrain.nvme.errors import NvmeError
from flashtrain.nvme.subsystem.settings import DEFAULT_NQN
from flashtrain.nvme.target.process import TargetProcess, target_process
from flashtrain.nvme.target.server import Target
from flashtrain.nvme.target.settings import LOOPBACK, Settings
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
    opener = partial(open_device, name, link, SERVE_NODE)
    settings = Settings(port=0, secret=_SECRET, stalled_seconds=stalled_seconds)
    with target_process(opener, settings, _counts) as target, ThreadPoolExecutor(peers) as pool:
        address, ended = (LOOPBACK, target.port), threading.Event()
        all_peers = [Peer(address, DEFAULT_NQN, random.Random(seed + n)) for n in range(peers)]
        try:
            running = [pool.submit(_run, peer, ended, not seconds) for peer in all_peers]
            until, minutes = time.monotonic() + seconds, time.monotonic()
            while time.monotonic() < until or sum(peer.dialogues for peer in all_peers) < dialogues:
                _use(address, name, random.Random(seed + endured.operations), endured, seed)
                for peer in running:
                    if peer.done():
                        peer.result()  # raises: a peer runs until the end
                if time.monotonic() > minutes:
                    minutes += 60
                    done = sum(peer.dialogues for peer in all_peers)
                    progress(f"{endured.operations} operations, {done} authentications, {target.ask()}")
        finally:
            ended.set()
        for peer in running:
            peer.result()
        endured.connections = sum(peer.connections for peer in all_peers)
        endured.dialogues = sum(peer.dialogues for peer in all_peers)
        if any(peer.admitted for peer in all_peers):
            raise Abused(f"seed {seed}: a peer without the secret was let in")
        endured.gone_seconds = _gone(target, stalled_seconds + 10, seed)
        endured.counts = target.ask()
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


def _gone(target: TargetProcess[Counts], seconds: float, seed: int) -> float:
    """The seconds until the target has no connections and no controllers any more."""
    started = time.monotonic()
    while True:
        counts = target.ask()
        if not (counts.connections or counts.controllers):
            return time.monotonic() - started
        if time.monotonic() > started + seconds:
            raise Abused(f"seed {seed}: {seconds:.0f} s after the abuse the target has {counts}")
        time.sleep(0.2)


def _counts(target: Target, lines: Sequence[str]) -> Counts:
    return Counts(
        target.connections, len(target.subsystem.controllers), len(lines), _most_memory(),
        str(target.subsystem.fault or ""),
    )  # fmt: skip


def _most_memory() -> int:
    """The most bytes of memory of this process. In `ru_maxrss` its parent counts, from before `exec`."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmHWM:"))
