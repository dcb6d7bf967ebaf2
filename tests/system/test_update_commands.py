"""Commands of optimizer steps, raw: statuses in the order of checks, generations, statistics."""

import numpy as np
import pytest

from flashtrain.host import open_device
from flashtrain.host.state.state_stream import TileStep, parse_statistics
from flashtrain.numerics import statistics
from flashtrain.spec import (
    Access,
    NodeTable,
    Opcode,
    Persistency,
    Port,
    Status,
    Stream,
    ZoneAction,
    ZoneState,
)
from flashtrain.spec.identity import PageIdentity, RestoreAction, is_identity
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, OptimizerCode
from flashtrain.spec.streams import UPDATE_NODE, Retention
from flashtrain.spec.update import Tile
from flashtrain.training.optimizers import SGD, Adam

APPEND, READ, WRITE = Opcode.ZONE_APPEND, Opcode.READ, Opcode.WRITE
SEND, RETIRE, RESET, FLUSH = (
    Opcode.ZONE_MANAGEMENT_SEND,
    Opcode.ZONE_RETIRE,
    Opcode.STREAM_RESET,
    Opcode.FLUSH,
)
SET, GET, UPDATE, GENERATION = Opcode.SET_CONSTANTS, Opcode.GET_STATISTICS, Opcode.UPDATE, Opcode.GENERATION
COMMIT, PIN, RELEASE, ADVANCE = GenerationAction
SUCCESS = Status.SUCCESS
A, B = 5, 6  # namespaces of state_a and state_b


class Commands:
    """Raw commands to both state streams; an update is of one row with one page of gradients."""

    def __init__(self, raw):
        self.raw = raw
        self.device = raw.device
        g = self.g = raw.config.geometry
        self.row = g.channels * g.planes
        self.zone = g.zone_size

    def status(self, opcode, stream="state_a", **fields):
        return self.raw.status(opcode, stream, **fields)

    def append(self, stream="state_a", blocks=None, zone=0):
        blocks = self.row if blocks is None else blocks
        most = self.raw.config.max_blocks
        for start in range(0, blocks, most):
            part = min(most, blocks - start)
            assert self.status(APPEND, stream, slba=zone * self.zone, nlb=part - 1) == SUCCESS

    def set_constants(self, code=OptimizerCode.ADAM, optimizer=None):
        optimizer = optimizer or Adam()
        tile = Tile.of(self.g, code, GradientFormat.BF16, CopyFormat.BF16)
        header = TileStep(tile, optimizer.constants(1)).header()
        pages = self.raw.data.reshape(-1, self.raw.page_bytes)
        pages[: self.g.channels * self.g.dies, : len(header)] = np.frombuffer(header, np.uint8)
        assert self.status(SET) == SUCCESS
        return tile

    def update(self, stream="state_b", source=A, rows=1, pages=1, **fields):
        nlb = rows * pages * self.g.channels - 1
        return self.raw.answer(
            UPDATE, stream, **({"nlb": nlb, "rows": rows, "pages": pages, "source": source} | fields)
        )

    def update_status(self, *args, **fields):
        return self.update(*args, **fields).status

    def generation(self, action, stream="state_b", source=0, **fields):
        return self.status(GENERATION, stream, action=action, source=source, **fields)


@pytest.fixture
def commands(update_device, raw_of):
    return Commands(raw_of(update_device))


@pytest.fixture
def started(commands):
    """Two rows of state in state_a, constants set."""
    commands.raw.data[:] = 0
    commands.append(blocks=2 * commands.row)
    commands.set_constants()
    return commands


def test_namespaces(started):
    for source in (0, 9, 255, B):
        assert started.update_status(source=source) == Status.INVALID_NAMESPACE
        assert started.generation(COMMIT, source=source) == Status.INVALID_NAMESPACE
    assert started.update_status(source=A) == SUCCESS


def test_ports(started):
    """The host may only read state; the core may only read inputs."""
    for opcode in (SET, GENERATION):
        assert started.status(opcode, port=Port.HOST, action=PIN) == Status.ACCESS_DENIED
    assert started.status(GET, port=Port.HOST) == SUCCESS
    assert started.status(GET, "activations", port=Port.HOST) == Status.ACCESS_DENIED
    assert started.update_status(port=Port.HOST) == Status.ACCESS_DENIED
    assert started.generation(COMMIT, source=1) == Status.ACCESS_DENIED


def test_rights_on_the_source(link, raw_of):
    read, append = Access.READ, Access.APPEND
    streams = [
        Stream(1, "both", Persistency.NON_VOLATILE, Retention.DAYS, host=Access.NONE, core=read | append),
        Stream(2, "reads", Persistency.NON_VOLATILE, Retention.DAYS, host=Access.NONE, core=read),
        Stream(3, "appends", Persistency.NON_VOLATILE, Retention.DAYS, host=Access.NONE, core=append),
    ]
    # The last stream has the zones that are left over: one more for it to be of another size.
    rest = Stream(
        4, "rest", Persistency.VOLATILE, Retention.DAYS, host=Access.NONE, core=read | append, share=9
    )
    with open_device(link=link, node=NodeTable("rights", (*streams, rest))) as device:
        commands = Commands(raw_of(device))
        assert commands.update_status("both", source=3) == Status.ACCESS_DENIED
        assert commands.update_status("both", source=2) == Status.UNWRITTEN_BLOCK
        assert commands.generation(COMMIT, "both", source=2) == Status.ACCESS_DENIED
        assert commands.generation(COMMIT, "both", source=3) == Status.INVALID_FIELD  # no update before
        assert commands.update_status("both", source=4) == Status.INVALID_FIELD  # of another size
        assert commands.generation(COMMIT, "both", source=4) == Status.INVALID_FIELD


def test_fields(started):
    g, channels = started.g, started.g.channels
    bad = Status.INVALID_FIELD
    assert started.update_status(pages=0, nlb=channels - 1) == bad
    assert started.update_status(pages=g.planes + 1) == bad
    assert started.update_status(pages=1, copies=2) == bad
    assert started.update_status(rows=0, nlb=0) == bad
    for blocks in (1, channels - 1, channels + 1, 2 * channels):
        assert started.update_status(nlb=blocks - 1) == bad
    assert started.update_status(rows=2, nlb=channels - 1) == bad
    for slba in (1, started.row, started.zone - 1, started.zone + 1):
        assert started.update_status(slba=slba) == bad
    dies = channels * g.dies
    for opcode in (SET, GET):
        for blocks in (1, dies - 1, dies + 1):
            assert started.status(opcode, nlb=blocks - 1) == bad
        assert started.status(opcode, slba=(1 << 64) - 1) == SUCCESS
    for page in (g.pages, g.pages + 1, 0xFFFF):
        assert started.update_status(source_page=page) == bad
    for action in (0, 5, 6, 255):
        assert started.generation(action) == bad
    rows = started.raw.config.max_blocks // channels + 1
    assert started.update_status(rows=rows) == bad


@pytest.mark.parametrize("opcode", [SET, GET, UPDATE], ids=lambda opcode: opcode.name)
def test_data_pointers(started, opcode):
    fields = (
        {} if opcode is not UPDATE else {"nlb": started.g.channels - 1, "rows": 1, "pages": 1, "source": A}
    )
    stream = "state_b"
    memory = len(started.device.link.memory)
    assert started.status(opcode, stream, psdt=0, **fields) == Status.INVALID_FIELD
    assert started.status(opcode, stream, sgl_type=0x10, **fields) == Status.SGL_TYPE_INVALID
    assert started.status(opcode, stream, length=0, **fields) == Status.SGL_LENGTH_INVALID
    assert started.status(opcode, stream, address=8, **fields) == Status.SGL_GRANULARITY_INVALID
    assert started.status(opcode, stream, address=memory, **fields) == Status.DATA_TRANSFER_ERROR
    assert started.status(opcode, stream, **fields) == SUCCESS


def test_the_first_check_that_fails_counts(started):
    """An update with every fault; mended one at a time, it answers with the next check's status."""
    c = started
    page, length = c.raw.page_bytes, c.g.channels * c.raw.page_bytes
    zones = c.device.stream("state_b").zones
    assert c.generation(PIN) == SUCCESS
    fields = {
        "fuse": 1, "stream": "state_b", "source": 9, "port": Port.HOST, "slba": zones * c.zone, "rows": 1,
        "pages": 0, "nlb": c.g.channels - 1, "sgl_type": 0x20, "length": 3, "address": (1 << 48) + 1,
    }  # fmt: skip
    steps = [
        (Status.INVALID_FIELD, {"fuse": 0}),
        (Status.INVALID_NAMESPACE, {"source": A}),
        (Status.ACCESS_DENIED, {"port": Port.CORE}),
        (Status.INVALID_FIELD, {"pages": 1}),
        (Status.SGL_TYPE_INVALID, {"sgl_type": 0}),
        (Status.SGL_LENGTH_INVALID, {"length": length}),
        (Status.SGL_GRANULARITY_INVALID, {"address": 1 << 48}),
        (Status.DATA_TRANSFER_ERROR, {"address": c.raw.address}),
        (Status.LBA_OUT_OF_RANGE, {"slba": c.zone}),
        (Status.NAMESPACE_WRITE_PROTECTED, {}),
    ]
    for expected, mended in steps:
        assert c.status(UPDATE, **fields) == expected
        fields |= mended
    assert page and c.generation(RELEASE) == SUCCESS
    # The destination's zone comes before the source's.
    c.append("state_b", 1, zone=1)
    assert c.status(UPDATE, **fields) == Status.ZONE_INVALID_WRITE
    assert c.status(SEND, "state_b", slba=c.zone, action=ZoneAction.RESET) == SUCCESS
    assert c.status(UPDATE, **fields) == Status.UNWRITTEN_BLOCK
    fields["slba"] = 0
    assert c.status(UPDATE, **fields) == SUCCESS


def test_zones_of_the_destination(started):
    c = started
    for state, expected in (
        (ZoneState.READ_ONLY, Status.ZONE_IS_READ_ONLY),
        (ZoneState.OFFLINE, Status.ZONE_IS_OFFLINE),
    ):
        assert c.status(RETIRE, "state_b", slba=c.zone, action=state) == SUCCESS
        assert c.update_status(slba=c.zone) == expected
    for blocks in (1, c.row - 1, c.row + 1):
        c.append("state_b", blocks)
        assert c.update_status() == Status.ZONE_INVALID_WRITE
        assert c.status(RESET, "state_b") == SUCCESS
    assert c.status(SEND, "state_b", action=ZoneAction.FINISH) == SUCCESS
    assert c.update_status() == Status.ZONE_IS_FULL


def test_the_end_of_a_zone(started):
    c = started
    capacity = c.g.zone_capacity
    c.append(blocks=capacity - 2 * c.row)
    c.append("state_b", capacity - c.row)
    assert c.update_status(rows=2) == Status.ZONE_BOUNDARY_ERROR
    answer = c.update()
    assert (answer.status, answer.result) == (SUCCESS, capacity - c.row)
    assert c.update_status() == Status.ZONE_IS_FULL
    assert c.device.stream("state_b").report()[0].state is ZoneState.FULL


def test_zones_of_the_source(started):
    c = started
    assert c.update_status(rows=3) == Status.UNWRITTEN_BLOCK
    assert c.update_status(slba=c.zone) == Status.UNWRITTEN_BLOCK
    assert c.update_status(rows=2) == SUCCESS
    assert c.update_status(source_page=2 // c.g.dies) == Status.UNWRITTEN_BLOCK
    assert c.update_status(source_page=c.g.pages - 1) == Status.UNWRITTEN_BLOCK
    assert c.status(RESET, "state_b") == SUCCESS
    assert c.status(RETIRE, action=ZoneState.READ_ONLY) == SUCCESS
    assert c.update_status() == SUCCESS
    assert c.status(RETIRE, action=ZoneState.OFFLINE) == SUCCESS
    assert c.update_status() == Status.ZONE_IS_OFFLINE


def test_a_refused_update_changes_nothing(started):
    c = started
    before = [c.device.stream(name).report() for name in ("state_a", "state_b")]
    c.raw.data[:] = 0x5A
    assert c.update_status(rows=3, copies=1) == Status.UNWRITTEN_BLOCK
    assert (c.raw.data == 0x5A).all()
    assert [c.device.stream(name).report() for name in ("state_a", "state_b")] == before
    assert c.status(READ, "state_b") == Status.UNWRITTEN_BLOCK  # not uncommitted


def test_uncommitted(started):
    c = started
    assert c.update_status() == SUCCESS
    for slba in (0, c.zone):
        assert c.status(READ, "state_b", slba=slba) == Status.NAMESPACE_NOT_READY
    assert c.generation(PIN) == Status.NAMESPACE_NOT_READY
    assert c.update_status("state_a", source=B) == Status.NAMESPACE_NOT_READY
    assert c.generation(COMMIT, source=A) == Status.INVALID_FIELD  # one row of two
    assert c.update_status() == SUCCESS
    before = [c.device.state_stream(name).generation for name in ("state_a", "state_b")]
    assert c.generation(COMMIT, source=A) == SUCCESS
    after = [c.device.state_stream(name).generation for name in ("state_a", "state_b")]
    assert after == [before[0] + 1, before[1]]
    assert c.status(READ, "state_b") == SUCCESS
    assert c.status(READ, "state_a") == Status.UNWRITTEN_BLOCK
    assert c.generation(COMMIT, source=A) == Status.INVALID_FIELD


def test_tiles_of_any_page_of_the_source(commands, seed):
    """A step without gradients moves tiles to other pages of the same die, and changes nothing in them."""
    c, g = commands, commands.g
    tile = c.set_constants(OptimizerCode.SGD, SGD(1.0))
    c.raw.data[:] = 0
    shape = (4, g.dies * c.row, g.page_bytes // 4)  # pages, blocks, floats
    content = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    c.device.stream("state_a").append(content)
    target = c.device.stream("state_b")
    for place, page in enumerate((2, 0, 3, 1, 2)):
        for row in range(g.dies):
            answer = c.update(pages=tile.gradient_pages, source_page=page)
            assert (answer.status, answer.result) == (SUCCESS, (place * g.dies + row) * c.row)
        assert c.generation(ADVANCE) == SUCCESS
        moved = target.read_blocks(place * g.dies * c.row, g.dies * c.row).view(np.float32)
        assert np.array_equal(moved.reshape(shape[1:]), content[page]), page
    rows = min(3 * g.dies, c.raw.config.max_blocks // (tile.gradient_pages * g.channels))
    past = -(-(4 * g.dies - rows + 1) // g.dies)
    blocks = rows * tile.gradient_pages * g.channels
    fields = {"rows": rows, "pages": tile.gradient_pages, "nlb": blocks - 1}
    if 5 * g.dies + rows <= g.pages * g.dies:
        assert c.update_status(**fields, source_page=past) == Status.UNWRITTEN_BLOCK
        assert c.update_status(**fields, source_page=past - 1) == SUCCESS


def test_an_advance_resets_nothing(started):
    c = started
    assert c.generation(ADVANCE) == Status.INVALID_FIELD  # no update before
    before = [c.device.state_stream(name).generation for name in ("state_a", "state_b")]
    for row in range(2):
        assert c.update_status() == SUCCESS
        assert c.status(READ, "state_b") == Status.NAMESPACE_NOT_READY
        assert c.generation(ADVANCE) == SUCCESS  # with fewer rows than the source, too
        assert c.generation(ADVANCE) == Status.INVALID_FIELD
        assert c.status(READ, "state_b", slba=row * c.row) == c.status(READ) == SUCCESS
    assert [c.device.state_stream(name).generation for name in ("state_a", "state_b")] == before
    # The other way, behind what is there; a pin holds, and may be set again.
    assert c.update_status("state_a", source=B, source_page=0) == SUCCESS
    assert c.generation(ADVANCE, "state_a", source=255) == SUCCESS  # it has no source
    assert c.generation(PIN, "state_a") == SUCCESS
    assert c.update_status("state_a", source=B) == Status.NAMESPACE_WRITE_PROTECTED
    assert c.generation(RELEASE, "state_a") == SUCCESS
    assert c.generation(ADVANCE, port=Port.HOST) == Status.ACCESS_DENIED


@pytest.mark.parametrize("all_zones", [False, True])
def test_a_reset_of_all_zones_skips(started, all_zones):
    c = started
    assert c.update_status() == SUCCESS
    assert c.status(SEND, "state_b", action=ZoneAction.RESET) == SUCCESS
    assert c.status(READ, "state_b") == Status.NAMESPACE_NOT_READY  # one zone is not all
    if all_zones:
        assert c.status(SEND, "state_b", action=ZoneAction.RESET, select_all=1) == SUCCESS
    else:
        assert c.status(RESET, "state_b") == SUCCESS
    assert c.status(READ, "state_b") == Status.UNWRITTEN_BLOCK
    assert c.status(READ, "state_a") == SUCCESS
    assert c.generation(COMMIT, source=A) == Status.INVALID_FIELD


def test_pinned(started):
    c = started
    protected = Status.NAMESPACE_WRITE_PROTECTED
    assert c.generation(PIN, "state_a") == c.generation(PIN, "state_a") == SUCCESS
    for opcode, fields in (
        (APPEND, {}), (WRITE, {"slba": 2 * c.row}), (RESET, {}), (RETIRE, {"action": ZoneState.OFFLINE}),
        (SEND, {"action": ZoneAction.RESET}), (SEND, {"action": ZoneAction.RESET, "select_all": 1}),
    ):  # fmt: skip
        assert c.status(opcode, **fields) == protected
    assert c.update_status("state_a", source=B) == protected
    for action in (ZoneAction.CLOSE, ZoneAction.OPEN, ZoneAction.FINISH):
        assert c.status(SEND, action=action) == SUCCESS
    assert c.status(FLUSH) == c.status(READ) == SUCCESS
    # It can be the source of an update and of a commit, which leaves it as it is.
    generation = c.device.state_stream("state_a").generation
    assert c.update_status(rows=2) == c.generation(COMMIT, source=A) == SUCCESS
    assert c.status(READ) == c.status(READ, "state_b") == SUCCESS
    assert c.device.state_stream("state_a").generation == generation
    assert c.generation(RELEASE, "state_a") == c.generation(RELEASE, "state_a") == SUCCESS
    assert c.status(RESET) == SUCCESS


def test_an_enable_forgets_pins_and_updates(started):
    c = started
    assert c.generation(PIN, "state_a") == c.update_status() == SUCCESS
    c.device.enable()
    c.append()
    assert c.status(RESET) == SUCCESS
    assert c.status(READ, "state_b") == Status.UNWRITTEN_BLOCK


def test_gradients_and_copies_go_where_the_contract_says(started):
    """SGD with lr 1 from weights of zero: every weight is its gradient, negated. Each gradient is marked."""
    c, g = started, started.g
    tile = c.set_constants(OptimizerCode.SGD, SGD(1.0))
    rows, pages = 2, tile.gradient_pages
    per_page = g.page_bytes // 2
    blocks = rows * pages * g.channels
    marks = np.arange(1, blocks + 1, dtype=np.float32)
    data = c.raw.data[: blocks * g.page_bytes].view(np.uint16).reshape(blocks, per_page)
    data[:] = (marks.view(np.uint32) >> 16).astype(np.uint16)[:, None]
    assert c.update_status(rows=rows, pages=pages, copies=tile.copy_pages) == SUCCESS
    negated = ((-marks).view(np.uint32) >> 16).astype(np.uint16)
    assert np.array_equal(data, np.broadcast_to(negated[:, None], data.shape))
    assert c.generation(COMMIT, source=A) == SUCCESS
    stored = (
        c.device.stream("state_b").read_blocks(0, rows * c.row).view(np.float32).reshape(rows * c.row, -1)
    )
    for lba in range(rows * c.row):
        place = g.place(lba)
        row = place.page * g.dies + place.die
        first = place.plane * g.page_bytes // 4  # parameter of the tile
        page = first // per_page
        assert (stored[lba] == -marks[(row * pages + page) * g.channels + place.channel]).all(), place


def test_only_the_first_copies_come_back(started):
    c = started
    tile = c.set_constants(OptimizerCode.SGD, SGD(1.0))
    data = c.raw.data[: tile.gradient_pages * c.g.channels * c.g.page_bytes]
    data[:] = 0
    data.view(np.uint16)[:] = 0x3F80
    assert c.update_status(pages=tile.gradient_pages, copies=0) == SUCCESS
    assert (data.view(np.uint16) == 0x3F80).all()


def test_statistics_of_each_die(started, seed):
    """Rows on every die, two of them on the first: sums go on from tile to tile of a die."""
    c, g = started, started.g
    rows = g.dies + 1
    c.append(blocks=max(0, rows - 2) * c.row)
    tile = c.set_constants()
    random = np.random.default_rng(seed)
    values = random.standard_normal((rows, g.channels, tile.parameters)).astype(np.float32)
    values[0, 1, 3], values[-1, 0, 5], values[0, 0, 0] = np.nan, -np.inf, 1e3
    bits = (values.view(np.uint32) >> 16).astype(np.uint16)
    assert tile.gradient_pages == 1
    data = c.raw.data[: rows * g.channels * g.page_bytes].view(np.uint16).reshape(rows, g.channels, -1)
    data[:] = 0x7F80  # past the gradients: not counted
    data[..., : tile.parameters] = bits
    assert c.update_status(rows=rows) == SUCCESS

    def expected(die, channel):
        own = bits[die :: g.dies, channel]
        # A tile begins at sum 0: fill up with zeros, which change no sum.
        short = -own.shape[1] % 8
        return statistics(np.pad(own, ((0, 0), (0, short))))

    for again in range(2):
        c.raw.data[:] = 0xFF
        assert c.status(GET) == SUCCESS
        pages = c.raw.data.reshape(-1, g.page_bytes)
        for die in range(g.dies):
            for channel in range(g.channels):
                page = pages[die * g.channels + channel]
                got, wanted = parse_statistics(page), expected(die, channel)
                assert repr(got) == repr(wanted), (die, channel, again)
                assert int(page[12:16].view(np.uint32)[0]) == len(range(die, rows, g.dies))
                assert not page[64:].any()
    c.raw.data[:] = 0
    c.set_constants()
    assert c.status(GET) == SUCCESS
    assert not c.raw.data[: g.channels * g.dies * g.page_bytes].any()


def test_dies_may_have_different_constants(started):
    """Each die's page is its own: learning rates by die."""
    c, g = started, started.g
    tile = Tile.of(g, OptimizerCode.SGD, GradientFormat.BF16, CopyFormat.NONE)
    dies = g.channels * g.dies
    pages = c.raw.data.reshape(-1, g.page_bytes)
    for die in range(dies):
        header = TileStep(tile, SGD(float(die + 1)).constants(1)).header()
        pages[die, : len(header)] = np.frombuffer(header, np.uint8)
    assert c.status(SET) == SUCCESS
    c.raw.data[:] = 0
    c.raw.data.view(np.uint16)[:] = 0x3F80
    assert c.update_status(rows=2, pages=tile.gradient_pages) == SUCCESS
    assert c.generation(COMMIT, source=A) == SUCCESS
    stored = c.device.stream("state_b").read_blocks(0, 2 * c.row).view(np.float32).reshape(2 * c.row, -1)
    for lba in range(2 * c.row):
        place = g.place(lba)
        assert (stored[lba] == -(place.die * g.channels + place.channel + 1)).all()


@pytest.mark.parametrize("lie", ["pointer", "sequence"])
def test_tables_that_the_flash_does_not_bear_out(link, raw_of, lie):
    """An update fails for the tiles whose source is not there, and only they cannot be read afterwards."""
    with open_device(link=link, node=UPDATE_NODE) as device:
        commands, g, p = Commands(raw_of(device)), link.config.geometry, PageIdentity
        raw, row = commands.raw, commands.row
        commands.append(blocks=2 * row)
        device.disable()
        device.begin_recovery()

        def recover(action: RestoreAction, stream: str = "state_a", **fields: int) -> None:
            assert raw.status(Opcode.RESTORE, stream, Port.HOST, action=action, **fields) == Status.SUCCESS

        found = {}
        for zone in range(g.zones):
            inspected = {
                "psdt": 1,
                "address": raw.address,
                "length": g.page_bytes,
                "slba": zone * g.zone_size,
            }
            assert raw.status(Opcode.INSPECT, "state_a", Port.HOST, **inspected) == Status.SUCCESS
            record = raw.data[g.page_bytes - p.BYTES : g.page_bytes].tobytes()
            if is_identity(record):
                found[zone] = int.from_bytes(record, "little")
        ((zone, fields),) = found.items()
        sequence = p.sequence.get(fields)
        recover(RestoreAction.STREAM, generation=p.generation.get(fields))
        recover(
            RestoreAction.ZONE, slba=3 * row, restored_state=ZoneState.CLOSED, physical=zone,
            sequence=sequence + (lie == "sequence"), wear=p.wear.get(fields),
        )  # fmt: skip
        for other in set(range(g.blocks)) - {zone}:
            recover(RestoreAction.PHYSICAL, physical=other)
        recover(RestoreAction.END, sequence=sequence + 2)

        commands.set_constants()
        whole = 2 if lie == "pointer" else 0
        answers = [commands.update(source_page=number // g.dies) for number in range(3)]
        expected = [Status.SUCCESS] * whole + [Status.WRITE_FAULT] * (3 - whole)
        assert [answer.status for answer in answers] == expected
        assert [answer.result for answer in answers] == [0, row, 0][:whole] + [0] * (3 - whole)
        assert commands.generation(GenerationAction.COMMIT, source=A) == Status.SUCCESS
        for number in range(3):
            status = commands.status(Opcode.READ, "state_b", slba=number * row, nlb=row - 1)
            assert status == (Status.SUCCESS if number < whole else Status.UNRECOVERED_READ_ERROR)
