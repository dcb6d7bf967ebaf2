"""A board in Python: the serial bridge as `flashtrain.spec.serial` has it, in front of any Link."""

import os
import select
import threading

import numpy as np

from flashtrain.host import Link, RegisterError
from flashtrain.host.serial.frames import Answer, Deframer, Request
from flashtrain.spec.registers import ADDRESS_BITS
from flashtrain.spec.serial import (
    CHANGES_BYTES,
    GRAIN_BYTES,
    MAGIC,
    MOST_DATA,
    VERSION,
    WORD_BYTES,
    Flags,
    Operation,
    Status,
)

CYCLES = 10_000


class BridgeModel:
    """The bridge's answer to each content of a frame. Each takes CYCLES of the device's clock.

    performed: the requests that did not come again.
    """

    def __init__(self, link: Link) -> None:
        self.link = link
        self.performed: list[Request] = []
        self._deframer = Deframer()
        self._last: Answer | None = None
        self._written = np.zeros(len(link.memory) // GRAIN_BYTES, bool)
        self._before = link.memory.copy()
        self._cycles = 0
        self._changed = False

    def reply(self, received: bytes) -> bytes:
        """The bytes of the answers to these bytes of the line."""
        contents = self._deframer.feed(received)
        return b"".join(answer.frame() for answer in map(self.answer, contents) if answer is not None)

    def answer(self, content: bytes) -> Answer | None:
        self._cycles += CYCLES
        self.link.run(CYCLES)
        request = Request.of(content)
        if request is None:
            if len(content) < 8:
                return None
            return Answer(content[0], content[1], Status.BAD, self._flags, self._cycles)
        last = self._last
        again = last is not None and (last.operation, last.sequence) == (request.operation, request.sequence)
        if not again or request.operation is Operation.OPEN:
            self.performed.append(request)
            status, data = self._perform(request)
            last = Answer(request.operation, request.sequence, status, Flags(0), 0, data)
            self._last = None if request.operation is Operation.OPEN else last
        return Answer(last.operation, last.sequence, last.status, self._flags, self._cycles, last.data)

    def touch(self, address: int, size: int) -> None:
        """The controller has written these bytes, be they the same as before."""
        self._written[address // GRAIN_BYTES : -(-(address + size) // GRAIN_BYTES)] = True
        self._before[address : address + size] = self.link.memory[address : address + size]
        self._changed = True

    @property
    def _flags(self) -> Flags:
        changed = np.flatnonzero(self.link.memory != self._before)
        for place in np.unique(changed // GRAIN_BYTES).tolist():
            self.touch(GRAIN_BYTES * place, GRAIN_BYTES)
        interrupt = Flags.INTERRUPT if self.link.wait(0) else Flags(0)
        return interrupt | (Flags.CHANGED if self._changed else Flags(0))

    def _perform(self, request: Request) -> tuple[Status, bytes]:
        _ = self._flags  # what the device has written before
        operation, address, data = request.operation, request.address, request.data
        if not self._is_valid(request):
            return Status.BAD, b""
        place = slice(address, address + WORD_BYTES * request.words)
        match operation:
            case Operation.OPEN:
                clock = round(self.link.config.timing.clock_hz)
                numbers = (MAGIC, VERSION, len(self.link.memory), clock)
                return Status.DONE, b"".join(number.to_bytes(4, "little") for number in numbers)
            case Operation.READ:
                try:
                    return Status.DONE, self.link.read_register(address).to_bytes(4, "little")
                except RegisterError:
                    return Status.REFUSED, bytes(4)
            case Operation.WRITE:
                try:
                    self.link.write_register(address, int.from_bytes(data, "little"))
                except RegisterError:
                    return Status.REFUSED, b""
            case Operation.LOAD:
                return Status.DONE, self.link.memory[place].tobytes()
            case Operation.STORE:
                self._put(place, data)
            case Operation.FILL:
                self._put(place, data * request.words)
            case Operation.CHANGES:
                self._changed &= bool(address)
                grains = slice(place.start // GRAIN_BYTES, place.stop // GRAIN_BYTES)
                bits = np.packbits(self._written[grains], bitorder="little").tobytes()
                self._written[grains] = False
                return Status.DONE, bits
        return Status.DONE, b""

    def _is_valid(self, request: Request) -> bool:
        operation, address, words = request.operation, request.address, request.words
        size = WORD_BYTES * words
        data = {Operation.WRITE: 4, Operation.STORE: size, Operation.FILL: WORD_BYTES}.get(operation, 0)
        if len(request.data) != data:
            return False
        if operation is Operation.OPEN:
            return address == words == 0
        if operation in (Operation.READ, Operation.WRITE):
            return words == 0 and address % 4 == 0 and address < 1 << ADDRESS_BITS
        if not words or address % WORD_BYTES or address + size > len(self.link.memory):
            return False
        if operation is Operation.CHANGES:
            return address % CHANGES_BYTES == size % CHANGES_BYTES == 0
        return operation is Operation.FILL or size <= MOST_DATA

    def _put(self, place: slice, data: bytes) -> None:
        self.link.memory[place] = self._before[place] = np.frombuffer(data, np.uint8)


class Served:
    """A bridge model at the end of a descriptor, in a thread, until the other end is closed.

    spoil: changes the bytes to and from the host.
    """

    def __init__(self, model: BridgeModel, descriptor: int, spoil=lambda content: content) -> None:
        self._model, self._descriptor, self._spoil = model, descriptor, spoil
        self._ends = False
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> "Served":
        self._thread.start()
        return self

    def __exit__(self, *_) -> None:
        self._ends = True
        self._thread.join(timeout=10)
        assert not self._thread.is_alive()

    def _serve(self) -> None:
        while not self._ends:
            if not select.select([self._descriptor], [], [], 0.05)[0]:
                continue
            try:
                received = os.read(self._descriptor, 4096)
            except OSError:
                return
            if not received:
                return
            answer = self._spoil(self._model.reply(self._spoil(received)))
            try:
                while answer:
                    answer = answer[os.write(self._descriptor, answer) :]
            except OSError:
                return
