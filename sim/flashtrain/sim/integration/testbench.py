"""The text of `flashtrain_tb`: a test of `flashtrain_sim` in SystemVerilog alone, for Verilator and Icarus.

It enables the controller, appends pages by the host's queue, reads them back, and compares. The driver's own
code makes the register values and the submission entries.
"""

from collections.abc import Iterator, Sequence

from flashtrain.host.queues.entries import Command
from flashtrain.rtl.clocks import Clocks
from flashtrain.rtl.export.axi_wrapper import connections
from flashtrain.rtl.export.pins import Bundle, Pin, Protocol
from flashtrain.spec import Completion, FmsConfig, Opcode, Port, Submission
from flashtrain.spec.registers import (
    ChannelCounter,
    Control,
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
from flashtrain.spec.streams import Access, Persistency, Retention, Stream
from flashtrain.spec.timing import ns

from .sim_top import TOP as SIM_TOP

TOP = "flashtrain_tb"

_ENTRIES = 4
_SUBMISSIONS, _COMPLETIONS = 0x0, 0x400
_POLL = ns(2_000)
"""An interval between polls, but those of an erase, and the poll itself."""
ENABLE_COMMENT = (
    "    // FACTORY: all arrays are erased and no block is marked, as in new models.",
    "    // Real parts are enabled without it: then each block is erased before its use.",
)
STREAM = Stream(
    nsid=1, name="all", persistency=Persistency.NON_VOLATILE, retention=Retention.YEARS,
    host=Access.READ | Access.APPEND, core=Access.NONE,
)  # fmt: skip


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
    setup += ENABLE_COMMENT
    setup.append(write_text("CONTROL: ENABLE, FACTORY", Register.CONTROL, Control.ENABLE | Control.FACTORY))
    outside = [bundle for bundle in bundles if bundle.protocol is not Protocol.NAND]
    return _TEXT.format(
        config=config.name,
        wires="\n".join(_wires(outside)),
        joined=connections((pin.name, pin.name) for bundle in outside for pin in bundle.pins),
        memory_ports=connections(_memory_ports(outside)),
        half_period=f"{500 / clocks.system_mhz:.3f}",
        nand_clock="".join(nand_clocks(clocks, phy)),
        nand_connection="".join(
            f"      .{name}({name}),\n"
            for name, exists in (("nand_clk", clocks.crosses), ("nand_clk90", phy))
            if exists
        ),
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
        register_tasks=REGISTER_TASKS,
        sim_top=SIM_TOP,
        top=TOP,
    )


def most_cycles(config: FmsConfig, blocks: int) -> int:
    """The limit of the test: ten times what the array and the AXI ports need, and the polls of a lost die.

    A die that stays busy is reported after `late_polls` polls, so a command ends with an error before that.
    """
    t, g = config.timing, config.geometry
    start = 16 * g.zones + 1000
    polls = config.late_polls * _POLL.cycles_at(t.clock_mhz)
    return 10 * (start + t.cycles("tprog") + t.cycles("tr") + blocks * g.raw_page_bytes) + polls


def nand_clocks(clocks: Clocks, phy: bool) -> Iterator[str]:
    half = 500 / clocks.nand_mhz
    if clocks.crosses:
        yield _NAND_CLOCK.format(half_period=f"{half:.3f}")
    if phy:
        yield _LATER_CLOCK.format(half_period=f"{half:.3f}", quarter=f"{half / 2:.3f}")


def write_text(name: str, register: int, value: int) -> str:
    return f"    write_register(13'h{register:04x}, 32'h{value:08x});  // {name}"


def _entry(command: Command, cid: int) -> str:
    return f"512'h{int.from_bytes(command.entry(cid), 'little'):x}"


def _wires(outside: Sequence[Bundle]) -> list[str]:
    """Inputs of the register port are what the bench drives; all else are wires."""
    lines = []
    for bundle in outside:
        driven = bundle.protocol is Protocol.AXI4_LITE_SUBORDINATE
        for pin in bundle.pins:
            kind = "reg" if driven and pin.direction == "input" else "wire"
            width = "" if pin.width == 1 else f"[{pin.width - 1}:0] "
            constant = f" = {pin.width}'b0" if driven else _constant(pin)
            value = constant if pin.direction == "input" else ""
            lines.append(f"  {kind} {width}{pin.name}{value};")
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


_NAND_CLOCK = """\
  reg nand_clk = 1'b0;
  always #{half_period} nand_clk = !nand_clk;
"""
_LATER_CLOCK = """\
  reg nand_clk90 = 1'b0;
  initial begin
    #{quarter};
    forever #{half_period} nand_clk90 = !nand_clk90;
  end
"""
REGISTER_TASKS = """\
  // Transfers at the rising edge. The bench acts at the falling one, where nothing else changes.
  reg aw_taken, w_taken, b_taken, ar_taken, r_taken;
  reg [1:0] answer;
  reg [31:0] value;

  always @(posedge clk) begin
    aw_taken <= s_axil_regs_awvalid && s_axil_regs_awready;
    w_taken <= s_axil_regs_wvalid && s_axil_regs_wready;
    b_taken <= s_axil_regs_bvalid && s_axil_regs_bready;
    ar_taken <= s_axil_regs_arvalid && s_axil_regs_arready;
    r_taken <= s_axil_regs_rvalid && s_axil_regs_rready;
    answer <= s_axil_regs_bvalid ? s_axil_regs_bresp : s_axil_regs_rresp;
    value <= s_axil_regs_rdata;
  end

  task write_register(input [12:0] address, input [31:0] data);
    begin
      s_axil_regs_awaddr = address;
      s_axil_regs_wdata = data;
      s_axil_regs_wstrb = 4'b1111;
      s_axil_regs_awvalid = 1'b1;
      s_axil_regs_wvalid = 1'b1;
      s_axil_regs_bready = 1'b1;
      @(negedge clk);
      while (!b_taken) begin
        if (aw_taken) s_axil_regs_awvalid = 1'b0;
        if (w_taken) s_axil_regs_wvalid = 1'b0;
        @(negedge clk);
      end
      if (answer != 2'b00) fail(0);
    end
  endtask

  task read_register(input [12:0] address);
    begin
      s_axil_regs_araddr = address;
      s_axil_regs_arvalid = 1'b1;
      s_axil_regs_rready = 1'b1;
      @(negedge clk);
      while (!r_taken) begin
        if (ar_taken) s_axil_regs_arvalid = 1'b0;
        @(negedge clk);
      end
      if (answer != 2'b00) fail(0);
    end
  endtask

"""
"""Of a bench that counts `clk`, and has a task `fail`."""
_TEXT = """\
// A test of {sim_top}, {config}: appends {blocks} pages, reads them back, compares. Generated: do not edit.

/* verilator lint_off BLKSEQ */  // A bench in procedural style.

module {top};
  timeunit 1ns;
  timeprecision 1ps;

  localparam integer LENGTH = {length};  // of the pages, in bytes
  localparam integer SOURCE = {source};
  localparam integer TARGET = {target};

  reg clk = 1'b0;
  reg resetn = 1'b0;
  always #{half_period} clk = !clk;
{nand_clock}
{wires}
  wire [31:0] violations;

  {sim_top} dut (
      .aclk(clk),
      .aresetn(resetn),
{nand_connection}{joined},
      .violations(violations)
  );

  flashtrain_tensor_buffer #(
      .BYTES({memory}),
      .ADDRESS_BITS({address_bits}),
      .DATA_BYTES({data_bytes})
  ) tensor_buffer (
      .clk(clk),
      .rst(!resetn),
{memory_ports}
  );

  integer cycles = 0;
  always @(posedge clk) cycles <= cycles + 1;

  task fail(input integer code);
    begin
      case (code)
        0: $display("FAIL: an AXI4-Lite access was refused");
        1: $display("FAIL: a command ended with an error");
        2: $display("FAIL: a byte is wrong");
        3: $display("FAIL: the NAND protocol was violated");
        4: $display("FAIL: a channel has not programmed or not sensed");
        default: $display("FAIL: nothing happens any more");
      endcase
      $fatal(1);
    end
  endtask

{register_tasks}  integer i;

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
