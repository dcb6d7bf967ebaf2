"""The text of `flashtrain_tb`: a test of `flashtrain_sim` in SystemVerilog alone, for Verilator and Icarus.

It enables the controller, appends pages by the host's queue, reads them back, and compares. The driver's own
code makes the register values and the submission entries.
"""

from collections.abc import Sequence

from flashtrain.host.queues.entries import Command
from flashtrain.rtl.clocks import Clocks
from flashtrain.rtl.export.axi_wrapper import connections
from flashtrain.rtl.export.pins import Bundle, Pin, Protocol
from flashtrain.spec import Completion, FmsConfig, Opcode, Port, Submission
from flashtrain.spec.registers import (
    ChannelCounter,
    PortRegister,
    Register,
    State,
    StreamRegister,
    channel_counter_register,
    cq_head_doorbell,
    port_register,
    sq_tail_doorbell,
    stream_attributes,
    stream_register,
)

from .bench_parts import STREAM, TOP, device, enable_text, most_cycles, tasks, wire, write_text
from .sim_top import TOP as SIM_TOP

_ENTRIES = 4
_SUBMISSIONS, _COMPLETIONS = 0x0, 0x400


def testbench(config: FmsConfig, bundles: Sequence[Bundle], clocks: Clocks, phy: bool = False) -> str:
    """Its superpage goes to every plane of every channel."""
    g = config.geometry
    blocks = min(g.channels * g.planes, config.max_blocks)
    length = blocks * g.page_bytes
    source = max(0x1000, g.page_bytes)
    target = source + length
    memory = target + length
    append = Command(Opcode.ZONE_APPEND, STREAM.nsid, blocks=blocks, address=source, length=length)
    read = Command(Opcode.READ, STREAM.nsid, blocks=blocks, address=target, length=length)
    registers = {
        Register.MEMORY_LOW: memory & 0xFFFF_FFFF,
        Register.MEMORY_HIGH: memory >> 32,
        Register.INTERRUPT_MASK: 1 << Port.HOST,
    }
    setup = [write_text(register.name, register, value) for register, value in registers.items()]
    for register, value in (
        (PortRegister.SQ_BASE_LOW, _SUBMISSIONS),
        (PortRegister.SQ_SIZE, _ENTRIES - 1),
        (PortRegister.CQ_BASE_LOW, _COMPLETIONS),
        (PortRegister.CQ_SIZE, _ENTRIES - 1),
    ):
        setup.append(write_text(f"{register.name} of the host", port_register(Port.HOST, register), value))
    for name, register, value in (
        ("ZONES", StreamRegister.ZONES, g.zones << 16),
        ("ATTRIBUTES", StreamRegister.ATTRIBUTES, stream_attributes(STREAM)),
    ):
        setup.append(write_text(f"{name} of the stream", stream_register(STREAM.nsid, register), value))
    setup += enable_text()
    outside = [bundle for bundle in bundles if bundle.protocol is not Protocol.NAND]
    return _TEXT.format(
        config=config.name,
        device=device(clocks, outside, _wires(outside), phy),
        memory_ports=connections(_memory_ports(outside)),
        memory=memory,
        address_bits=config.address_bits,
        data_bytes=config.data_bytes,
        source=source,
        target=target,
        length=length,
        blocks=blocks,
        channels=g.channels,
        setup="\n".join(setup),
        state=Register.STATE,
        ready=State.READY.value,
        interrupt=Register.INTERRUPT,
        host=1 << Port.HOST,
        tail=sq_tail_doorbell(Port.HOST),
        head=cq_head_doorbell(Port.HOST),
        submissions=_SUBMISSIONS,
        entry_bytes=Submission.BYTES,
        completions=_COMPLETIONS,
        completion_bytes=Completion.BYTES,
        status_low=Completion.status.low,
        status_high=Completion.status.low + Completion.status.width - 1,
        append=_entry(append, 0),
        read=_entry(read, 1),
        select=Register.CHANNEL_SELECT,
        programs=channel_counter_register(ChannelCounter.PROGRAMS),
        senses=channel_counter_register(ChannelCounter.SENSES),
        most_cycles=round(most_cycles(config, blocks) * max(1, clocks.system_mhz / clocks.nand_mhz)),
        tasks=tasks("a channel has not programmed or not sensed"),
        sim_top=SIM_TOP,
        top=TOP,
    )


def _entry(command: Command, cid: int) -> str:
    return f"512'h{int.from_bytes(command.entry(cid), 'little'):x}"


def _wires(outside: Sequence[Bundle]) -> list[str]:
    """Inputs of the register port are what the bench drives; all else are wires."""
    lines = []
    for bundle in outside:
        driven = bundle.protocol is Protocol.AXI4_LITE_SUBORDINATE
        for pin in bundle.pins:
            kind = "reg" if driven and pin.direction == "input" else "wire"
            constant = f" = {pin.width}'b0" if driven else _constant(pin)
            value = constant if pin.direction == "input" else ""
            lines.append(wire(kind, pin, value))
    return lines


def _constant(pin: Pin) -> str:
    """Of the answers of a memory: its ID is 0, and it never fails."""
    return f" = {pin.width}'b0" if pin.name.endswith(("_bid", "_rid", "_bresp", "_rresp")) else ""


_MEMORY_PORTS = frozenset((
    "awaddr", "awvalid", "awready", "wdata", "wstrb", "wlast", "wvalid", "wready", "bvalid", "bready",
    "araddr", "arlen", "arvalid", "arready", "rdata", "rlast", "rvalid", "rready",
))  # fmt: skip


def _memory_ports(outside: Sequence[Bundle]) -> list[tuple[str, str]]:
    pairs = []
    for bundle in outside:
        if bundle.protocol is Protocol.AXI4_MANAGER:
            for pin in bundle.pins:
                name = pin.name.removeprefix(f"{bundle.name}_")
                if name in _MEMORY_PORTS:
                    pairs.append((f"{bundle.port}_{name}", pin.name))
    return pairs


_TEXT = """\
// A test of {sim_top}, {config}: appends {blocks} pages, reads them back, compares. Generated: do not edit.

/* verilator lint_off BLKSEQ */  // A bench in procedural style.

module {top};
  timeunit 1ns;
  timeprecision 1ps;

  localparam integer LENGTH = {length};  // of the pages, in bytes
  localparam integer SOURCE = {source};
  localparam integer TARGET = {target};

{device}
  flashtrain_tensor_buffer #(
      .BYTES({memory}),
      .ADDRESS_BITS({address_bits}),
      .DATA_BYTES({data_bytes})
  ) tensor_buffer (
      .clk(clk),
      .rst(!resetn),
{memory_ports}
  );

{tasks}  integer i;

  // Put an entry into the submission queue, ring the doorbell, and wait for its completion.
  task submit(input integer number, input [511:0] entry);
    reg [127:0] completion;
    begin
      for (i = 0; i < {entry_bytes}; i = i + 1)
        tensor_buffer.memory[{submissions}+{entry_bytes}*number+i] = entry[8*i+:8];
      write_register(13'h{tail:04x}, number + 1);
      while (!irq) @(negedge clk);
      for (i = 0; i < {completion_bytes}; i = i + 1)
        completion[8*i+:8] = tensor_buffer.memory[{completions}+{completion_bytes}*number+i];
      if (completion[{status_high}:{status_low}] != 0) fail(1);
      write_register(13'h{interrupt:04x}, 32'h{host:x});
      write_register(13'h{head:04x}, number + 1);
    end
  endtask

  integer began;
  integer channel;

  initial begin
    repeat (16) @(negedge clk);
    resetn = 1'b1;
    repeat (16) @(negedge clk);
{setup}
    read_register(13'h{state:04x});
    while ((value & 32'h{ready:x}) == 0) read_register(13'h{state:04x});
    $display("ready after %0d cycles", cycles);

    for (i = 0; i < LENGTH; i = i + 1) tensor_buffer.memory[SOURCE+i] = 37 * i + i / 256;
    began = cycles;
    submit(0, {append});
    $display("%0d pages appended in %0d cycles", {blocks}, cycles - began);
    began = cycles;
    submit(1, {read});
    $display("%0d pages read in %0d cycles", {blocks}, cycles - began);

    for (i = 0; i < LENGTH; i = i + 1)
      if (tensor_buffer.memory[TARGET+i] != tensor_buffer.memory[SOURCE+i]) fail(2);
    if (violations != 0) fail(3);
    for (channel = 0; channel < {channels}; channel = channel + 1) begin
      write_register(13'h{select:04x}, channel);
      read_register(13'h{programs:04x});
      if (value == 0) fail(4);
      read_register(13'h{senses:04x});
      if (value == 0) fail(4);
    end
    $display("PASS: all bytes right, no violation of the NAND protocol, %0d cycles", cycles);
    $finish;
  end

  initial begin
    repeat ({most_cycles}) @(posedge clk);
    fail(5);
  end
endmodule
"""
