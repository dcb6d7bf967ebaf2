"""The text of `flashtrain_tb` for a drive on PCI Express: its host, its hard block and its firmware.

The host has its memory behind the requests of TLPs. It enables the function, and makes a pair of queues by
admin commands, which the firmware answers. Then it appends blocks, reads them back, and compares.
"""

from collections.abc import Sequence

from flashtrain.rtl.clocks import Clocks
from flashtrain.rtl.export.pins import Bundle, Protocol
from flashtrain.rtl.pcie.device_queue import queue_entries
from flashtrain.rtl.pcie.layouts import ChangeKind
from flashtrain.sim.link.pcie_model import PcieSizes
from flashtrain.spec import Completion, FmsConfig, Opcode, Port, Submission
from flashtrain.spec.pcie import (
    DOORBELL_BYTES,
    DOORBELLS,
    NAMESPACES,
    PAGE_BITS,
    PRP_BYTES,
    Configuration,
    Mailbox,
    MailboxChange,
    MailboxState,
    NamespaceWord,
    Property,
    Ready,
)
from flashtrain.spec.registers import (
    PortRegister,
    Register,
    State,
    StreamRegister,
    port_register,
    stream_attributes,
    stream_register,
)

from .bench_parts import STREAM, TOP, device, enable_text, most_cycles, tasks, wire, write_text
from .sim_top import TOP as SIM_TOP

_ENTRIES = 4
_PAGE = 1 << PAGE_BITS
_ADMIN_SQ, _ADMIN_CQ, _SQ, _CQ, _LIST, _SOURCE = (number * _PAGE for number in (1, 2, 3, 4, 5, 8))
_CREATE_SUBMISSIONS, _CREATE_COMPLETIONS = 0x01, 0x05
"""Opcodes of admin commands (NVM Express Base 2.0, section 5)."""
_MOST_BYTES = 64 << 10
"""Of the data: its list of PRPs has one page."""


def drive_testbench(
    config: FmsConfig, sizes: PcieSizes, bundles: Sequence[Bundle], clocks: Clocks, phy: bool = False
) -> str:
    """Its blocks go to every plane of every channel, or as many as 64 KiB have."""
    g = config.geometry
    most = min(_MOST_BYTES, sizes.most_bytes) // g.page_bytes
    blocks = min(g.channels * g.planes, config.max_blocks, most)
    length = blocks * g.page_bytes
    target = _SOURCE + -(-length // _PAGE) * _PAGE
    outside = [bundle for bundle in bundles if bundle.protocol is not Protocol.NAND]
    pins = {pin.name: pin.width for bundle in outside for pin in bundle.pins}
    port_bytes = sizes.tlp.port_bytes
    halves = "".join(
        f"            s_tlp_completion_halves[{half}] = at < base + {begin + 64} && limit > base + {begin};\n"
        for half, begin in enumerate(range(0, 64 * pins.get("s_tlp_completion_halves", 0), 64))
    )
    last = _ENTRIES - 1
    return _TEXT.format(
        config=config.name, blocks=blocks, length=length, source=_SOURCE, target=target,
        memory=target + -(-length // _PAGE) * _PAGE, port_bytes=port_bytes, page=_PAGE,
        device=device(clocks, outside, _wires(outside), phy),
        tasks=tasks("a request is not within the host's memory", "attention without a command"),
        halves=halves,
        accesses="\n".join(
            _ACCESSES.format(name=name, bits=pins[f"s_{name}_offset"]) for name in ("bar", "mailbox")
        ),
        setup="\n".join(_setup(config, sizes)), state=Register.STATE, ready=State.READY.value,
        namespace=NAMESPACES + 4 * (STREAM.nsid - 1),
        zones=NamespaceWord.zones.put(g.zones) | NamespaceWord.appends.put(1),
        waiting=MailboxState.WAITING.value, busy=MailboxState.BUSY.value,
        mailbox_state=Mailbox.STATE, take=Mailbox.TAKE, entry=Mailbox.ENTRY, address=Mailbox.ADDRESS,
        size=Mailbox.SIZE, change=Mailbox.CHANGE, answer=Mailbox.ANSWER,
        change_low=MailboxChange.queue.low, partner_low=MailboxChange.partner.low,
        create_completions=_CREATE_COMPLETIONS,
        of_completions=MailboxChange.kind.put(ChangeKind.CREATE_COMPLETIONS.value),
        of_submissions=MailboxChange.kind.put(ChangeKind.CREATE_SUBMISSIONS.value),
        admin_sizes=Property.ADMIN_SIZES, sizes=last << 16 | last,
        admin_sq=Property.ADMIN_SUBMISSIONS, admin_cq=Property.ADMIN_COMPLETIONS,
        configuration=Property.CONFIGURATION,
        enable=(
            Configuration.enable.put(1)
            | Configuration.submission_exponent.put(6)
            | Configuration.completion_exponent.put(4)
        ),
        status=Property.STATUS, is_ready=Ready.READY.value,
        doorbells=DOORBELLS, doorbell_bytes=DOORBELL_BYTES,
        admin_sq_base=_ADMIN_SQ, admin_cq_base=_ADMIN_CQ, sq_base=_SQ, cq_base=_CQ,
        create_cq=_entry(_CREATE_COMPLETIONS, 0, 0, _CQ, 0, last << 16 | 1, 1),
        create_sq=_entry(_CREATE_SUBMISSIONS, 1, 0, _SQ, 0, last << 16 | 1, 1 | 1 << 16),
        list=_LIST, prp_bytes=PRP_BYTES,
        append=_io(Opcode.ZONE_APPEND, 0, _SOURCE, length, blocks),
        read=_io(Opcode.READ, 1, target, length, blocks),
        entry_bytes=Submission.BYTES, completion_bytes=Completion.BYTES,
        phase=Completion.phase.low, status_low=Completion.status.low,
        status_high=Completion.status.low + Completion.status.width - 1,
        most_cycles=most_cycles(config, blocks) + 100_000, sim_top=SIM_TOP, top=TOP,
    )  # fmt: skip


def _setup(config: FmsConfig, sizes: PcieSizes) -> list[str]:
    """Firmware's writes to the controller."""
    places, entries = sizes.slots * sizes.most_bytes, queue_entries(sizes.slots) - 1
    values = [
        ("MEMORY_LOW", Register.MEMORY_LOW, places & 0xFFFF_FFFF),
        ("MEMORY_HIGH", Register.MEMORY_HIGH, places >> 32),
    ]
    values += [
        (f"{register.name} of the host", port_register(Port.HOST, register) + more, value)
        for register, more, value in (
            (PortRegister.SQ_BASE_LOW, 0, 0),
            (PortRegister.SQ_SIZE, 0, entries),
            (PortRegister.CQ_BASE_LOW, 0, places & 0xFFFF_FFFF),
            (PortRegister.CQ_BASE_LOW, 4, places >> 32),
            (PortRegister.CQ_SIZE, 0, entries),
        )
    ]
    values += [
        (f"{register.name} of the stream", stream_register(STREAM.nsid, register), value)
        for register, value in (
            (StreamRegister.ZONES, config.geometry.zones << 16),
            (StreamRegister.ATTRIBUTES, stream_attributes(STREAM)),
        )
    ]
    return [*(write_text(*one) for one in values), *enable_text()]


def _entry(
    opcode: int, cid: int, nsid: int, first: int, second: int, dword_10: int, dword_11: int, nlb: int = 0
):
    dwords = opcode | cid << 16 | nsid << 32
    return f"512'h{dwords | first << 192 | second << 256 | dword_10 << 320 | dword_11 << 352 | nlb << 384:x}"


def _io(opcode: Opcode, cid: int, address: int, length: int, blocks: int) -> str:
    """Of zone 0. The second PRP is that of a page, or of a list."""
    second = 0 if length <= _PAGE else address + _PAGE if length <= 2 * _PAGE else _LIST
    return _entry(opcode, cid, STREAM.nsid, address, second, 0, 0, blocks - 1)


def _wires(outside: Sequence[Bundle]) -> list[str]:
    """Inputs are what the bench drives."""
    return [
        wire("reg", pin, " = 0") if pin.direction == "input" else wire("wire", pin, "")
        for bundle in outside
        for pin in bundle.pins
    ]


_ACCESSES = """\
  reg {name}_taken, {name}_answered;
  reg [31:0] {name}_value;
  always @(posedge clk) begin
    {name}_taken <= s_{name}_valid && s_{name}_ready;
    {name}_answered <= m_{name}_valid && m_{name}_ready;
    {name}_value <= m_{name}_data;
  end

  task {name}_access(input reads, input [31:0] address, input [31:0] data);
    begin
      s_{name}_write = !reads;
      s_{name}_offset = address[{bits}+1:2];
      s_{name}_data = data;
      s_{name}_valid = 1'b1;
      @(negedge clk);
      while (!{name}_taken) @(negedge clk);
      s_{name}_valid = 1'b0;
      if (reads) begin
        m_{name}_ready = 1'b1;
        @(negedge clk);
        while (!{name}_answered) @(negedge clk);
        m_{name}_ready = 1'b0;
      end
    end
  endtask
"""
_TEXT = """\
// A test of {sim_top}, {config} on PCI Express: appends {blocks} blocks, reads them back, compares.
// Generated: do not edit.

/* verilator lint_off BLKSEQ */  // A bench in procedural style.
/* verilator lint_off UNUSEDSIGNAL */

module {top};
  timeunit 1ns;
  timeprecision 1ps;

  localparam integer LENGTH = {length};  // of the blocks, in bytes
  localparam integer SOURCE = {source};
  localparam integer TARGET = {target};
  localparam integer MEMORY = {memory};  // of the host
  localparam integer WIDTH = {port_bytes};  // of a row of the port of TLPs

{device}
{tasks}
{accesses}
  // The host's memory behind the hard block: a request at a time, rows with the bytes in their lanes.
  reg [7:0] memory[0:MEMORY-1];
  reg request_taken, row_taken, request_writes;
  reg [63:0] request_address;
  reg [31:0] request_bytes, request_tag;
  reg [8*WIDTH-1:0] row;
  always @(posedge clk) begin
    request_taken <= m_tlp_request_valid && m_tlp_request_ready;
    request_writes <= m_tlp_request_write;
    request_address <= m_tlp_request_address;
    request_bytes <= 4 * m_tlp_request_length;
    row_taken <= m_tlp_write_valid && m_tlp_write_ready;
    row <= m_tlp_write_data;
    request_tag <= m_tlp_request_tag;
  end

  integer at, base, limit, lane;
  initial begin
    forever begin
      m_tlp_request_ready = 1'b1;
      @(negedge clk);
      if (request_taken) begin
        m_tlp_request_ready = 1'b0;
        if (request_address + request_bytes > MEMORY) fail(4);
        at = request_address[31:0];
        limit = at + request_bytes;
        s_tlp_completion_tag = request_tag;
        m_tlp_write_ready = request_writes;
        s_tlp_completion_valid = !request_writes;
        while (at < limit) begin
          base = at / WIDTH * WIDTH;
          if (!request_writes) begin
            for (lane = 0; lane < WIDTH; lane = lane + 1)
              s_tlp_completion_data[8*lane+:8] = base + lane < MEMORY ? memory[base+lane] : 8'd0;
{halves}            s_tlp_completion_end = base + WIDTH >= limit;
          end
          @(negedge clk);
          if (request_writes && row_taken)
            for (lane = 0; lane < WIDTH; lane = lane + 1)
              if (base + lane >= at && base + lane < limit) memory[base+lane] = row[8*lane+:8];
          if (!request_writes || row_taken) at = base + WIDTH;
        end
        m_tlp_write_ready = 1'b0;
        s_tlp_completion_valid = 1'b0;
      end
    end
  end

  integer i;
  reg [127:0] completion;

  // Put an entry into a submission queue, and ring its doorbell.
  task put(input integer sq, input integer queue, input integer number, input [511:0] entry);
    begin
      for (i = 0; i < {entry_bytes}; i = i + 1) memory[sq+{entry_bytes}*number+i] = entry[8*i+:8];
      bar_access(0, {doorbells} + {doorbell_bytes} * 2 * queue, number + 1);
    end
  endtask

  // Wait for the completion of an entry, and release its place.
  task take(input integer cq, input integer queue, input integer number);
    begin
      completion = 0;
      while (!completion[{phase}]) begin
        @(negedge clk);
        for (i = 0; i < {completion_bytes}; i = i + 1)
          completion[8*i+:8] = memory[cq+{completion_bytes}*number+i];
      end
      if (completion[{status_high}:{status_low}] != 0) fail(1);
      bar_access(0, {doorbells} + {doorbell_bytes} * (2 * queue + 1), number + 1);
    end
  endtask

  // Firmware: wait until its work has ended.
  task rest;
    begin
      mailbox_access(1, {mailbox_state}, 0);
      while ((mailbox_value & {busy}) != 0) mailbox_access(1, {mailbox_state}, 0);
    end
  endtask

  // Firmware: make the queue that the next admin command asks for, and answer it.
  reg [31:0] words[0:15];
  reg [31:0] change;
  task answer_admin;
    begin
      while (!firmware_attention) @(negedge clk);
      mailbox_access(1, {mailbox_state}, 0);
      if ((mailbox_value & {waiting}) == 0) fail(5);
      mailbox_access(0, {take}, 0);
      rest;
      for (i = 0; i < 16; i = i + 1) begin
        mailbox_access(1, {entry} + 4 * i, 0);
        words[i] = mailbox_value;
      end
      mailbox_access(0, {address}, words[6]);
      mailbox_access(0, {address} + 4, words[7]);
      mailbox_access(0, {size}, words[10] >> 16);
      if (words[0][7:0] == {create_completions}) change = {of_completions};
      else change = {of_submissions} | words[11][31:16] << {partner_low};
      mailbox_access(0, {change}, change | words[10][15:0] << {change_low});
      rest;
      mailbox_access(0, {answer}, words[0] >> 16);
      rest;
    end
  endtask

  // A list of the pages behind the first one.
  task put_list(input integer data);
    reg [63:0] page;
    integer number;
    begin
      for (number = 1; number * {page} < LENGTH; number = number + 1) begin
        page = data + {page} * number;
        for (i = 0; i < {prp_bytes}; i = i + 1) memory[{list}+{prp_bytes}*(number-1)+i] = page[8*i+:8];
      end
    end
  endtask

  integer began;

  initial begin
    for (i = 0; i < MEMORY; i = i + 1) memory[i] = 8'd0;
    repeat (16) @(negedge clk);
    resetn = 1'b1;
    repeat (16) @(negedge clk);
{setup}
    read_register(13'h{state:04x});
    while ((value & 32'h{ready:x}) == 0) read_register(13'h{state:04x});
    mailbox_access(0, {namespace}, {zones});
    $display("flash ready after %0d cycles", cycles);

    bar_access(0, {admin_sizes}, {sizes});
    bar_access(0, {admin_sq}, {admin_sq_base});
    bar_access(0, {admin_sq} + 4, 0);
    bar_access(0, {admin_cq}, {admin_cq_base});
    bar_access(0, {admin_cq} + 4, 0);
    bar_access(0, {configuration}, {enable});
    bar_access(1, {status}, 0);
    while (bar_value != {is_ready}) bar_access(1, {status}, 0);
    put({admin_sq_base}, 0, 0, {create_cq});
    answer_admin;
    take({admin_cq_base}, 0, 0);
    put({admin_sq_base}, 0, 1, {create_sq});
    answer_admin;
    take({admin_cq_base}, 0, 1);
    $display("queues made after %0d cycles", cycles);

    for (i = 0; i < LENGTH; i = i + 1) memory[SOURCE+i] = 37 * i + i / 256;
    began = cycles;
    put_list(SOURCE);
    put({sq_base}, 1, 0, {append});
    take({cq_base}, 1, 0);
    $display("{blocks} blocks appended in %0d cycles", cycles - began);
    began = cycles;
    put_list(TARGET);
    put({sq_base}, 1, 1, {read});
    take({cq_base}, 1, 1);
    $display("{blocks} blocks read in %0d cycles", cycles - began);

    for (i = 0; i < LENGTH; i = i + 1) if (memory[TARGET+i] != memory[SOURCE+i]) fail(2);
    if (violations != 0) fail(3);
    bar_access(0, {configuration}, 0);
    bar_access(1, {status}, 0);
    while (bar_value != 0) bar_access(1, {status}, 0);
    $display("PASS: all bytes right, no violation of the NAND protocol, %0d cycles", cycles);
    $finish;
  end

  initial begin
    repeat ({most_cycles}) @(posedge clk);
    fail(6);
  end
endmodule
"""
