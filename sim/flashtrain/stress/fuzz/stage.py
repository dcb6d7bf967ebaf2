"""Where acts are performed: on the oracle, and on every device."""

from collections.abc import Callable, Sequence
from random import Random

import numpy as np

from flashtrain.host.errors import RegisterError
from flashtrain.host.link import Link
from flashtrain.host.queues.entries import CompletionEntry, defined_result
from flashtrain.spec import Status
from flashtrain.spec.registers import Control, Register, StreamRegister, stream_register

from .acts import Act, Cut, Enable, Meddle, PassTime, Recode, Submit
from .batch import Batch
from .command import FuzzCommand
from .disagreement import Disagreement
from .merges import Undecided, explanation
from .oracle import Answer, Memory, Oracle, Written
from .planted import planted_zones
from .recoding import Recoding
from .scene import Scene
from .subject import Answers, Subject

_RANDOM_BYTES = 1 << 20
_GENERATIONS = 1 << 16


class Stage:
    """Devices in the same scene, and the oracle that predicts their answers.

    - `tally`: called with each answer that was right.
    - `undecided`: shared batches with too many merges for a verdict.
    - `unjudged`: the commands of these batches.
    """

    def __init__(
        self, scene: Scene, links: dict[str, Link], tally: Callable[[FuzzCommand, Status], None]
    ) -> None:
        self.scene = scene
        self.oracle = Oracle(scene.around)
        self.subjects = [Subject(name, link, scene) for name, link in links.items()]
        self.undecided = 0
        self.unjudged = 0
        self._tally = tally
        self._unprogrammed: frozenset[int] = frozenset()
        self._pool = np.random.default_rng(1).integers(0, 256, _RANDOM_BYTES + scene.total_bytes, np.uint8)
        self._enabled = False
        for subject in self.subjects:
            subject.configure()

    @property
    def longest_batch(self) -> int:
        """In cycles."""
        return max(subject.longest_batch for subject in self.subjects)

    def batch(self, fill: int, shared: bool) -> Batch:
        """An empty batch, to be filled and then submitted."""
        image = self._pool[fill % _RANDOM_BYTES :][: self.scene.total_bytes].copy()
        return Batch(self.oracle, self.scene, image, self._unprogrammed, shared)

    def perform(self, act: Act) -> None:
        """Replay `act`, without the commands whose answers are unpredictable because others are missing."""
        match act:
            case Enable():
                self.enable(act)
            case Meddle():
                self.meddle(act)
            case PassTime():
                self.pass_time(act)
            case Recode():
                self.recode(act)
            case Submit() | Cut():
                if not self._enabled:
                    return
                batch = self.batch(act.fill, isinstance(act, Submit) and act.shared)
                for number, command in enumerate(act.commands):
                    if isinstance(act, Submit) and number == act.tail:
                        batch.begin_tail()
                    batch.admit(command)
                if isinstance(act, Submit):
                    self.submit(batch, act)
                else:
                    self.cut(batch, act)

    def enable(self, act: Enable) -> None:
        for subject in self.subjects:
            if self._enabled:
                subject.disable()
            _expect_refusals(subject, act.illegal)
            subject.enable(act.how)
        self._enabled = True
        self._unprogrammed = frozenset()
        now = self.oracle.state.now
        self.oracle.state = self.oracle.fresh_state(now, recovering=Control.RECOVER in act.how)

    def recode(self, act: Recode) -> None:
        recoding = Recoding(self.scene, planted_zones(Random(act.seed), self.scene))
        now = self.oracle.state.now
        for subject in self.subjects:
            if self._enabled:
                subject.disable()
            recoding.perform(subject, now)
        self._enabled = True
        self._unprogrammed = frozenset()
        self.oracle.state = self.oracle.fresh_state(now)
        recoding.apply(self.oracle.state)

    def meddle(self, act: Meddle) -> None:
        if self._enabled:
            for subject in self.subjects:
                _expect_refusals(subject, act.illegal)

    def pass_time(self, act: PassTime) -> None:
        state = self.oracle.state
        state.now = (state.now + act.seconds) % (1 << 32)
        for subject in self.subjects:
            subject.link.write_register(Register.TIME, state.now)

    def submit(self, batch: Batch, act: Submit) -> None:
        if batch.shared:
            self._submit_shared(batch, act)
        else:
            for subject in self.subjects:
                subject.load(batch.image)
                answers = subject.submit(batch.commands, act.manner)
                subject.link.run(act.settle)
                self._check_exact(subject, batch, answers)
                self._check_registers(subject)
        for command, answer in zip(batch.commands, batch.answers, strict=True):
            self._tally(command, answer.status)
        self._unprogrammed = batch.unprogrammed

    def cut(self, batch: Batch, act: Cut) -> None:
        """Cut within `batch`. Answers must be right; commands without one may have effects or not."""
        for subject in self.subjects:
            subject.load(batch.image)
            answers = subject.submit_and_cut(batch.commands, act.cycles)
            self._check_exact(subject, batch, answers)
        self._enabled = False

    def _check_exact(self, subject: Subject, batch: Batch, answers: Answers) -> None:
        expected: Memory = batch.image.copy()
        undefined: list[Written] = []
        for number, (command, answer) in enumerate(zip(batch.commands, batch.answers, strict=True)):
            got = answers.get((command.port, command.cid))
            if got is None:
                undefined += answer.effect.writes  # done, or not, or in part
                continue
            if not _agree(subject, command, got, answer):
                raise Disagreement(f"{subject.name}: {_answered(batch, number, got)}")
            _apply(answer, expected, undefined)
        subject.check_memory(expected, undefined, lambda address: _owner(batch, address))

    def _submit_shared(self, batch: Batch, act: Submit) -> None:
        """Each device has an explanation of its own; after the tail all are in the same state."""
        tail = len(batch) if batch.tail is None else batch.tail
        ends = []
        undecided_before = self.undecided
        for subject in self.subjects:
            subject.load(batch.image)
            answers = subject.submit(batch.commands[:tail], act.manner)
            answers |= subject.submit(batch.commands[tail:], act.manner)
            ends.append(self._explain(subject, batch, tail, answers))
            self._check_registers(subject)
        self.unjudged += len(batch) if self.undecided > undecided_before else 0
        if any(end != ends[0] for end in ends):
            raise Disagreement("the devices are in different states, though all that was shared was reset")

    def _explain(self, subject: Subject, batch: Batch, tail: int, answers: Answers) -> object:
        commands, memory = batch.commands, subject.link.memory

        def answer(number: int) -> Answer:
            entry, port = commands[number].entry, commands[number].port
            return self.oracle.refusal(entry, port) or self.oracle.answer(entry, batch.image)

        def agrees(number: int, wanted: Answer) -> bool:
            got = answers[commands[number].port, commands[number].cid]
            same = _agree(subject, commands[number], got, wanted)
            return same and all(_holds(memory, part) for part in wanted.effect.writes)

        for number, command in enumerate(commands):
            refusal = self.oracle.refusal(command.entry, command.port)
            if refusal is not None and not agrees(number, refusal):  # in whatever order
                got = answers[command.port, command.cid]
                raise Disagreement(f"{subject.name}: {_answered(batch, number, got)}")
        try:
            order = explanation(self.oracle, batch.before, commands, tail, answer, agrees)
        except Undecided:
            self.undecided += 1
            order = explanation(self.oracle, batch.before, commands, tail, answer, lambda *_: True)
            assert order is not None
            return None
        if order is None:
            listing = "\n".join(
                f"  {command} -> {_words(answers[command.port, command.cid])}" for command in commands
            )
            raise Disagreement(
                f"{subject.name}: no order between the ports explains these answers:\n{listing}"
            )
        expected: Memory = batch.image.copy()
        undefined: list[Written] = []
        for number, found in order:
            batch.answers[number] = found
            _apply(found, expected, undefined)
        subject.check_memory(expected, undefined, lambda address: _owner(batch, address))
        return self.oracle.state

    def _check_registers(self, subject: Subject) -> None:
        subject.check_state()
        for nsid, stream in self.oracle.state.streams.items():
            got = subject.link.read_register(stream_register(nsid, StreamRegister.GENERATION))
            expected = stream.generation % _GENERATIONS
            if got != expected:
                raise Disagreement(
                    f"{subject.name}: GENERATION of stream {nsid} is {got}; expected {expected}"
                )


def _agree(subject: Subject, command: FuzzCommand, got: CompletionEntry, wanted: Answer) -> bool:
    """Whether status and result are what they must be."""
    result = defined_result(command.opcode, got, subject.link.config)
    statuses = (wanted.status, wanted.effect.or_status)
    return got.status in statuses and result == wanted.effect.result


def _holds(memory: Memory, part: Written) -> bool:
    there = memory[part.address : part.address + part.length]
    return part.content is None or there.tobytes() == part.content


def _apply(answer: Answer, expected: Memory, undefined: list[Written]) -> None:
    for part in answer.effect.writes:
        if part.content is None:
            undefined.append(part)
        else:
            expected[part.address : part.address + part.length] = np.frombuffer(part.content, np.uint8)


def _expect_refusals(subject: Subject, illegal: Sequence[tuple[int, int]]) -> None:
    for address, value in illegal:
        try:
            subject.link.write_register(address, value)
        except RegisterError:
            continue
        raise Disagreement(f"{subject.name}: register {address:#06x} took {value:#x}; expected a refusal")


def _answered(batch: Batch, number: int, got: CompletionEntry) -> str:
    command, answer = batch.commands[number], batch.answers[number]
    wanted = f"{answer.status.name}, result {answer.effect.result:#x} (rule {answer.rule})"
    return f"{command}\n  answered {_words(got)}\n  expected {wanted}"


def _words(got: CompletionEntry) -> str:
    return f"{getattr(got.status, 'name', hex(got.status))}, result {got.result:#x}"


def _owner(batch: Batch, address: int) -> str:
    """Whose a byte of the tensor buffer is."""
    for command, answer in zip(batch.commands, batch.answers, strict=True):
        for part in answer.effect.writes:
            if part.address <= address < part.address + part.length:
                return f"of what this command writes: {command}"
    return "in no range that a command of the batch may write to: a forbidden access"
