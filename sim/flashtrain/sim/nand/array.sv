// Model of a die's array of cells: storage and time. The die's logic is on its port (rtl/die/array_port.py).
//
// Data are exact, but for failures. An operation takes TR, TPROG or TBERS cycles; a page moves between array and data
// register within that time, a word per clock: at the start of a program, at the end of a sense. From the factory all is
// erased.
//
// A suspended read senses while a program or erase runs: that is suspended when it has advanced for TADV since it began or
// was resumed, for TSUSP, TR and TRES, and ends so much later. If it ends before, or none runs, there is only the sense.
//
// Refused, with a line on the output, a call of `flashtrain_violation` and a count on `violations`:
//   - a start while an operation runs (ignored)
//   - an operation on no plane, on a block or page that does not exist (those planes are left out)
//   - a program of a page that is programmed already, or out of page order in its block (done all the same)
//   - a sense of a page that was not programmed since its block was erased (reads FFh), if the block was programmed or
//     erased since the last reset: what else is in it nobody can know without looking
//   - a suspended read of what is being programmed or erased, or while another runs
//   - a program or an erase of a block that is marked as bad from the factory (done all the same; Verilator only)
// What the commands of a multi-plane operation share (its page) or must not share (a plane) is one value on this port:
// the checker on the pins looks at that.
//
// An aborted program leaves its pages torn: only some of the zeros are there, most of them if little time was left. An
// aborted erase leaves some of the zeros of its blocks, most of them if little time had passed; they need a whole erase
// before a program. array_cut.h says which; without Verilator the pages are FFh, and the blocks empty. `rst` is a loss
// of power: it aborts, and what the cells hold stays. `abort_op` is the die's reset, after which ONFI says no more of
// what was programmed or erased than that it is not valid. What hangs has done nothing.
//
// `cycle` counts cycles from the start of the simulation, at CLOCK_MHZ; it stamps messages and events. `channel` and
// `die` name this array. They are ports and not parameters, so that one compiled module serves every die.
//
// Failures: block BAD_BLOCK fails to program and to erase on the planes in BAD_PLANES. Under Verilator
// `flashtrain_array_fails` in array_store.cpp is asked too; there an operation may also hang, until a reset, and then
// a suspended read it does. A sense reports what it is told, too, but its data are right. By the store's model of errors
// (array_errors.h) senses get bits wrong, and programs that fail leave their pages torn.
//
// Under Verilator pages are kept in array_store.cpp, sparsely; else in a memory of the full size.

/* verilator lint_off BLKSEQ */  // A model in procedural style: only what leaves it is assigned with <=.

module flashtrain_array #(
    parameter integer PLANES = 1,
    parameter integer BLOCKS = 2,
    parameter integer PAGES = 2,
    parameter integer WORDS = 17,  // of a page
    parameter integer WORD_BYTES = 32,
    parameter integer TR = 100,
    parameter integer TPROG = 100,
    parameter integer TBERS = 100,
    parameter integer TSUSP = 10,
    parameter integer TRES = 10,
    parameter integer TADV = 30,  // and not before the data registers of a program have been taken
    parameter integer CLOCK_MHZ = 600,
    parameter integer BAD_BLOCK = -1,
    parameter integer BAD_PLANES = 0
) (
    input wire clk,
    input wire rst,
    input wire [63:0] cycle,
    input wire [7:0] channel,
    input wire [7:0] die,

    input wire start,
    input wire [1:0] op,
    input wire [PLANES-1:0] planes,
    input wire [$clog2(PAGES)-1:0] page,
    input wire [PLANES*$clog2(BLOCKS)-1:0] blocks,
    input wire [7:0] level,  // senses are at a level so many steps lower
    input wire abort_op,
    output reg busy,
    output reg sensing,  // a suspended read runs
    output reg [PLANES-1:0] failed,

    output reg take,
    output reg put,
    output reg [(PLANES > 1 ? $clog2(PLANES) : 1)-1:0] plane,
    output reg [$clog2(WORDS)-1:0] word,
    input wire [8*WORD_BYTES-1:0] from_register,
    output reg [8*WORD_BYTES-1:0] to_register,

    output wire [63:0] wake,  // an idle array does nothing before `cycle` has this value, or a start or an abort

    output wire [31:0] violations
);
  localparam integer BLOCK_BITS = $clog2(BLOCKS);
  localparam [1:0] SENSE = 0, PROGRAM = 1, ERASE = 2, SUSPENDED_READ = 3;
  localparam [63:0] NEVER = ~64'd0;

  // Pages programmed in each block since it was erased.
  reg [15:0] programmed[0:PLANES*BLOCKS-1];
  // The reset since which a block was last programmed or erased, and how many there have been.
  reg [31:0] touched[0:PLANES*BLOCKS-1];
  reg [31:0] resets;

  reg [1:0] running;
  reg [PLANES-1:0] active;  // planes of the operation
  reg [PLANES-1:0] to_fail;
  reg [$clog2(PAGES)-1:0] active_page;
  reg [PLANES*BLOCK_BITS-1:0] active_blocks;
  reg [63:0] began, ends, stream_at;
  reg [63:0] advances_from;
  reg hangs;
  integer verdict;
  // The same of a suspended read.
  reg [PLANES-1:0] suspended_planes;
  reg [$clog2(PAGES)-1:0] suspended_page;
  reg [PLANES*BLOCK_BITS-1:0] suspended_blocks;
  reg [63:0] suspended_began, suspended_ends, suspended_stream_at;
  reg suspended_hangs;
  // Words that move now.
  reg streaming;
  reg [1:0] stream_op;
  reg [PLANES-1:0] stream_planes;
  integer stream_plane, stream_word;
  reg taken;  // `from_register` holds what was asked for in the clock before
  integer taken_plane, taken_word;
  reg [8*WORD_BYTES-1:0] read_word;
  integer count;
  integer i;

  assign violations = count;
  wire [63:0] next_event = !busy ? NEVER : cycle <= stream_at ? stream_at : ends;
  wire [63:0] next_suspended = !sensing ? NEVER : cycle <= suspended_stream_at ? suspended_stream_at : suspended_ends;
  assign wake = next_event < next_suspended ? next_event : next_suspended;

  initial begin
    for (i = 0; i < PLANES * BLOCKS; i = i + 1) begin
      programmed[i] = 0;
      touched[i] = 0;
    end
    resets = 1;
    count = 0;
    busy = 0;
    sensing = 0;
    streaming = 0;
    taken = 0;
  end

`ifdef VERILATOR
  import "DPI-C" function chandle flashtrain_array_open(
    input int channel, input int die, input int planes, input int page_words, input int word_bytes);
  import "DPI-C" function void flashtrain_array_new_page(
    input chandle store, input int plane, input int block, input int page);
  import "DPI-C" function void flashtrain_array_open_page(
    input chandle store, input int plane, input int block, input int page, input int level);
  import "DPI-C" function int flashtrain_array_programmed(input chandle store, input int plane, input int block);
  import "DPI-C" function void flashtrain_array_erase(input chandle store, input int plane, input int block);
  import "DPI-C" function void flashtrain_array_cut(
    input chandle store, input int erase, input int plane, input int block, input int page, input int passed,
    input int takes);
  import "DPI-C" function void flashtrain_array_write(
    input chandle store, input int plane, input int word, input bit [8*WORD_BYTES-1:0] data);
  import "DPI-C" function void flashtrain_array_read(
    input chandle store, input int plane, input int word, output bit [8*WORD_BYTES-1:0] data);
  import "DPI-C" function int flashtrain_array_fails(
    input int channel, input int die, input int op, input int plane, input int block, input int page);
  import "DPI-C" function void flashtrain_violation(input string message);
  import "DPI-C" function void flashtrain_trace(
    input int kind, input int channel, input int die, input longint start, input longint stop, input int detail);
  import "DPI-C" function void flashtrain_array_done(
    input int kind, input int channel, input int die, input int plane, input int block, input int page,
    input longint start, input longint stop);

  chandle store = null;
`else
  reg [8*WORD_BYTES-1:0] cells[0:PLANES*BLOCKS*PAGES*WORDS-1];
  integer base[0:PLANES-1];  // of the page that moves, or -1
`endif

  always @(posedge clk) begin
    put <= 0;
    take <= 0;
    if (rst || abort_op) begin
      if (busy) stop;
      resets = resets + 1;
      busy <= 0;
      sensing <= 0;
      failed <= 0;
      streaming = 0;
      taken = 0;
    end else begin
      if (start) begin
        if (op == SUSPENDED_READ) begin
          if (sensing) refuse("a suspended read while another runs");
          else begin
            begin_suspended_read;
            sensing <= 1;
          end
        end else if (busy || sensing) refuse("start of an operation while another runs");
        else begin
          begin_operation;
          busy <= 1;
          failed <= 0;
        end
      end
      if (busy) begin
        if (cycle == stream_at) stream(running, active);
        if (cycle == ends) begin
          busy <= 0;
          failed <= to_fail;
          finish;
        end
      end
      if (sensing) begin
        if (cycle == suspended_stream_at) begin
          for (i = 0; i < PLANES; i = i + 1) if (suspended_planes[i]) open_page(i, suspended_block(i), suspended_page);
          stream(SENSE, suspended_planes);
        end
        if (cycle == suspended_ends) begin
          sensing <= 0;
          note_suspended_read;
        end
      end
      if (taken) write(taken_plane, taken_word);
      taken = take;
      if (take) begin
        taken_plane = plane;
        taken_word = word;
      end
      if (streaming) begin
        take <= stream_op == PROGRAM;
        put <= stream_op == SENSE;
        plane <= stream_plane;
        word <= stream_word;
        if (stream_op == SENSE) begin
          read(stream_plane, stream_word);
          to_register <= read_word;
        end
        stream_word = stream_word + 1;
        if (stream_word == WORDS) begin
          stream_word = 0;
          stream_plane = next_plane(stream_plane + 1);
          streaming = stream_plane < PLANES;
        end
      end
    end
  end

  task begin_operation;
    integer p, block, words;
    begin
      running = op;
      active = planes;
      active_page = page;
      active_blocks = blocks;
      began = cycle;
      advances_from = cycle;
      to_fail = 0;
      hangs = 0;
      words = 0;
`ifdef VERILATOR
      if (store == null) store = flashtrain_array_open(channel, die, PLANES, WORDS, WORD_BYTES);
`endif
      if (planes == 0) refuse("an operation without a plane");
      for (p = 0; p < PLANES; p = p + 1)
        if (planes[p]) begin
          block = block_of(p);
          words = words + WORDS;
          if (block >= BLOCKS) begin
            refuse($sformatf("%0s of plane %0d block %0d: there are %0d blocks", op_name(op), p, block, BLOCKS));
            active[p] = 0;
          end else if (page >= PAGES && op != ERASE) begin
            refuse($sformatf("%0s of plane %0d block %0d page %0d: a block has %0d pages",
                             op_name(op), p, block, page, PAGES));
            active[p] = 0;
          end else begin
            begin_plane(p, block);
            if (BAD_PLANES[p] && block == BAD_BLOCK && op != SENSE) to_fail[p] = 1;
`ifdef VERILATOR
            verdict = flashtrain_array_fails(channel, die, op, p, block, page);
            if (verdict == 1) to_fail[p] = 1;
            if (verdict == 2) hangs = 1;
            if (verdict == 3)
              refuse($sformatf("%0s of plane %0d block %0d, which its maker has marked as bad", op_name(op), p, block));
`endif
          end
        end
      ends = began + (op == SENSE ? TR : op == PROGRAM ? TPROG : TBERS) - 1;
      stream_at = op == SENSE ? ends - words - 1 : op == PROGRAM ? began + 1 : 0;
      if (active == 0) stream_at = 0;
      if (hangs) begin
        ends = NEVER;
        if (op == SENSE) stream_at = 0;
      end
    end
  endtask

  task begin_suspended_read;
    integer p, block, words;
    begin
      suspended_planes = planes;
      suspended_page = page;
      suspended_blocks = blocks;
      words = 0;
`ifdef VERILATOR
      if (store == null) store = flashtrain_array_open(channel, die, PLANES, WORDS, WORD_BYTES);
`endif
      if (planes == 0) refuse("an operation without a plane");
      for (p = 0; p < PLANES; p = p + 1)
        if (planes[p]) begin
          block = block_of(p);
          words = words + WORDS;
          if (block >= BLOCKS || page >= PAGES) begin
            refuse($sformatf("suspended read of plane %0d block %0d page %0d: it does not exist", p, block, page));
            suspended_planes[p] = 0;
          end else if (known_empty(p, block, page))
            refuse($sformatf("suspended read of plane %0d block %0d page %0d, which is not programmed", p, block, page));
          else if (busy && active[p] && active_block(p) == block
                   && (running == ERASE || running == PROGRAM && active_page == page))
            refuse($sformatf("suspended read of plane %0d block %0d page %0d, which the array works on", p, block, page));
        end
      suspended_began = cycle;
      suspended_hangs = busy && hangs;
      if (busy && cycle < ends && !hangs) begin
        if (suspended_began < advances_from + TADV) suspended_began = advances_from + TADV;
        if (suspended_began >= ends) suspended_began = ends + 1;
        else begin
          suspended_began = suspended_began + TSUSP;
          advances_from = suspended_began + TR + TRES;
          ends = ends + TSUSP + TR + TRES;
        end
      end
      suspended_ends = suspended_began + TR - 1;
      suspended_stream_at = suspended_planes == 0 ? 0 : suspended_ends - words - 1;
`ifdef VERILATOR
      for (p = 0; p < PLANES; p = p + 1)
        if (planes[p] && flashtrain_array_fails(channel, die, SUSPENDED_READ, p, block_of(p), page) == 2) suspended_hangs = 1;
`endif
      if (suspended_hangs) begin
        suspended_ends = NEVER;
        suspended_stream_at = 0;
      end
    end
  endtask

  task stream(input [1:0] what, input [PLANES-1:0] of);
    begin
      streaming = 1;
      stream_op = what;
      stream_planes = of;
      stream_word = 0;
      stream_plane = next_plane(0);
    end
  endtask

  task begin_plane(input integer p, input integer block);
    integer next;
    begin
`ifdef VERILATOR
      if (touched[p*BLOCKS+block] == 0) programmed[p*BLOCKS+block] = flashtrain_array_programmed(store, p, block);
`endif
      next = programmed[p*BLOCKS+block];
      case (op)
        SENSE: begin
          if (known_empty(p, block, page))
            refuse($sformatf("sense of plane %0d block %0d page %0d, which is not programmed", p, block, page));
          open_page(p, block, active_page);
        end
        PROGRAM: begin
          if (page < next)
            refuse($sformatf("program of plane %0d block %0d page %0d without an erase", p, block, page));
          else begin
            if (page > next)
              refuse($sformatf("program of plane %0d block %0d page %0d out of order: the next page is %0d",
                               p, block, page, next));
            programmed[p*BLOCKS+block] = page + 1;
          end
          touched[p*BLOCKS+block] = resets;
          new_page(p, block);
        end
        ERASE: touched[p*BLOCKS+block] = resets;
        default: ;
      endcase
    end
  endtask

  task finish;
    integer p;
    begin
      if (running == ERASE)
        for (p = 0; p < PLANES; p = p + 1)
          if (active[p]) begin
            erase(p, active_block(p));
            programmed[p*BLOCKS+active_block(p)] = 0;
          end
      note(running, began, active);
    end
  endtask

  task stop;
    integer p;
    begin
      for (p = 0; p < PLANES; p = p + 1)
        if (active[p] && running != SENSE) begin
          cut_short(p, active_block(p));
          if (running == ERASE) programmed[p*BLOCKS+active_block(p)] = PAGES;
        end
      note(running, began, active);
    end
  endtask

  task note(input [1:0] what, input [63:0] from, input [PLANES-1:0] of);
`ifdef VERILATOR
    begin
      flashtrain_trace(what, channel, die, from, cycle, of);
      for (i = 0; i < PLANES; i = i + 1)
        if (of[i]) flashtrain_array_done(what, channel, die, i, active_block(i), active_page, from, cycle);
    end
`endif
  endtask

  task note_suspended_read;
`ifdef VERILATOR
    begin
      flashtrain_trace(SENSE, channel, die, suspended_began, cycle, suspended_planes);
      for (i = 0; i < PLANES; i = i + 1)
        if (suspended_planes[i])
          flashtrain_array_done(SENSE, channel, die, i, suspended_block(i), suspended_page, suspended_began, cycle);
    end
`endif
  endtask

  // Storage. An operation opens a page per plane, words then move to or from it.

`ifdef VERILATOR
  task open_page(input integer p, input integer block, input [$clog2(PAGES)-1:0] number);
    flashtrain_array_open_page(store, p, block, number, level);
  endtask

  task new_page(input integer p, input integer block);
    flashtrain_array_new_page(store, p, block, active_page);
  endtask

  task write(input integer p, input integer w);
    flashtrain_array_write(store, p, w, from_register);
  endtask

  task read(input integer p, input integer w);
    flashtrain_array_read(store, p, w, read_word);
  endtask

  task erase(input integer p, input integer block);
    flashtrain_array_erase(store, p, block);
  endtask

  task cut_short(input integer p, input integer block);
    reg signed [63:0] left;  // cycles that the operation needs, without suspensions
    integer takes;
    begin
      takes = running == ERASE ? TBERS : TPROG;
      left = ends - cycle;
      if (cycle < advances_from) begin
        left = left - (TSUSP + TR + TRES);
        if (left < $signed(ends - advances_from)) left = ends - advances_from;
      end
      flashtrain_array_cut(store, running == ERASE ? 1 : 0, p, block, {{(32 - $clog2(PAGES)) {1'b0}}, active_page},
                           hangs ? 0 : takes - 1 - left[31:0], takes);
    end
  endtask
`else
  task open_page(input integer p, input integer block, input [$clog2(PAGES)-1:0] number);
    base[p] = ((p * BLOCKS + block) * PAGES + number) * WORDS;
  endtask

  task new_page(input integer p, input integer block);
    integer w;
    begin
      open_page(p, block, active_page);
      for (w = 0; w < WORDS; w = w + 1) cells[base[p]+w] = {8 * WORD_BYTES{1'b1}};
    end
  endtask

  task write(input integer p, input integer w);
    cells[base[p]+w] = from_register;
  endtask

  task read(input integer p, input integer w);
    read_word = cells[base[p]+w];
  endtask

  task erase(input integer p, input integer block);
    integer w;
    for (w = 0; w < PAGES * WORDS; w = w + 1)
      cells[(p*BLOCKS+block)*PAGES*WORDS+w] = {8 * WORD_BYTES{1'b1}};
  endtask

  task cut_short(input integer p, input integer block);
    if (running == ERASE) erase(p, block);
    else new_page(p, block);
  endtask

  initial for (i = 0; i < PLANES * BLOCKS * PAGES * WORDS; i = i + 1) cells[i] = {8 * WORD_BYTES{1'b1}};
`endif

  function known_empty(input integer p, input integer block, input integer number);
    known_empty = number >= programmed[p*BLOCKS+block] && touched[p*BLOCKS+block] == resets;
  endfunction

  function integer block_of(input integer p);
    block_of = {{32 - BLOCK_BITS{1'b0}}, blocks[p*BLOCK_BITS+:BLOCK_BITS]};
  endfunction

  function integer active_block(input integer p);
    active_block = {{32 - BLOCK_BITS{1'b0}}, active_blocks[p*BLOCK_BITS+:BLOCK_BITS]};
  endfunction

  function integer suspended_block(input integer p);
    suspended_block = {{32 - BLOCK_BITS{1'b0}}, suspended_blocks[p*BLOCK_BITS+:BLOCK_BITS]};
  endfunction

  // The first plane whose words move from `from` on; PLANES if there is none.
  function integer next_plane(input integer from);
    integer p;
    begin
      next_plane = PLANES;
      for (p = PLANES - 1; p >= from; p = p - 1) if (stream_planes[p]) next_plane = p;
    end
  endfunction

  function [63:0] op_name(input [1:0] code);
    op_name = code == SENSE ? "sense" : code == PROGRAM ? "program" : "erase";
  endfunction

  task refuse(input string what);
    string message;
    begin
      message = $sformatf("NAND VIOLATION cycle %0d (%0d ns) channel %0d die %0d: %0s",
                          cycle, cycle * 1000 / CLOCK_MHZ, channel, die, what);
      $display("%0s", message);
      count = count + 1;
`ifdef VERILATOR
      flashtrain_violation(message);
`endif
    end
  endtask
endmodule
