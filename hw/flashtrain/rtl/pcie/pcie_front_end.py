# amaranth: UnusedElaboratable=no
"""A drive on PCI Express up to the pins of its controller: function, translator, and mover of data."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from flashtrain.rtl.lib.axi import Axi4LiteSignature, Axi4Signature
from flashtrain.rtl.lib.axi_streams import AxiStreams
from flashtrain.rtl.lib.forward import forward
from flashtrain.spec import FmsConfig
from flashtrain.spec.errors import require
from flashtrain.spec.pcie import WORD_BYTES, TlpSizes, aggregation_cycles
from flashtrain.spec.registers import ADDRESS_BITS

from .command_translator import CommandTranslator
from .data_mover import DataMover
from .device_queue import DeviceQueue
from .device_registers import DeviceRegisters
from .function import Function
from .layouts import MOST_BYTES
from .namespace_table import NamespaceTable

HOST_SIDE = (
    "accesses", "answers", "requests", "data", "completions", "enable_vectors", "mask_vectors", "fault",
    "attention", "running",
)  # fmt: skip
"""Members of a `Function` that a drive has, too."""


class PcieFrontEnd(wiring.Component):
    """A `Function` whose I/O commands are those of a controller, with the host's memory as its tensor buffer.

    The controller's data port reaches the data of slot n at n * `most_bytes`. Firmware gives port HOST a
    submission queue at any base, and a completion queue at `slots` * `most_bytes`. Both have
    `queue_entries(slots)` places. Port CORE has no queues.

    Firmware also writes the streams, enables the controller, and writes the table of namespaces. It changes
    them, and disables the controller, while no command of a host is open.

    Latency and throughput: see the units.

    Parameters
    ----------
    `queues`, `entries` : see `Function`
    `tlp` : the port of requests; by default as wide as the controller's data port, from 8 to 128 bytes
    `slots` : I/O commands that the controller has at once
    `most_bytes` : data of a command; a power of two

    Members
    -------
    accesses, answers, requests, data, completions, enable_vectors, mask_vectors, fault   see `Function`
    attention, running                                     see `Function`
    firmware : In(stream(Access)), values : Out(stream(32))   mailbox, and namespaces behind it
    registers : In(Axi4LiteSignature)                      firmware's way to the controller's registers
    flash_data, flash_queue : In(Axi4Signature)            of the controller
    flash_registers : Out(Axi4LiteSignature)
    """

    def __init__(
        self, config: FmsConfig, queues: int, entries: int, slots: int, most_bytes: int = MOST_BYTES,
        tlp: TlpSizes | None = None,
    ):  # fmt: skip
        tlp = tlp or TlpSizes.of(config)
        most_width = TlpSizes.of(config).port_bytes
        require(
            tlp.port_bytes <= most_width,
            "port_bytes",
            tlp.port_bytes,
            f"at most {most_width}, as the data port of the controller",
        )
        require(most_bytes & most_bytes - 1 == 0, "most_bytes", most_bytes, "a power of two")
        most_slots = (1 << config.address_bits - 1) // most_bytes
        require(1 < slots <= most_slots, "slots", slots, f"2 to {most_slots}, by `address_bits`")
        self.config, self.slots, self.most_bytes, self.tlp = config, slots, most_bytes, tlp
        unit = aggregation_cycles(config.timing.clock_hz)
        self._function = Function(queues, entries, config.geometry.page_bytes, most_bytes, tlp, unit)
        members = self._function.signature.members
        self._wide = {"address_bits": config.address_bits, "data_bits": 8 * config.data_bytes}
        self._narrow = {"address_bits": config.address_bits, "data_bits": 8 * WORD_BYTES}
        bus = Axi4LiteSignature(address_bits=ADDRESS_BITS)
        super().__init__({
            **{name: members[name] for name in (*HOST_SIDE, "firmware", "values")},
            "registers": In(bus),
            "flash_data": In(Axi4Signature(**self._wide)),
            "flash_queue": In(Axi4Signature(**self._narrow)),
            "flash_registers": Out(bus),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        config, slots, most_bytes = self.config, self.slots, self.most_bytes
        m.submodules.function = function = self._function
        m.submodules.table = table = NamespaceTable(config)
        m.submodules.translator = translator = CommandTranslator(config, slots, most_bytes)
        m.submodules.mover = mover = DataMover(config, slots, most_bytes, self.tlp.port_bytes)
        m.submodules.queue = queue = DeviceQueue(
            config.address_bits, slots, most_bytes, config.geometry.page_bytes
        )
        m.submodules.device_registers = registers = DeviceRegisters()
        m.submodules.data_streams = data = AxiStreams(**self._wide)
        m.submodules.queue_streams = entries = AxiStreams(**self._narrow)

        forward(m, function, self, HOST_SIDE)
        connect(m, flipped(self.firmware), table.accesses)
        connect(m, table.values, flipped(self.values))
        connect(m, table.others, function.firmware)
        connect(m, function.values, table.answers)
        for one, settings in zip(table.namespaces, translator.namespaces, strict=True):
            m.d.comb += settings.eq(one)

        # From commands to the controller's queue pair, and back.
        connect(m, function.commands, translator.commands)
        connect(m, translator.entries, queue.entries)
        connect(m, queue.completions, translator.completions)
        connect(m, translator.done, function.done)
        connect(m, flipped(self.flash_queue), entries.pins)
        connect(m, entries.read, queue.read)
        connect(m, entries.write, queue.write)
        connect(m, queue.doorbells, registers.doorbells)
        connect(m, flipped(self.registers), registers.firmware)
        connect(m, registers.registers, flipped(self.flash_registers))

        # Data, and where they are.
        connect(m, translator.places, mover.places)
        connect(m, function.pieces, mover.pieces)
        connect(m, mover.pointed, translator.pointed)
        connect(m, translator.zeros, mover.zeros)
        connect(m, mover.zeroed, translator.zeroed)
        connect(m, flipped(self.flash_data), data.pins)
        connect(m, data.read, mover.reads)
        connect(m, data.write, mover.writes)
        connect(m, queue.reports, mover.reports)
        connect(m, mover.data_read, function.data_read)
        connect(m, mover.data_write, function.data_write)
        m.d.comb += [
            mover.page_exponent.eq(function.page_exponent),
            queue.refused.eq(mover.refused),
            mover.answered.eq(queue.answered),
            queue.enable.eq(registers.enabled),
        ]
        return m
