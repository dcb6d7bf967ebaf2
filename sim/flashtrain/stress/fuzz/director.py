"""Chooses what happens next, at random, and fills batches so that they stay predictable."""

from random import Random

from flashtrain.host.queues.entries import raw_entry
from flashtrain.spec import Access, Opcode, Port
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.registers import Control
from flashtrain.spec.streams import Retention

from .acts import Act, Cut, Enable, Meddle, PassTime, Recode, Submit
from .batch import Batch
from .command import FuzzCommand
from .illegal import bad_doorbells, refused_when_disabled, refused_when_enabled
from .mutations import Mutations
from .scene import Scene
from .sensible import READING_WEIGHTS, UPDATE_WEIGHTS, WEIGHTS, Sensible
from .stage import Stage
from .subject import Manner

_MOST_COMMANDS = 24
_MUTATED = 0.45
_TRIES = 20
_SHARED = 0.1
_UPDATING = 0.3
_RECOVERING_BATCHES = 4
_RECODED, _BATCHES_TO_READ = 0.03, 4
_ENDS = [end for which in Retention for end in (which.due, which.limit)]
_SECONDS = (1, 10, -1, *_ENDS, *(end - 1 for end in _ENDS), 1 << 30)


class Director:
    """Makes acts for `stage`. Its choices depend on the seed and on what the oracle says, not on a device."""

    def __init__(self, random: Random, stage: Stage) -> None:
        self._random = random
        self._stage = stage
        self._scene: Scene = stage.scene
        self._sensible = Sensible(random, stage.scene, stage.oracle)
        self._mutations = Mutations(random, stage.scene.around)
        self._batches_to_read = 0
        self._coming: list[Act] = [self._enable(factory=random.random() < 0.5)]

    def next(self, most: int) -> tuple[Act, Batch | None]:
        """The next act, with `most` commands or a few more; a batch comes already filled."""
        if self._coming:
            return self._coming.pop(0), None
        chance = self._random.random()
        recovering = self._stage.oracle.state.recovering
        if recovering and self._random.random() < 1 / _RECOVERING_BATCHES:
            return self._leave_recovery(), None
        if chance < 0.006:
            self._coming = [self._enable()]
        elif chance < 0.012:
            self._coming = [self._enable(recover=True)]
        elif chance < 0.018:
            self._coming = [self._enable(recover=self._random.random() < 0.3)]
            return self._cut()
        elif chance < 0.018 + _RECODED * self._scene.around.config.codec:
            self._batches_to_read = _BATCHES_TO_READ
            return Recode(self._random.getrandbits(32)), None
        elif chance < 0.06:
            return Meddle(refused_when_enabled(self._random, self._scene.around.config)), None
        elif chance < 0.09:
            return PassTime(self._random.choice(_SECONDS)), None
        else:
            return self._submit(most, shared=not recovering and self._random.random() < _SHARED)
        return self._coming.pop(0), None

    def _enable(self, factory: bool = False, recover: bool = False) -> Enable:
        how = Control.FACTORY if factory else Control(0)
        if recover:
            how |= Control.RECOVER
        return Enable(how, refused_when_disabled(self._random))

    def _leave_recovery(self) -> Act:
        """By giving back all physical zones, if none was restored, or by an enable that erases all."""
        state = self._stage.oracle.state
        written = any(zone.written for stream in state.streams.values() for zone in stream.zones)
        zones = self._scene.around.config.geometry.zones
        if written or self._random.random() < 0.3:
            return self._enable()
        fill = self._random.getrandbits(20)
        nsid = self._random.choice(list(self._scene.around.rights))
        give_back = tuple(
            self._restore(nsid, number, action=RestoreAction.PHYSICAL, physical=number)
            for number in range(zones)
        )
        self._coming = [Submit((self._restore(nsid, 0, action=RestoreAction.END, sequence=99),), fill)]
        return Submit(give_back, fill)

    def _restore(self, nsid: int, cid: int, **fields: int) -> FuzzCommand:
        entry = raw_entry(opcode=Opcode.RESTORE, nsid=nsid, cid=cid, **fields)
        return FuzzCommand(Port.HOST, int.from_bytes(entry, "little"), "scripted")

    def _fill(self, batch: Batch, count: int) -> None:
        weights = READING_WEIGHTS if self._batches_to_read > 0 else WEIGHTS
        self._batches_to_read -= 1
        if not batch.shared and self._random.random() < _UPDATING:
            weights = UPDATE_WEIGHTS
        for _ in range(count):
            for _ in range(_TRIES):
                command = self._sensible.command(batch, weights)
                if self._random.random() < _MUTATED:
                    command = self._mutations.of(command)
                if batch.admit(command):
                    break

    def _submit(self, most: int, shared: bool) -> tuple[Act, Batch]:
        r = self._random
        fill = r.getrandbits(20)
        batch = self._stage.batch(fill, shared)
        most = min(most, _MOST_COMMANDS)
        self._fill(batch, r.choice([1, r.randint(1, most), most]))
        if shared:
            batch.begin_tail()
        self._look(batch)
        manner = Manner(
            at_a_time=r.choice([64, 64, 1, 2, 5]),
            doorbells=bad_doorbells(r, self._scene) if r.random() < 0.1 else (),
            pause=r.choice([0, 0, r.randrange(3000)]),
        )
        settle = r.randrange(4000) if r.random() < 0.1 else 0
        return Submit(tuple(batch.commands), fill, shared, batch.tail, manner, settle), batch

    def _look(self, batch: Batch) -> None:
        """At the zones of what was touched; in a shared batch at all, and then a reset makes them known."""
        for nsid, owner in list(batch.touched.items()):
            if not batch.shared and self._random.random() < 0.5:
                continue
            rights = self._scene.around.rights[nsid]
            port = owner
            if batch.shared:
                able = [port for port in Port if Access.APPEND in rights.of(port)]
                port = able[0] if able else owner
            self._insist(batch, Opcode.ZONE_MANAGEMENT_RECEIVE, nsid, port)
            if batch.shared and Access.APPEND in rights.of(port):
                self._insist(batch, Opcode.STREAM_RESET, nsid, port)

    def _insist(self, batch: Batch, opcode: Opcode, nsid: int, port: Port) -> None:
        """Such a command, unless there is no room in the tensor buffer left."""
        for _ in range(_TRIES):
            if batch.admit(self._sensible.of(batch, opcode, nsid, port)):
                return

    def _cut(self) -> tuple[Act, Batch]:
        r = self._random
        fill = r.getrandbits(20)
        batch = self._stage.batch(fill, shared=False)
        places = self._scene.queues
        self._fill(batch, min(place.sq_entries for place in places.values()) - 1)
        return Cut(tuple(batch.commands), fill, r.choice([0, r.randrange(300), r.randrange(20_000)])), batch
