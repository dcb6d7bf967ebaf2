"""Kills of one process after the other, each on the image that the one before has left."""

import os
import pickle
import select
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, NoReturn

from flashtrain.host import LinkFactory, open_device
from flashtrain.spec import FlashtrainError, FmsConfig, NodeTable, Port
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.stress.powercut.lost import Lost

from .ledger import Ledger, LedgerMaker
from .state_ledger import StateLedger
from .stream_ledger import StreamLedger

MEMORY_PAGES = 512
ORDERLY, EARLY = 0.1, 0.2
"""Shares of processes that end with a shutdown, and that are killed while they open the device."""
MOST_EVENTS = 24
"""Reports of a process before its kill, at most."""
PATIENCE_SECONDS = 300
"""Without a report from a process."""

LEDGERS: tuple[LedgerMaker, ...] = (
    StreamLedger,
    partial(StreamLedger, name="inputs", port=Port.HOST),
    StateLedger,
)
"""Those of a campaign by default."""


@dataclass
class KillTally:
    """Counts of a campaign.

    - kills: of processes; opening: those that had not recovered the device.
    - shutdowns: processes that ended in an orderly way.
    - acknowledged: actions that the device had acknowledged.
    - under_way: kills within an action.
    - compared: things that a later process has compared.
    """

    kills: int = 0
    opening: int = 0
    shutdowns: int = 0
    acknowledged: int = 0
    under_way: int = 0
    compared: int = 0
    seconds: float = 0.0


@dataclass
class KillCampaign:
    """Processes on a device of `config` with the image `image`, which the first one creates.

    links: of each process one by chance. ledgers: make the work, and its judges.
    """

    config: FmsConfig
    links: Sequence[LinkFactory]
    image: Path
    seed: int
    node: NodeTable = UPDATE_NODE
    ledgers: Sequence[LedgerMaker] = LEDGERS
    tally: KillTally = field(default_factory=KillTally)

    def __post_init__(self) -> None:
        self._random = Random(self.seed)
        self._made: list[Ledger] = [make(self.seed + n) for n, make in enumerate(self.ledgers)]
        self._opening = 0.1  # seconds until a process has compared everything, as of the last one
        self._between = 0.01  # seconds from one report to the next

    def run(self, kills: int, progress: Callable[[KillTally], None] = lambda tally: None) -> KillTally:
        """Until so many processes were killed; a last one compares and ends. :class:`Lost` by any of them."""
        started = time.monotonic()
        while self.tally.kills < kills:
            self._one(last=False)
            progress(self.tally)
        self._one(last=True)
        self.tally.seconds = time.monotonic() - started
        return self.tally

    def _one(self, last: bool) -> None:
        """One process, from its start to its end."""
        orderly = last or self._random.random() < ORDERLY
        early = not orderly and self._random.random() < EARLY
        events = 0 if last else self._random.randint(1, MOST_EVENTS)
        reports, said = os.pipe()
        started, seed = time.monotonic(), self._random.random()
        process = os.fork()
        if not process:
            os.close(reports)
            _Child(self, said, seed).run(events if orderly else None)
        os.close(said)
        child = _Reports(reports)
        try:
            if early:
                time.sleep(self._random.uniform(0, 1.2 * self._opening))
            elif not orderly:
                self._await(child, events, started)
                time.sleep(self._random.uniform(0, 2 * self._between))
            else:
                self._await(child, None, started)
        finally:
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
        for event in child.rest():
            self._take(event)
        child.close()
        self.tally.kills += not orderly
        self.tally.shutdowns += orderly
        self.tally.opening += not child.opened
        self.tally.under_way += child.under_way

    def _await(self, child: "_Reports", events: int | None, started: float) -> None:
        """Take reports until so many came after the device was opened; all of them (None)."""
        before = 0.0
        while events is None or events > 0:
            report = child.next(PATIENCE_SECONDS)
            if report is None:
                if events is None:
                    return
                raise Lost("a process has ended by itself")
            self._take(report)
            now = time.monotonic()
            if report[0] == "opened":
                self._opening = now - started
            elif child.opened:
                self._between = 0.9 * self._between + 0.1 * (now - before)
                events = None if events is None else events - 1
            before = now

    def _take(self, report: tuple[str, Any]) -> None:
        match report:
            case ("lost", text):
                raise Lost(text)
            case ("opened", compared):
                self.tally.compared += compared
            case ("done", _):
                self.tally.acknowledged += 1
            case ("event", (number, event)):
                self._made[number].note(event)


class _Reports:
    """The reports of a process, until its end."""

    def __init__(self, pipe: int) -> None:
        self._pipe, self._bytes = pipe, b""
        self.opened = self.under_way = False

    def next(self, seconds: float) -> tuple[str, Any] | None:
        """The next report; None at its end. :class:`Lost` if none comes for so long."""
        while (report := self._whole()) is None:
            if not select.select([self._pipe], [], [], seconds)[0]:
                raise Lost(f"a process has not reported for {seconds} s")
            more = os.read(self._pipe, 1 << 16)
            if not more:
                return None
            self._bytes += more
        self.opened = self.opened or report[0] == "opened"
        self.under_way = self.opened and report[0] == "event"
        return report

    def rest(self) -> list[tuple[str, Any]]:
        """The reports that are left of a process that has ended; one that it had begun does not count."""
        reports = []
        while (report := self.next(0)) is not None:
            reports.append(report)
        return reports

    def close(self) -> None:
        os.close(self._pipe)

    def _whole(self) -> tuple[str, Any] | None:
        size = int.from_bytes(self._bytes[:4], "little")
        if len(self._bytes) < 4 or len(self._bytes) < 4 + size:
            return None
        report, self._bytes = self._bytes[4 : 4 + size], self._bytes[4 + size :]
        return pickle.loads(report)


class _Child:
    """The process that works: it opens, compares, and goes on until it is killed."""

    def __init__(self, campaign: KillCampaign, said: int, seed: float) -> None:
        self._campaign, self._said, self._random = campaign, said, Random(seed)

    def run(self, actions: int | None) -> NoReturn:
        """So many actions and an orderly end; without a number, on and on."""
        code = 1
        try:
            self._work(actions)
            code = 0
        except FlashtrainError as error:
            self._say("lost", f"{type(error).__name__}: {error}")
        except BaseException:
            self._say("lost", traceback.format_exc())
        finally:
            os._exit(code)

    def _work(self, actions: int | None) -> None:
        c = self._campaign
        memory = MEMORY_PAGES * c.config.geometry.page_bytes
        link = self._random.choice(c.links)
        with open_device(c.config, link, c.node, memory, image=c.image) as device:
            compared = sum(
                ledger.check(device, partial(self._note, number)) for number, ledger in enumerate(c._made)
            )
            self._say("opened", compared)
            while actions is None or actions > 0:
                number = self._random.randrange(len(c._made))
                c._made[number].act(device, self._random, partial(self._note, number))
                self._say("done", None)
                actions = None if actions is None else actions - 1
            device.shutdown()

    def _note(self, number: int, event: Any) -> None:
        self._campaign._made[number].note(event)
        self._say("event", (number, event))

    def _say(self, kind: str, what: Any) -> None:
        report = pickle.dumps((kind, what))
        os.write(self._said, len(report).to_bytes(4, "little") + report)
