"""An ONFI chip as its commands have it (ONFI 5.1, section 5), and what real chips do to careless hosts.

It identifies itself and has features; its array is not in it. Every command that it does not know is kept in
`unknown`, so that a test can say that nothing else was sent.
"""

from dataclasses import dataclass, field, replace

PAGE_BYTES = 256
TWB_NS = 200
"""Of mode 0, the longest (ONFI 5.1, section 4.19)."""


def crc16(content: bytes) -> int:
    """ONFI 5.1, section 5.7.1: polynomial x16 + x15 + x2 + 1, from 4F4Eh, the highest bit first."""
    crc = 0x4F4E
    for byte in content:
        for bit in range(7, -1, -1):
            feedback = crc >> 15 ^ byte >> bit & 1
            crc = (crc << 1 ^ (0x8005 if feedback else 0)) & 0xFFFF
    return crc


@dataclass(frozen=True)
class Facts:
    """What a parameter page says, by ONFI's bytes."""

    maker: str = "FLASHTRAIN"
    model: str = "TESTED"
    jedec: int = 0x2C
    page_bytes: int = 2048
    spare_bytes: int = 64
    pages: int = 64
    blocks: int = 1024  # of a LUN
    luns: int = 1
    plane_bits: int = 0
    bits_per_cell: int = 1
    modes: int = 0b111111  # SDR timing modes
    tprog_us: int = 700
    tbers_us: int = 3000
    tr_us: int = 25
    tccs_ns: int = 200
    optional: int = 0b0000_0001_0011  # cache program, cache read, get and set features ...; bit 13 is ZQ
    drive: int = 0  # drive strengths: bit 0 35 and 50 ohms, bit 1 25, bit 2 18


def parameter_page(facts: Facts) -> bytes:
    """The 256 bytes of one copy."""
    page = bytearray(PAGE_BYTES)

    def put(offset: int, value: int, size: int) -> None:
        page[offset : offset + size] = value.to_bytes(size, "little")

    page[0:4] = b"ONFI"
    put(4, 1 << 1 | 1 << 5, 2)
    put(8, facts.optional, 2)
    page[32:44] = facts.maker.ljust(12).encode()
    page[44:64] = facts.model.ljust(20).encode()
    page[64] = facts.jedec
    put(80, facts.page_bytes, 4)
    put(84, facts.spare_bytes, 2)
    put(92, facts.pages, 4)
    put(96, facts.blocks, 4)
    page[100] = facts.luns
    page[101] = 0x23  # 2 column and 3 row cycles
    page[102] = facts.bits_per_cell
    page[113] = facts.plane_bits
    page[128] = 10
    put(129, facts.modes, 2)
    put(133, facts.tprog_us, 2)
    put(135, facts.tbers_us, 2)
    put(137, facts.tr_us, 2)
    put(139, facts.tccs_ns, 2)
    page[151] = facts.drive
    put(254, crc16(bytes(page[:254])), 2)
    return bytes(page)


@dataclass
class OnfiChip:
    """The logic behind the pins; times in nanoseconds.

    copies: the parameter page as the chip sends it, one behind the other. present: False is an empty socket.
    stuck, stuck_low: data lines that have one level, a bit each. line_low, line_high: R/B# has this level.
    first_busy: of the first reset after power-on. never_ready: no command ends.
    """

    facts: Facts = field(default_factory=Facts)
    copies: list[bytes] | None = None
    signature: bytes = b"ONFI"
    identity: bytes = bytes([0x2C, 0xDA, 0x90, 0x95, 0x06])
    present: bool = True
    stuck: int = 0
    stuck_low: int = 0
    line_low: bool = False
    line_high: bool = False
    first_busy: float = 1_000_000
    reset_busy: float = 5_000
    page_busy: float = 25_000
    feature_busy: float = 1_000
    never_ready: bool = False
    keeps_features: bool = True
    calibration_busy: float = 1_000  # tZQCL
    has_resistor: bool = True  # at ZQ

    def __post_init__(self) -> None:
        if self.copies is None:
            self.copies = [parameter_page(self.facts)] * 3
        self.busy_from = self.busy_until = 0.0
        self.was_low = False
        self.was_reset = False
        self.features: dict[int, bytes] = {}
        self.commands: list[int] = []
        self.unknown: list[int] = []
        self.ignored: list[int] = []  # while it was busy
        self.calibrations: list[tuple[int, int]] = []  # command and LUN
        self.failed = False  # the last operation
        self._awaiting = 0  # the command whose address comes
        self._feature = 0
        self._parameters = b""
        self._row = b""
        self.asked: list[int] = []  # rows of READ STATUS ENHANCED
        self._output: bytes | None = None  # None is the status
        self._place = 0
        self._mode = "none"

    def ready(self, now: float) -> bool:
        if self.line_low or self.line_high:
            return self.line_high
        return not self.present or not self.busy_from <= now < self.busy_until

    def take_busy(self, now: float) -> bool:
        """Whether R/B# has been low since this was called last."""
        is_low, self.was_low = not self.ready(now), self.was_low and not self.line_high
        was_low, self.was_low = self.was_low or is_low, is_low
        return was_low

    def _busy(self, now: float, duration: float) -> None:
        self.was_low = True
        self.busy_from = now + TWB_NS  # the pin shows it as late as that
        self.busy_until = float("inf") if self.never_ready else now + duration

    def command(self, byte: int, now: float) -> None:
        if not self.present:
            return
        self.commands.append(byte)
        if now < self.busy_until and byte not in (0x70, 0x78, 0xFF):
            self.ignored.append(byte)
            return
        if not self.was_reset and byte != 0xFF:
            self.ignored.append(byte)
            return
        if byte == 0xFF:
            self._busy(now, self.reset_busy if self.was_reset else self.first_busy)
            self.was_reset, self._mode = True, "none"
            self.features.pop(1, None)
        elif byte == 0x78 and self.facts.luns > 1:
            self._awaiting, self._row = byte, b""
        elif byte == 0x70 and self.facts.luns > 1:
            self.unknown.append(byte)  # its LUNs would answer all at once
        elif byte == 0x70:
            self._mode = "status" if self._mode != "data" else "status over data"
        elif byte == 0x00:
            self._mode = "data"
        elif byte in (0x90, 0xEC, 0xED, 0xEE, 0xEF):
            self._awaiting = byte
        elif byte in (0xF9, 0xD9) and self.facts.optional >> 13 & 1:
            self._awaiting = byte
        else:
            self.unknown.append(byte)

    def address(self, byte: int, now: float) -> None:
        if self.present and self._awaiting == 0x78:
            self._row += bytes([byte])
            if len(self._row) == 3:
                self._awaiting, self._mode = 0, "status"
                self.asked.append(int.from_bytes(self._row, "little"))
            return
        if not self.present or now < self.busy_until:
            return
        awaiting, self._awaiting = self._awaiting, 0
        self._mode, self._place = "data", 0
        assert self.copies is not None
        if awaiting == 0x90:
            self._output = self.signature if byte == 0x20 else self.identity
        elif awaiting == 0xEC:
            self._output = b"".join(self.copies)
            self._busy(now, self.page_busy)
        elif awaiting == 0xED:
            unique = bytes(range(16))
            self._output = (unique + bytes(0xFF ^ one for one in unique)) * 16
            self._busy(now, self.page_busy)
        elif awaiting == 0xEE:
            self._output = self.features.get(byte, bytes(4))
            self._busy(now, self.feature_busy)
        elif awaiting == 0xEF:
            self._feature, self._parameters = byte, b""
        elif awaiting in (0xF9, 0xD9):
            self.calibrations.append((awaiting, byte))
            self.failed = not self.has_resistor
            self._mode = "none"
            self._busy(now, self.calibration_busy)

    def data_in(self, byte: int, now: float) -> None:
        if not self.present or now < self.busy_until:
            return
        self._parameters += bytes([byte])
        if len(self._parameters) == 4:
            if self.keeps_features:
                self.features[self._feature] = self._parameters
            self._busy(now, self.feature_busy)

    def data_out(self, now: float) -> int:
        if not self.present:
            return 0xFF
        if self._mode.startswith("status") or now < self.busy_until:
            byte = 0xE0 | self.failed if now >= self.busy_until else 0x80
        elif self._output is None or self._place >= len(self._output):
            byte = 0xFF
        else:
            byte = self._output[self._place]
            self._place += 1
        return (byte | self.stuck) & ~self.stuck_low & 0xFF

    def with_bad_copies(self, *bad: int) -> "OnfiChip":
        """The same chip, some copies of whose parameter page have a wrong bit."""
        assert self.copies is not None
        copies = [
            bytes([one[0], one[1] ^ 4 if number in bad else one[1], *one[2:]])
            for number, one in enumerate(self.copies)
        ]
        return replace(self, copies=copies)
