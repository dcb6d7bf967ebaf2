"""Theorem: no command passes the permission check against its table.

Of `Decoder` (with `tiny`'s geometry and all 8 streams, their tables any): a command that leaves it with
status SUCCESS came from an entry that was fetched and whose opcode is known; its stream exists; the stream's
table gives its port what the opcode needs (`RULES`, written down from `spec.nvme`, check 4), and so does the
table of the source of an update or a commit, which is another stream. The command names that port, stream,
source, opcode and action, and no others; and where it is about one zone of a stream, that zone lies in the
stream's range.

Assumes that the tables do not change, and that a valid one names zones of the device, as `Registers` has it.
Unbounded, by induction; the lemmas say what is in the stage between.
"""

from enum import Enum

from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value

from flashtrain.rtl.host_if.decode import Decoder
from flashtrain.rtl.layouts import OPERATION_OF, Entry, Operation
from flashtrain.sim.formal.inside import Inside
from flashtrain.sim.formal.planted import planted
from flashtrain.sim.formal.prove import prove, reach, refute
from flashtrain.sim.formal.theorem import Theorem
from flashtrain.spec import Access, Opcode, Port, Status, Submission
from flashtrain.spec.identity import RestoreAction
from flashtrain.spec.nvme import GenerationAction
from flashtrain.spec.presets import TINY
from flashtrain.spec.registers import MAX_STREAMS


class Rule(Enum):
    """What a port needs of a stream."""

    READ = Access.READ.value
    APPEND = Access.APPEND.value
    EITHER = (Access.READ | Access.APPEND).value
    HOST = 0  # no access to the stream, but to be the host


RULES = dict.fromkeys(Opcode, Rule.APPEND) | {
    Opcode.READ: Rule.READ,
    Opcode.ZONE_MANAGEMENT_RECEIVE: Rule.EITHER,
    Opcode.GET_STATISTICS: Rule.EITHER,
    Opcode.INSPECT: Rule.HOST,
    Opcode.RESTORE: Rule.HOST,
}
OF_ONE_ZONE = (
    Opcode.READ, Opcode.WRITE, Opcode.ZONE_APPEND, Opcode.UPDATE, Opcode.ZONE_MANAGEMENT_RECEIVE,
    Opcode.ZONE_RETIRE,
)  # fmt: skip


class Asked:
    """What an entry says, and whether its port may have it."""

    def __init__(self, entry, streams):
        def field(which) -> Value:
            return entry.bytes[which.low : which.low + which.width]

        self.opcode, self.action = field(Submission.opcode), field(Submission.action)
        self.port, self.error, self.cid = entry.port, entry.error, field(Submission.cid)
        self.nsid, self.source_nsid = field(Submission.nsid), field(Submission.source)
        self.stream, self.source = (self.nsid - 1)[:3], (self.source_nsid - 1)[:3]
        self.table, self.source_table = Array(streams)[self.stream], Array(streams)[self.source]
        self.known = Cat(self.opcode == opcode for opcode in RULES).any()
        self.updates = self.opcode == Opcode.UPDATE
        self.commits = (self.opcode == Opcode.GENERATION) & (self.action == GenerationAction.COMMIT)
        self.restores_zone = (self.opcode == Opcode.RESTORE) & (self.action == RestoreAction.ZONE)
        self.select_all = field(Submission.select_all)
        sends = (self.opcode == Opcode.ZONE_MANAGEMENT_SEND) & ~self.select_all
        of_one_zone = Cat(self.opcode == opcode for opcode in OF_ONE_ZONE).any()
        self.of_one_zone = of_one_zone | sends | self.restores_zone
        # A write pointer may be that of a full zone: the block before it tells the zone.
        self.first_block = field(Submission.slba)
        self.slba = (self.first_block - (self.opcode == Opcode.RESTORE))[:64]

    def grants(self, table) -> Value:
        """What a table gives the port."""
        return Mux(self.port == Port.CORE, table.core, table.host)

    @property
    def allowed(self) -> Value:
        """By the table of the stream."""
        allowed = 0
        for opcode, rule in RULES.items():
            given = (
                self.port == Port.HOST if rule is Rule.HOST else (self.grants(self.table) & rule.value).any()
            )
            allowed = allowed | ((self.opcode == opcode) & given)
        return allowed

    @property
    def source_allowed(self) -> Value:
        """By the table of the source, if the command has one."""
        given = self.grants(self.source_table)
        needed = Mux(self.updates, Access.READ.value, Access.APPEND.value)
        return ~(self.updates | self.commits) | (given & needed).any()


class NothingForbidden(Theorem):
    def state(self, m: Module, inside: Inside) -> None:
        design, g = self.design, self.design.config.geometry
        for number, table in enumerate(design.streams):
            self.assume(m, ~table.valid | (table.first + table.zones <= g.zones))
            self.assume(m, Value.cast(table) == self.some(m, Value.cast(table).shape(), f"table{number}"))

        # The entry of each of the two stages. It is checked in its second cycle in the first stage.
        parsed_entry, entry = Signal(Entry()), Signal(Entry())
        parsed_valid, derived, checked, valid = Signal(), Signal(), Signal(), Signal()
        m.d.sync += [derived.eq(parsed_valid), checked.eq(derived)]
        with m.If(~parsed_valid):
            m.d.sync += [parsed_entry.eq(design.entries.payload), parsed_valid.eq(design.entries.valid)]
        with m.If(design.commands.ready):
            m.d.sync += valid.eq(0)
        with m.If(checked & (~valid | design.commands.ready)):
            m.d.sync += [entry.eq(parsed_entry), valid.eq(1)]
            m.d.sync += [one.eq(0) for one in (parsed_valid, derived, checked)]
        command = design.commands.payload
        self.claim(m, design.commands.valid == valid)
        self.claim(m, design.entries.ready == ~parsed_valid)

        asked = Asked(entry, design.streams)
        with m.If(valid & (command.status == Status.SUCCESS)):
            self.claim(m, ~asked.error & asked.known)
            self.claim(m, (asked.nsid != 0) & (asked.nsid <= MAX_STREAMS) & asked.table.valid)
            self.claim(m, asked.allowed)
            self.claim(m, (command.port == asked.port) & (command.stream == asked.stream))
            self.claim(m, (command.cid == asked.cid) & (command.action == asked.action))
            for opcode, operation in OPERATION_OF.items():
                self.claim(m, (command.operation == operation) == (asked.opcode == opcode))
            with m.If(asked.updates | asked.commits):
                self.claim(m, (asked.source_nsid != 0) & (asked.source_nsid <= MAX_STREAMS))
                self.claim(m, asked.source_table.valid & (asked.source != asked.stream))
                self.claim(m, asked.source_table.zones == asked.table.zones)
                self.claim(m, asked.source_allowed)
                self.claim(m, command.source == asked.source)
            with m.If(asked.of_one_zone):
                index = asked.slba[g.zone_size_bits :]
                self.claim(m, index < asked.table.zones)
                self.claim(m, command.index == index)
                self.claim(m, command.zone == asked.table.first + index)
                of_update = asked.source_table.first + index
                self.claim(m, command.first_zone == Mux(asked.updates, of_update, command.zone))
            self.witness(m, asked.updates & (asked.port == Port.CORE))
            self.witness(m, asked.restores_zone)
        self.witness(m, valid & (command.status == Status.ACCESS_DENIED) & asked.commits)

        parsed, before = inside["parsed"], Asked(parsed_entry, design.streams)
        self.lemma(m, inside["parsed_valid"] == parsed_valid)
        self.lemma(m, inside["derived"] == derived)
        self.lemma(m, inside["checked"] == checked)
        self.lemma(m, (~checked | derived) & (~derived | parsed_valid))
        self.lemma(m, design.commands.valid == valid)
        with m.If(parsed_valid):
            for name in ("error", "port", "cid", "nsid", "source_nsid", "action", "select_all"):
                self.lemma(m, parsed[name] == getattr(before, name))
            self.lemma(m, parsed.first_block == before.first_block)
            self.lemma(m, parsed.restores == (before.opcode == Opcode.RESTORE))
            is_invalid = parsed.operation == Operation.INVALID
            self.lemma(m, is_invalid == (before.error | ~before.known))
            for opcode, operation in OPERATION_OF.items():
                is_it = (before.opcode == opcode) & ~before.error
                self.lemma(m, (parsed.operation == operation) == is_it)
        with m.If(derived):
            for name in ("stream", "source", "slba"):
                self.lemma(m, parsed[name] == getattr(before, name))
            for name in ("table", "source_table"):
                self.lemma(m, Value.cast(parsed[name]) == Value.cast(getattr(before, name)))
            self.lemma(m, parsed.access == before.grants(before.table))
            self.lemma(m, parsed.source_access == before.grants(before.source_table))
            self.lemma(m, parsed.known == (before.nsid != 0) & (before.nsid <= MAX_STREAMS))
            source_known = (before.source_nsid != 0) & (before.source_nsid <= MAX_STREAMS)
            self.lemma(m, parsed.source_known == source_known)
            self.lemma(m, before.error | (parsed.one_zone == before.of_one_zone))
            has_source = before.updates | before.commits
            self.lemma(m, before.error | (parsed.has_source == has_source))


def test_holds() -> None:
    prove(NothingForbidden(Decoder(TINY)), depth=2)


def test_commands_pass_and_are_denied() -> None:
    reach(NothingForbidden(Decoder(TINY)), depth=5)


def test_host_table_for_the_core() -> None:
    faulty = planted(Decoder, ("Mux(parsed.port == Port.CORE, table.core, table.host)", "table.host"))
    refute(NothingForbidden(faulty(TINY)), depth=5)


def test_source_not_asked() -> None:
    """The source of a commit is checked as that of an update: who may read it may reset it."""
    faulty = planted(Decoder, ("reads = parsed.operation == Operation.UPDATE", "reads = Const(1)"))
    refute(NothingForbidden(faulty(TINY)), depth=5)


def test_zone_past_the_stream() -> None:
    faulty = planted(
        Decoder, ("(one_zone & (zone >= parsed.table.zones),", "(one_zone & (zone > parsed.table.zones),")
    )
    refute(NothingForbidden(faulty(TINY)), depth=5)
