"""Optimizer steps on the dies: tiles, headers and statistics of a step, and the commands of a die.

A *tile* is the state of some parameters on one page set of one die. It holds w of all, then m, then v, as
far as the optimizer has them: numbers in the order of plane and byte, each array in its format
(`spec.state_format`). In SPLIT, the lower halves of all weights follow the upper ones. A tile with an array
of 16 bits, or with halves, has an even number of parameters. One with moments in FP8 has a multiple of 32.
Scales, a byte each, lie behind the arrays: those of m, then those of v. Both begin with a word, and zeros
fill the last one. So all planes are programmed with state, and nothing of a parameter lies on another die.
Words of a page set past its parameters' state stay as they are.

A copy is of the weight as it is stored. With weights in BF16 or SPLIT there are copies in BF16, or none; in
SPLIT the copy is the upper half. Gradients of a tile take at most as many pages as a die has planes.

Die commands (bytes in `spec.nand`):

- LOAD_CONSTANTS: a page, whose first 64 bytes are an `UpdateHeader`, to the die; resets the statistics.
  Before an update sequence, when the die is ready and its array idle. If there was none since the die's reset
  an UPDATE writes undefined words and copies, and statistics are undefined.
- LOAD_GRADIENT: a page of gradients; the plane of its address is its number. A die has two gradient buffers,
  which are loaded in turn: the first load after an UPDATE goes to the other one. Allowed while the update
  unit works. Two records follow behind page 0: an identity (`spec.identity`), of plane 0 of the tile to be
  programmed; and a `SourceIdentity`, of the tile to be sensed.
- UPDATE_SOURCE, UPDATE_TARGET: the page to be sensed and the page to be programmed, for each plane of the die
  from plane 0 up. UPDATE_MULTI_PLANE (busy for tDBSY) follows, or UPDATE after the last plane. When the array
  is idle the die senses the tile into the data registers and exchanges the registers. Then it programs the
  tile of the UPDATE before, and the unit works meanwhile, with the gradients loaded last. The die is busy
  until the unit has worked on the tile. The pages of the tile get the identity that came with its gradients,
  each with its own `plane` and the CRC that goes with it; their other spare bytes stay as they are. When the
  die is ready again FAILC is the status of the program two UPDATEs before; while RDY is set the next
  gradients, copies, statistics and UPDATEs may follow.
- The page that was sensed on each plane must have an identity. Stream, zone, page and sequence are those of
  the `SourceIdentity`; channel and die those of the page to be programmed; the plane is its own; wear and
  `updated` may be any. So may the generation, which follows from the sequence: an allocation of a zone has
  pages of one generation. Otherwise the tile is *damaged* on its plane. A damaged tile is
  programmed nevertheless, with 16 zeros instead of each identity; its words and copies are undefined. So no
  page of it can be taken for a good one. Its program reports a failure on the planes where it is damaged.
- With a code (`spec.ecc`) the unit works on corrected words only, and compares corrected identities. Every
  page of the tile gets the parity of its new content, identity included. A word that cannot be corrected also
  damages the tile. Pages that are written or read in any other way cross the pins as they are; no parity
  follows copies and statistics.
- UPDATE_END: when the array is idle, the tile of the last UPDATE is programmed. The die is ready at once;
  FAILC is the status of the program before, and FAIL at ARDY its own. Between the first UPDATE and the end
  only the commands above and below, status and reset are allowed.
- READ_COPY: selects a page (the plane of its address) of the 16-bit copies of the last UPDATE for output
  after tCCS. Bytes past the last copy or the page are undefined.
- READ_STATISTICS: selects the statistics for output after tCCS: an `UpdateStatistics`, then zeros.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from .errors import require, require_range
from .geometry import Geometry
from .nvme import BitField
from .optimizer import CONSTANT_WORDS, PARTIAL_SUMS, PROGRAMS, CopyFormat, GradientFormat, OptimizerCode
from .state_format import KEY_BITS, PLAIN, SCALE_GROUP, StateFormat, StateFormats

WORD_BYTES = 4
GRADIENT_BUFFERS = 2


@dataclass(frozen=True)
class Tile:
    """How the state of an optimizer lies on a page set.

    A parameter has `arrays` numbers of state: 1 to 3, for w, m and v, in these formats.
    """

    geometry: Geometry
    arrays: int
    gradient_format: GradientFormat
    copy_format: CopyFormat
    formats: StateFormats = PLAIN

    def __post_init__(self) -> None:
        require_range("tile.arrays", self.arrays, 1, 3)
        if self.formats.weight is not StateFormat.FP32:
            require(self.copy_format is not CopyFormat.FP16, "tile.copy_format", self.copy_format.name,
                    f"BF16 or NONE for weights in {self.formats.weight.name}")  # fmt: skip
        fits = self.gradient_pages <= gradient_buffer_pages(self.geometry)
        require(fits, "tile.gradient_format", self.gradient_format.name,
                f"one of 16 bits for a parameter with {self.state_bytes:g} bytes of state")  # fmt: skip

    @classmethod
    def of(
        cls,
        geometry: Geometry,
        code: OptimizerCode,
        gradient: GradientFormat,
        copy: CopyFormat,
        formats: StateFormats = PLAIN,
    ) -> "Tile":
        narrow = formats.moments is StateFormat.FP8 and code is OptimizerCode.ADAMW_SCHEDULE_FREE
        require(not narrow, "formats.moments", formats.moments.name,
                f"FP32 or BF16 for {code.name}, whose M is weights")  # fmt: skip
        return cls(geometry, len(PROGRAMS[code].outputs), gradient, copy, formats)

    @property
    def words(self) -> int:
        """Words of the page set."""
        return self.geometry.page_set_bytes // WORD_BYTES

    @property
    def state_bytes(self) -> float:
        """Bytes of state of a parameter, with its parts of scales."""
        return self.formats.bytes_of(self.arrays)

    @property
    def multiple(self) -> int:
        """Parameters come in multiples of this: two with an array of 16 bits, whose words hold two."""
        return max(self.formats.of(number).multiple for number in range(self.arrays))

    @cached_property
    def parameters(self) -> int:
        """Parameters of a tile: the most whose words fit."""
        most = int(self.geometry.page_set_bytes // self.state_bytes)
        fitting = range(most // self.multiple * self.multiple, 0, -self.multiple)
        return next(count for count in fitting if self._bytes(count) <= self.geometry.page_set_bytes)

    def array_bytes(self, number: int) -> range:
        """The bytes of array `number` (0 is w, 1 is m, 2 is v) within the tile's data, without scales."""
        return self._places(self.parameters)[number]

    @property
    def upper_bytes(self) -> range:
        """The bytes of the weights in BF16: all of them, or in SPLIT the upper halves."""
        return range(2 * self.parameters)

    def scale_bytes(self, number: int) -> range:
        """The bytes of the scales of an array in FP8."""
        first = self._places(self.parameters)[self.arrays + number].start
        return range(first, first + self.parameters // SCALE_GROUP)

    def numbers_on(self, number: int, plane: int) -> tuple[range, ...]:
        """The numbers of an array that lie on a page, in SPLIT by halves, and those whose scales do."""
        page = range(plane * self.geometry.page_bytes, (plane + 1) * self.geometry.page_bytes)
        form, places = self.formats.of(number), self._places(self.parameters)

        def on_page(place: range, each: int, numbers: int) -> range:
            """Of a place with so many numbers in `each` bytes."""
            first, last = max(place.start, page.start), min(place.stop, page.stop)
            begin, end = (first - place.start) * numbers // each, (last - place.start) * numbers // each
            return range(begin, min(end, self.parameters))

        numbers, scales = places[number], places[self.arrays + number]
        halves = (numbers[: len(numbers) // 2], numbers[len(numbers) // 2 :])
        if form is StateFormat.SPLIT:
            return tuple(on_page(half, form.bytes // 2, 1) for half in halves)
        return on_page(numbers, form.bytes, 1), on_page(scales, 1, SCALE_GROUP)

    def first_bytes(self, parameters: int) -> list[int]:
        """Where the arrays begin, and then the scales of each, in a tile of so many parameters."""
        return [place.start for place in self._places(parameters)]

    def _bytes(self, parameters: int) -> int:
        return self._places(parameters)[-1].stop

    def _places(self, parameters: int) -> list[range]:
        forms = [self.formats.of(number) for number in range(self.arrays)]
        scales = -(-parameters // SCALE_GROUP // WORD_BYTES) * WORD_BYTES
        sizes = [parameters * form.bytes for form in forms]
        sizes += [scales if form is StateFormat.FP8 else 0 for form in forms]
        ends = list(accumulate(sizes))
        return [range(end - size, end) for size, end in zip(sizes, ends, strict=True)]

    @property
    def gradient_pages(self) -> int:
        """Pages of gradients: of all parameters in order, from the first byte on."""
        return self._pages(self.gradient_format.bytes)

    @property
    def copy_pages(self) -> int:
        """Pages of 16-bit copies of the new weights, in order."""
        return self._pages(self.copy_format.bytes)

    def _pages(self, each: int) -> int:
        return -(-self.parameters * each // self.geometry.page_bytes)


def gradient_buffer_pages(geometry: Geometry) -> int:
    """Pages of one gradient buffer of a die: gradients as large as the state, one word of it in binary32."""
    return geometry.planes


class UpdateHeader:
    """Formats and constants of an optimizer step, in the first bytes of a LOAD_CONSTANTS page."""

    BYTES = 64
    code = BitField(0, 8)  # OptimizerCode
    gradient_format = BitField(8, 8)
    copy_format = BitField(16, 8)
    weight_format = BitField(24, 4)  # StateFormat of w
    moment_format = BitField(28, 3)  # StateFormat of m and v
    rounding = BitField(31, 1)  # Rounding of what is stored in 16 or 8 bits
    parameters = BitField(
        32, 32
    )  # of a tile; more than fit count as all that fit; parts of a `multiple` do not
    rounding_key = BitField(64, KEY_BITS)  # of stochastic rounding
    first_zone = BitField(112, 12)  # of the stream; the place of a tile counts its zone from there
    constants = tuple(BitField(32 * (4 + number), 32) for number in range(CONSTANT_WORDS))  # binary32
    first_page = BitField(384, 12)  # of the generation in its zone; the place counts its page from there


class SourceIdentity:
    """Fields that all identities of a tile to be sensed share, and that differ in the tile to be programmed.

    One that is damaged on its way fits no page.
    """

    BYTES = 8
    sequence = BitField(0, 32)  # these as in `PageIdentity`
    stream = BitField(32, 3)
    zone = BitField(35, 12)
    page = BitField(47, 12)


class UpdateStatistics:
    """Statistics of a die's gradients since LOAD_CONSTANTS.

    Gradient i of each tile counts in sum i mod PARTIAL_SUMS; `spec.optimizer` defines the statistics.
    """

    BYTES = 64
    nans = BitField(0, 32)
    infinities = BitField(32, 32)
    largest = BitField(64, 32)  # binary32
    tiles = BitField(96, 32)  # updated
    squares = tuple(BitField(32 * (4 + number), 32) for number in range(PARTIAL_SUMS))  # binary32
