// Protocol checker on the pins of one channel: decodes the bus on its own and refuses what ONFI 5.1 forbids.
//
// It sees what a logic analyser would see (rtl/nand_bus.py has the pins), and knows the rules, the geometry and the
// timing; nothing of the controller or of the dies' insides. A refusal is a line on the output, a call of
// `flashtrain_violation` and a count on `violations`; the message names the rule. Afterwards it goes on as the die would.
//
// Rules
//   Selection      at most one CE_n low; no cycle and no data without one; CE_n holds during data.
//   Cycles         tWC between edges of WE_n, with either CLE or ALE; not during data.
//   Direction      RE_n only while the controller does not drive; tRHW from data out to anything that it drives
//                  for the same die, tCHZ for another or to the data out of another.
//   Commands       known ones only; to a busy die status and reset only; none within tWB of a command that makes it busy;
//                  the address cycles that a command has; a confirming command only after the one it confirms.
//   Addresses      row bits that exist; a column within the page, a multiple of WORD_BYTES.
//   Multi-plane    32h, 11h, D1h and C6h are followed by the same operation on another plane, at the same page.
//   Cache          31h after a read, within the block; 3Fh after 31h; an operation of another kind only after 3Fh or after
//                  a status with ARDY.
//   Data in        after 80h or 85h and its address and tADL, tCCS; within the page; a multiple of 8 bytes; 10h, 11h and
//                  15h with some.
//   Data out       of a source that is selected (status, ID, a plane that was read); after tWHR, tCCS, tRR; within the
//                  page; of a page from a die that is not busy.
//   Copyback       35h of one page; then 85h with a whole address on its plane and 10h, with nothing but status between.
//   Features       EFh only with READ_LEVELS, while the array is idle, not in a multi-plane command, between updates or
//                  within a suspended read; address 89h, tADL, four parameters, each twice in a beat: a level, and zeros.
//   LUNs           a command and its address are for the LUN in the address; what follows is for the same one. Data and
//                  commands without an address only while it is chosen: data out after a choice of its own, data in
//                  with no other LUN addressed since the page. 78h in the place of 70h. FFh is for all.
//
// Updates (spec.update)
//   Constants      C0h only between update sequences and while the array is idle; at least a header.
//   Gradients      C2h also to a die that is busy with C7h; behind page 0 the identity of the tile's first page
//                  and that of its source.
//   Update         C4h, C5h for each plane from 0 up, one page for all sources and one for all targets; only with
//                  gradients loaded since the update before.
//   Sequence       from C7h to C8h nothing else but gradients, copies, statistics, updates, status and reset; C8h
//                  counts as 15h: see Cache.
//   Outputs        C9h after an update, CBh; then as 06h.
//
// Suspended reads (spec.nand)
//   When           also to a busy die and within a multi-plane command; not while it may be reading otherwise, nor between
//                  updates. BDh only after BCh on each plane once, at the same page, or after the end of a set which
//                  it continues, within the block; not before BFh has ended the set before.
//   Output         BEh of a plane that was read, after a status with SUSPENDED_READ; data tCCS later.
//   Until BFh      no command that needs the data registers for another page: 00h, 31h, 3Fh, C4h.
//
// With DPI each command with its address, each data burst and each status is an event (kinds of sim/trace/trace.py).
// To be cheap it works only in cycles in which a pin moves, or brings parameters of features.

/* verilator lint_off BLKSEQ */  // A model in procedural style; nothing leaves it but the count.

module flashtrain_nand_checker #(
    parameter integer DIES = 1,
    parameter integer LUNS = 1,  // of a chip enable: dies with numbers in sequence
    parameter integer PLANES = 1,
    parameter integer BLOCKS = 2,
    parameter integer PAGES = 2,
    parameter integer PAGE_BYTES = 544,  // with spare bytes
    parameter integer DATA_BYTES = 512,  // without
    parameter integer WORD_BYTES = 32,
    parameter integer READ_LEVELS = 0,  // beyond the one of all senses
    parameter integer TWC = 1,
    parameter integer TADL = 1,
    parameter integer TWHR = 1,
    parameter integer TRHW = 1,
    parameter integer TCHZ = 1,
    parameter integer TCCS = 1,
    parameter integer TWB = 1,
    parameter integer TRR = 1,
    parameter integer CLOCK_MHZ = 600
) (
    input wire clk,
    input wire rst,
    input wire [63:0] cycle,
    input wire [7:0] channel,
    input wire [7:0] first_die,  // its number, in messages and events

    input wire [DIES/LUNS-1:0] ce_n,
    input wire cle,
    input wire ale,
    input wire we,
    input wire dqs_o,
    input wire re,
    input wire [15:0] dq_o,
    input wire dqs_i,
    input wire [15:0] dq_i,
    input wire [DIES-1:0] rb_n,  // of each die, although LUNs share a pin

    output wire reads_status,  // the next dq_i with dqs_i is a status
    output wire [31:0] violations
);
  localparam integer PAGE_BITS = $clog2(PAGES);
  localparam integer PLANE_BITS = $clog2(PLANES);
  localparam integer ROW_BITS = PAGE_BITS + PLANE_BITS + $clog2(BLOCKS);
  localparam integer ENABLES = DIES / LUNS;
  localparam integer LUN_BITS = $clog2(LUNS);
  localparam integer CHUNK = 8;  // bytes, of which data in is a multiple
  localparam integer HEADER_BYTES = 64;  // of the constants
  localparam integer IDENTITIES_BYTES = 24;  // of a tile to be programmed, and of its source
  localparam integer PARAMETERS = 4;  // of a feature
  localparam [7:0] READ_LEVEL = 8'h89;  // the feature

  // Command bytes: ONFI 5.1, section 5; from BCh to CCh those of this project (docs/reference/contract.md).
  localparam [7:0] CMD_READ = 8'h00;
  localparam [7:0] CMD_CHANGE_READ_COLUMN = 8'h05;
  localparam [7:0] CMD_CHANGE_READ_COLUMN_ENHANCED = 8'h06;
  localparam [7:0] CMD_PROGRAM_CONFIRM = 8'h10;
  localparam [7:0] CMD_PROGRAM_MULTI_PLANE = 8'h11;
  localparam [7:0] CMD_PROGRAM_CACHE = 8'h15;
  localparam [7:0] CMD_READ_CONFIRM = 8'h30;
  localparam [7:0] CMD_READ_CACHE = 8'h31;
  localparam [7:0] CMD_READ_MULTI_PLANE = 8'h32;
  localparam [7:0] CMD_COPYBACK_READ = 8'h35;
  localparam [7:0] CMD_READ_CACHE_END = 8'h3F;
  localparam [7:0] CMD_ERASE = 8'h60;
  localparam [7:0] CMD_READ_STATUS = 8'h70;
  localparam [7:0] CMD_READ_STATUS_ENHANCED = 8'h78;
  localparam [7:0] CMD_PROGRAM = 8'h80;
  localparam [7:0] CMD_CHANGE_WRITE_COLUMN = 8'h85;
  localparam [7:0] CMD_READ_ID = 8'h90;
  localparam [7:0] CMD_SUSPENDED_READ = 8'hBC;
  localparam [7:0] CMD_SUSPENDED_READ_CONFIRM = 8'hBD;
  localparam [7:0] CMD_SUSPENDED_READ_SELECT = 8'hBE;
  localparam [7:0] CMD_SUSPENDED_READ_END = 8'hBF;
  localparam [7:0] CMD_LOAD_CONSTANTS = 8'hC0;
  localparam [7:0] CMD_LOAD_CONSTANTS_CONFIRM = 8'hC1;
  localparam [7:0] CMD_LOAD_GRADIENT = 8'hC2;
  localparam [7:0] CMD_LOAD_GRADIENT_CONFIRM = 8'hC3;
  localparam [7:0] CMD_UPDATE_SOURCE = 8'hC4;
  localparam [7:0] CMD_UPDATE_TARGET = 8'hC5;
  localparam [7:0] CMD_UPDATE_MULTI_PLANE = 8'hC6;
  localparam [7:0] CMD_UPDATE = 8'hC7;
  localparam [7:0] CMD_UPDATE_END = 8'hC8;
  localparam [7:0] CMD_READ_COPY = 8'hC9;
  localparam [7:0] CMD_READ_COPY_CONFIRM = 8'hCA;
  localparam [7:0] CMD_READ_STATISTICS = 8'hCB;
  localparam [7:0] CMD_READ_STATISTICS_CONFIRM = 8'hCC;
  localparam [7:0] CMD_ERASE_CONFIRM = 8'hD0;
  localparam [7:0] CMD_ERASE_MULTI_PLANE = 8'hD1;
  localparam [7:0] CMD_CHANGE_READ_COLUMN_CONFIRM = 8'hE0;
  localparam [7:0] CMD_SET_FEATURES = 8'hEF;
  localparam [7:0] CMD_RESET = 8'hFF;
  localparam [7:0] NO_COMMAND = 8'hFE;  // not a command of any standard
  localparam [7:0] COPY = 8'hFD;  // nor this: 85h with a whole address
  localparam [2:0] NOTHING = 0, STATUS = 1, ID = 2, PAGE = 3, SUSPENDED_PAGE = 4;  // sources of data out
  localparam [1:0] IDLE = 0, PROGRAMMING = 1, SENSING = 2;  // what the array may be doing while the die is ready
  localparam integer TRACE_COMMAND = 10, TRACE_DATA_IN = 11, TRACE_DATA_OUT = 12, TRACE_STATUS = 13;
  localparam [63:0] LONG_AGO = -64'd1000000;

  // The bus.
  reg [ENABLES+DIES+4:0] pins;  // in the clock before
  reg [ENABLES-1:0] ce_n_before;
  reg [DIES-1:0] rb_n_before;
  reg driven_before, dqs_o_before, re_before;
  integer selected;  // die, or -1
  integer last_re_die;
  reg conflict;  // several are
  reg tangled;  // two things at once
  reg idle;  // of another LUN
  reg [63:0] last_we, last_re, burst_start;
  integer burst_die;
  reg status_out;  // the last data out was a status, of burst_die
  reg [7:0] status;  // the last one seen

  // Each chip enable of several LUNs.
  integer lun[0:ENABLES-1];  // that was addressed last, by the number of its die
  reg [7:0] kept[0:ENABLES-1];  // a command whose address will say for which LUN it is
  integer missing[0:ENABLES-1];  // cycles of this address
  reg [39:0] kept_address[0:ENABLES-1];
  reg [63:0] kept_since[0:ENABLES-1];
  reg [63:0] command_at;  // of the command that is being looked at

  // Each die.
  reg [7:0] waiting[0:DIES-1];  // the command whose address cycles come, or came last
  integer left[0:DIES-1];  // of them
  reg [39:0] address[0:DIES-1];  // the last cycle highest
  reg [7:0] opened[0:DIES-1];  // the command, with its address, that waits to be confirmed
  reg ignoring[0:DIES-1];  // up to the next command, as the last one was refused
  reg [7:0] chain[0:DIES-1];  // the command with which a multi-plane operation goes on
  reg [PLANES-1:0] planes[0:DIES-1];  // of the operation being put together, or of the last
  integer page[0:DIES-1];
  integer plane[0:DIES-1];  // addressed last
  reg [PLANES-1:0] cached[0:DIES-1];  // planes whose cache register holds a page that was read
  reg [PLANES-1:0] sensed[0:DIES-1];  // the same of the data register
  reg reading[0:DIES-1];  // `planes` and `page` are of a read, which 31h can continue
  reg copied[0:DIES-1];  // the cache register of `plane` holds a page that was read to be programmed elsewhere
  reg [1:0] array[0:DIES-1];
  reg [2:0] source[0:DIES-1];
  reg plane_selected[0:DIES-1];
  reg loading[0:DIES-1];
  reg loaded[0:DIES-1];
  integer position[0:DIES-1];  // in the page, of the next byte
  integer run_start[0:DIES-1];  // where data in began
  reg [63:0] busy_after[0:DIES-1];  // the end of tWB
  reg [63:0] ready_at[0:DIES-1];
  reg [63:0] in_from[0:DIES-1], out_from[0:DIES-1];  // the earliest data
  reg in_column[0:DIES-1], out_column[0:DIES-1];  // which are so for tCCS, not tADL or tWHR
  reg [63:0] command_start[0:DIES-1];
  reg gradients[0:DIES-1];  // have come since the last update
  reg updated[0:DIES-1];  // there are copies
  reg sequence_runs[0:DIES-1];  // of updates
  reg takes_gradients[0:DIES-1];  // also while it is busy
  integer target_page[0:DIES-1];
  reg senses[0:DIES-1];  // it is busy with a read of the plain kind
  reg suspended_named[0:DIES-1];  // a page, since the last BDh
  reg [PLANES-1:0] suspended_planes[0:DIES-1];  // planes of the suspended read being put together, or of the last
  integer suspended_page[0:DIES-1];
  reg suspended_open[0:DIES-1];  // BDh, and no BFh yet
  reg may_send[0:DIES-1];  // of several LUNs: it answers RE_n, or will do so when it becomes ready
  reg suspended_done[0:DIES-1];  // and a status has said SUSPENDED_READ
  integer parameters[0:DIES-1];  // of a feature that are still to come

  integer count;
  integer d, e, l;

  assign reads_status = status_out;
  assign violations = count;

`ifdef VERILATOR
  import "DPI-C" function void flashtrain_violation(input string message);
  import "DPI-C" function void flashtrain_trace(
    input int kind, input int channel, input int die, input longint start, input longint stop, input int detail);
`endif

  initial begin
    count = 0;
    forget;
  end

  always @(posedge clk) begin
    if (rst) forget;
    else if (we || {ce_n, rb_n, cle, ale, dqs_o, re, dqs_i} != pins) look;
    else begin
      if (dqs_i && status_out) see_status;
      if (READ_LEVELS != 0 && dqs_o && selected >= 0) see_parameter(selected);
    end
  end

  task forget;
    begin
      pins = {{ENABLES + DIES{1'b1}}, 5'b0};
      ce_n_before = {ENABLES{1'b1}};
      rb_n_before = {DIES{1'b1}};
      driven_before = 0;
      dqs_o_before = 0;
      re_before = 0;
      selected = -1;
      conflict = 0;
      last_we = LONG_AGO;
      last_re = LONG_AGO;
      last_re_die = -1;
      status_out = 0;
      for (e = 0; e < ENABLES; e = e + 1) begin
        lun[e] = e * LUNS;
        kept[e] = NO_COMMAND;
        missing[e] = 0;
      end
      for (d = 0; d < DIES; d = d + 1) begin
        forget_operations(d);
        busy_after[d] = 0;
        ready_at[d] = LONG_AGO;
      end
    end
  endtask

  task forget_operations(input integer die);
    begin
      waiting[die] = NO_COMMAND;
      left[die] = 0;
      opened[die] = NO_COMMAND;
      ignoring[die] = 0;
      chain[die] = NO_COMMAND;
      cached[die] = 0;
      sensed[die] = 0;
      reading[die] = 0;
      copied[die] = 0;
      array[die] = IDLE;
      source[die] = NOTHING;
      plane_selected[die] = 0;
      loading[die] = 0;
      loaded[die] = 0;
      position[die] = 0;
      run_start[die] = 0;
      gradients[die] = 0;
      updated[die] = 0;
      sequence_runs[die] = 0;
      takes_gradients[die] = 0;
      target_page[die] = 0;
      senses[die] = 0;
      suspended_named[die] = 0;
      suspended_planes[die] = 0;
      suspended_page[die] = 0;
      suspended_open[die] = 0;
      suspended_done[die] = 0;
      parameters[die] = 0;
      may_send[die] = 0;
    end
  endtask

  // Something moves.
  task look;
    begin
      if (dqs_i && status_out) see_status;
      if (rb_n != rb_n_before)
        for (d = 0; d < DIES; d = d + 1) if (rb_n[d] && !rb_n_before[d]) ready_at[d] = cycle;
      if (dqs_o_before && !dqs_o) data_in_end(burst_die);
      if (re_before && !re) data_out_end(burst_die);
      if (ce_n != ce_n_before) select;

      tangled = 1;
      if (re && (cle | ale | dqs_o | we) && !(re_before && driven_before))
        refuse(selected, "RE_n toggles while the controller drives");
      else if (dqs_o && !dqs_o_before && (cle | ale)) refuse(selected, "data during a command or address cycle");
      else tangled = 0;
      if ((cle | ale | dqs_o | we) && !driven_before) begin
        if (selected / LUNS == last_re_die / LUNS && cycle - last_re < TRHW) too_early("tRHW", cycle - last_re, TRHW);
        else if (cycle - last_re < TCHZ) too_early("tCHZ", cycle - last_re, TCHZ);
        last_re = LONG_AGO;
      end

      if ((we || dqs_o && !dqs_o_before || re && !re_before) && selected < 0) begin
        if (!conflict) refuse(-1, "a cycle or data while no CE_n is low");
      end else begin
        if (tangled) ignoring[selected] = 1;
        if (we) write_cycle(selected);
        if (dqs_o && !dqs_o_before) data_in_begin(selected);
        if (READ_LEVELS != 0 && dqs_o) see_parameter(selected);
        if (re && !re_before) data_out_begin(selected);
      end

      pins = {ce_n, rb_n, cle, ale, dqs_o, re, dqs_i};
      ce_n_before = ce_n;
      rb_n_before = rb_n;
      driven_before = cle | ale | dqs_o;
      dqs_o_before = dqs_o;
      re_before = re;
    end
  endtask

  task select;
    begin
      if (dqs_o && dqs_o_before || re && re_before) refuse(burst_die, "CE_n changes during data");
      selected = -1;
      conflict = 0;
      for (e = 0; e < ENABLES; e = e + 1)
        if (!ce_n[e]) begin
          conflict = selected >= 0;
          selected = lun[e];
        end
      if (conflict) begin
        refuse(selected, "CE_n of another die is low at the same time");
        selected = -1;
      end
    end
  endtask

  task write_cycle(input integer die);
    begin
      if (cycle - last_we < TWC) too_early("tWC", cycle - last_we, TWC);
      last_we = cycle;
      if (cle == ale) refuse(die, "WE_n without one of CLE and ALE");
      else if (LUNS != 1) cycle_of_luns(die / LUNS, dq_o[7:0]);
      else if (cle) begin
        command_at = cycle;
        command(die, dq_o[7:0]);
      end else address_cycle(die, dq_o[7:0]);
    end
  endtask

  // A command that has a row address is kept up to its last cycle.
  task cycle_of_luns(input integer enable, input [7:0] value);
    begin
      if (cle) begin
        if (missing[enable] != 0)
          refuse(lun[enable], $sformatf("command %02xh before the whole address of %02xh", value, kept[enable]));
        command_at = cycle;
        missing[enable] = 0;
        if (value == CMD_CHANGE_WRITE_COLUMN || address_cycles(value) >= 3) begin
          kept[enable] = value;
          missing[enable] = value == CMD_CHANGE_WRITE_COLUMN ? address_cycles(COPY) : address_cycles(value);
          kept_since[enable] = cycle;
        end else if (value == CMD_RESET) begin
          for (l = 0; l < LUNS; l = l + 1) command(enable * LUNS + l, value);
        end else if (value == CMD_READ_STATUS || value == CMD_READ_ID || value == CMD_SET_FEATURES)
          refuse(lun[enable], $sformatf("command %02xh, which is for all of %0d LUNs", value, LUNS));
        else command(lun[enable], value);
      end else if (missing[enable] == 0) address_cycle(lun[enable], value);
      else begin
        kept_address[enable] = {value, kept_address[enable][39:8]};
        missing[enable] = missing[enable] - 1;
        if (missing[enable] == 0) begin
          choose(enable, enable * LUNS + (kept_address[enable][39:16] >> ROW_BITS) % LUNS);
          command_at = kept_since[enable];
          command(selected, kept[enable]);
          if (!ignoring[selected])
            for (l = 5 - address_cycles(waiting[selected]); l < 5; l = l + 1)
              address_cycle(selected, kept_address[enable][8*l+:8]);
        end
      end
    end
  endtask

  // The others lose the choice of a page, and a page without its data. One that is busy may still send when it becomes
  // ready, but for 78h. 80h may clear the registers of those that are idle.
  task choose(input integer enable, input integer die);
    begin
      for (l = enable * LUNS; l < (enable + 1) * LUNS; l = l + 1)
        if (l != die) begin
          if (kept_since[enable] < busy_after[l]) too_early("tWB", TWB - (busy_after[l] - kept_since[enable]), TWB);
          if (chain[l] != NO_COMMAND)
            refuse(die, $sformatf("it is addressed within a multi-plane operation of die %0d", l));
          idle = rb_n[l] && kept_since[enable] >= busy_after[l];
          if (idle || kept[enable] == CMD_READ_STATUS_ENHANCED) may_send[l] = 0;
          if (idle && kept[enable] == CMD_PROGRAM && chain[die] == NO_COMMAND) begin
            cached[l] = 0;
            sensed[l] = 0;
            copied[l] = 0;
          end
          source[l] = NOTHING;
          plane_selected[l] = 0;
          loading[l] = 0;
          if (opened[l] == CMD_PROGRAM) refuse(die, $sformatf("it is addressed before the data of a page of die %0d", l));
          opened[l] = NO_COMMAND;
        end
      may_send[die] = 1;
      lun[enable] = die;
      selected = die;
    end
  endtask

  task command(input integer die, input [7:0] code);
    begin
      // What belongs to a command that was refused is no second mistake.
      if (!confirms(code)) ignoring[die] = 0;
      if (ignoring[die]) ;
      else if (command_at < busy_after[die]) begin
        too_early("tWB", TWB - (busy_after[die] - command_at), TWB);
        busy_after[die] = cycle;
        if (!while_busy(die, code)) ignoring[die] = 1;
      end else if ((!rb_n[die] || cycle - ready_at[die] < cycle - command_at) && !while_busy(die, code)) begin
        refuse(die, $sformatf("command %02xh to a busy die", code));
        ignoring[die] = 1;
      end
      if (!ignoring[die]) begin
        if (left[die] != 0 && !(waiting[die] == CMD_READ && left[die] == 5) && code != CMD_RESET) begin
          refuse(die, $sformatf("command %02xh after %0d of the %0d address cycles of %02xh",
                                code, address_cycles(waiting[die]) - left[die], address_cycles(waiting[die]),
                                spelled(waiting[die])));
          if (confirms(code)) ignoring[die] = 1;
        end else if (chain[die] != NO_COMMAND && code != chain[die] && !confirms(code) && !while_busy(die, code)) begin
          refuse(die, $sformatf("command %02xh within a multi-plane operation, which goes on with %02xh",
                                code, chain[die]));
          chain[die] = NO_COMMAND;
          ignoring[die] = 1;
        end else if (sequence_runs[die] && !within_sequence(code)) begin
          refuse(die, $sformatf("command %02xh between an update and C8h", code));
          ignoring[die] = 1;
        end else if (is_suspended_read(code) && (array[die] == SENSING || senses[die] && !rb_n[die])) begin
          refuse(die, $sformatf("command %02xh while the die reads otherwise", code));
          ignoring[die] = 1;
        end else if (suspended_open[die] && (code == CMD_READ || code == CMD_READ_CACHE || code == CMD_READ_CACHE_END
            || code == CMD_UPDATE_SOURCE)) begin
          refuse(die, $sformatf("command %02xh before BFh has ended a suspended read", code));
          ignoring[die] = 1;
        end else if (code == CMD_SET_FEATURES && suspended_open[die]) begin
          refuse(die, "command efh before BFh has ended a suspended read");
          ignoring[die] = 1;
        end else check_array(die, code);
        if (parameters[die] != 0 && code != CMD_RESET) begin
          refuse(die, $sformatf("command %02xh after %0d of the %0d parameters of a feature",
                                code, PARAMETERS - parameters[die], PARAMETERS));
          parameters[die] = 0;
        end
        left[die] = 0;
        if (!confirms(code)) command_start[die] = command_at - TWC + 1;
        if (!ignoring[die]) perform(die, code == CMD_CHANGE_WRITE_COLUMN && copied[die] ? COPY : code);
      end
    end
  endtask

  // A cache operation is left only when the array is known to be idle.
  task check_array(input integer die, input [7:0] code);
    begin
      if (array[die] == PROGRAMMING
          && (code == CMD_READ || code == CMD_CHANGE_READ_COLUMN || code == CMD_CHANGE_READ_COLUMN_ENHANCED
              || code == CMD_ERASE || code == CMD_READ_ID
              || code == CMD_LOAD_CONSTANTS || code == CMD_UPDATE_SOURCE || code == CMD_SET_FEATURES)) begin
        refuse(die, $sformatf("command %02xh while the array may be programming: no status with ARDY yet", code));
        array[die] = IDLE;
      end
      if (array[die] == SENSING
          && (code == CMD_READ_CONFIRM || code == CMD_ERASE || code == CMD_PROGRAM || code == CMD_READ_ID
              || code == CMD_LOAD_CONSTANTS || code == CMD_UPDATE_SOURCE
              || code == CMD_SET_FEATURES)) begin
        refuse(die, $sformatf("command %02xh in a cache read, before 3Fh or a status with ARDY", code));
        array[die] = IDLE;
      end
    end
  endtask

  task perform(input integer die, input [7:0] code);
    begin
      if (code != CMD_READ_STATUS && code != CMD_READ_STATUS_ENHANCED && code != COPY) copied[die] = 0;
      case (wide(code))
        CMD_READ, CMD_CHANGE_READ_COLUMN, CMD_CHANGE_READ_COLUMN_ENHANCED, CMD_ERASE, CMD_READ_STATUS_ENHANCED,
        CMD_PROGRAM, CMD_CHANGE_WRITE_COLUMN, CMD_READ_ID, CMD_LOAD_GRADIENT, CMD_UPDATE_SOURCE, CMD_READ_COPY,
        CMD_SUSPENDED_READ, CMD_SUSPENDED_READ_SELECT, COPY: begin
          waiting[die] = code;
          left[die] = address_cycles(code);
          if (code != CMD_READ_STATUS_ENHANCED && code != CMD_CHANGE_WRITE_COLUMN) opened[die] = NO_COMMAND;
          if (is_suspended_read(code)) plane_selected[die] = 0;
          if (code != CMD_CHANGE_WRITE_COLUMN) loading[die] = 0;
          if (code == COPY) command_start[die] = cycle - TWC + 1;
          source[die] = code == CMD_READ && plane_selected[die] ? PAGE : NOTHING;
          out_from[die] = cycle + TWHR;
          out_column[die] = 0;
          if (code == CMD_CHANGE_WRITE_COLUMN) begin
            if (opened[die] != CMD_PROGRAM) unopened(die, code);
            check_run(die);
          end
        end
        CMD_SET_FEATURES:
        if (READ_LEVELS != 0) begin
          waiting[die] = code;
          left[die] = address_cycles(code);
          opened[die] = NO_COMMAND;
          source[die] = NOTHING;
          plane_selected[die] = 0;
          loading[die] = 0;
        end else begin
          refuse(die, "unknown command efh");
          ignoring[die] = 1;
        end
        CMD_READ_STATUS: begin
          waiting[die] = code;
          loading[die] = 0;
          source[die] = STATUS;
          out_from[die] = cycle + TWHR;
          out_column[die] = 0;
          trace_command(die, code);
        end
        CMD_RESET: begin
          forget_operations(die);
          busy_after[die] = cycle + TWB;
          trace_command(die, code);
        end
        CMD_SUSPENDED_READ_CONFIRM: begin
          if (suspended_open[die]) refuse(die, "command bdh before BFh has ended the suspended read before");
          else if (suspended_planes[die] == 0) refuse(die, "command bdh without a page");
          else if (!suspended_named[die]) begin
            command_start[die] = cycle - TWC + 1;
            if (suspended_page[die] + 1 == PAGES) refuse(die, "command bdh past the last page of the block");
            suspended_page[die] = suspended_page[die] + 1;
          end
          suspended_named[die] = 0;
          suspended_open[die] = 1;
          suspended_done[die] = 0;
          source[die] = NOTHING;
          loading[die] = 0;
          trace_command(die, code);
        end
        CMD_SUSPENDED_READ_END: begin
          if (!suspended_done[die]) refuse(die, "command bfh without a suspended read that is known to be there");
          suspended_open[die] = 0;
          suspended_done[die] = 0;
          source[die] = NOTHING;
          loading[die] = 0;
          command_start[die] = cycle - TWC + 1;
          trace_command(die, code);
        end
        CMD_CHANGE_READ_COLUMN_CONFIRM:
        if (opened[die] == CMD_CHANGE_READ_COLUMN || opened[die] == CMD_CHANGE_READ_COLUMN_ENHANCED) begin
          opened[die] = NO_COMMAND;
          source[die] = PAGE;
          plane_selected[die] = 1;
          out_from[die] = cycle + TCCS;
          out_column[die] = 1;
          trace_command(die, code);
        end else unopened(die, code);
        CMD_READ_CONFIRM, CMD_READ_MULTI_PLANE:
        if (opened[die] == CMD_READ) begin
          if (code == CMD_READ_CONFIRM) begin
            sensed[die] = 0;
            cached[die] = planes[die];
            reading[die] = 1;
            output_of_plane(die, column(die));
          end
          make_busy(die, code);
        end else unopened(die, code);
        CMD_COPYBACK_READ:
        if (opened[die] == CMD_READ) begin
          if (planes[die] != only(plane[die])) refuse(die, "command 35h of several pages");
          sensed[die] = 0;
          cached[die] = 0;
          reading[die] = 0;
          copied[die] = 1;
          plane_selected[die] = 0;
          source[die] = NOTHING;
          make_busy(die, code);
        end else unopened(die, code);
        CMD_READ_CACHE, CMD_READ_CACHE_END: begin
          if (opened[die] != CMD_READ) command_start[die] = cycle - TWC + 1;
          cache_read(die, code);
          make_busy(die, code);
        end
        CMD_PROGRAM_CONFIRM, CMD_PROGRAM_MULTI_PLANE, CMD_PROGRAM_CACHE:
        if (opened[die] == CMD_PROGRAM) begin
          if (!loaded[die]) refuse(die, $sformatf("command %02xh without data", code));
          check_run(die);
          if (code != CMD_PROGRAM_MULTI_PLANE) array[die] = code == CMD_PROGRAM_CACHE ? PROGRAMMING : IDLE;
          command_start[die] = cycle - TWC + 1;
          make_busy(die, code);
        end else if (opened[die] == COPY && code == CMD_PROGRAM_CONFIRM) begin
          array[die] = IDLE;
          make_busy(die, code);
        end else unopened(die, code);
        CMD_ERASE_CONFIRM, CMD_ERASE_MULTI_PLANE:
        if (opened[die] == CMD_ERASE) make_busy(die, code);
        else unopened(die, code);
        CMD_LOAD_CONSTANTS: begin
          waiting[die] = code;
          opened[die] = code;
          source[die] = NOTHING;
          loaded[die] = 0;
          data_in_at(die, 0, cycle + TADL, 0);
          trace_command(die, code);
        end
        CMD_LOAD_CONSTANTS_CONFIRM, CMD_LOAD_GRADIENT_CONFIRM:
        if (opened[die] == code - 8'd1) begin
          if (!loaded[die]) refuse(die, $sformatf("command %02xh without data", code));
          else if (code == CMD_LOAD_CONSTANTS_CONFIRM && position[die] < HEADER_BYTES)
            refuse(die, $sformatf("command c1h after %0d of the %0d bytes of a header", position[die], HEADER_BYTES));
          else if (code == CMD_LOAD_GRADIENT_CONFIRM && plane[die] == 0
              && position[die] < DATA_BYTES + IDENTITIES_BYTES)
            refuse(die, $sformatf("command c3h of page 0 after %0d of the %0d bytes of a page and identities",
                                  position[die], DATA_BYTES + IDENTITIES_BYTES));
          check_run(die);
          if (code == CMD_LOAD_GRADIENT_CONFIRM) gradients[die] = 1;
          opened[die] = NO_COMMAND;
          loading[die] = 0;
          command_start[die] = cycle - TWC + 1;
          trace_command(die, code);
        end else unopened(die, code);
        CMD_UPDATE_TARGET:
        if (opened[die] == CMD_UPDATE_SOURCE) begin
          waiting[die] = code;
          left[die] = address_cycles(code);
        end else unopened(die, code);
        CMD_UPDATE_MULTI_PLANE, CMD_UPDATE:
        if (opened[die] == CMD_UPDATE_TARGET) begin
          if ((code == CMD_UPDATE) != (plane[die] == PLANES - 1))
            refuse(die, $sformatf("command %02xh after plane %0d of %0d", code, plane[die], PLANES));
          if (code == CMD_UPDATE) begin
            if (!gradients[die]) refuse(die, "command c7h without gradients since the update before");
            gradients[die] = 0;
            updated[die] = 1;
            sequence_runs[die] = 1;
            array[die] = IDLE;  // what it does matters after C8h again
          end
          make_busy(die, code);
        end else unopened(die, code);
        CMD_UPDATE_END: begin
          if (!sequence_runs[die]) refuse(die, "command c8h without an update");
          sequence_runs[die] = 0;
          array[die] = PROGRAMMING;
          make_busy(die, code);
        end
        CMD_READ_STATISTICS: begin
          opened[die] = code;
          source[die] = NOTHING;
          loading[die] = 0;
        end
        CMD_READ_COPY_CONFIRM, CMD_READ_STATISTICS_CONFIRM:
        if (opened[die] == (code == CMD_READ_COPY_CONFIRM ? CMD_READ_COPY : CMD_READ_STATISTICS)) begin
          opened[die] = NO_COMMAND;
          source[die] = PAGE;
          position[die] = 0;
          out_from[die] = cycle + TCCS;
          out_column[die] = 1;
          trace_command(die, code);
        end else unopened(die, code);
        default: begin
          refuse(die, $sformatf("unknown command %02xh", code));
          ignoring[die] = 1;
        end
      endcase
    end
  endtask

  task unopened(input integer die, input [7:0] code);
    begin
      refuse(die, $sformatf("command %02xh without the one that it belongs to", code));
      ignoring[die] = 1;
    end
  endtask

  task make_busy(input integer die, input [7:0] code);
    begin
      case (code)
        CMD_READ_MULTI_PLANE: chain[die] = CMD_READ;
        CMD_PROGRAM_MULTI_PLANE: chain[die] = CMD_PROGRAM;
        CMD_ERASE_MULTI_PLANE: chain[die] = CMD_ERASE;
        CMD_UPDATE_MULTI_PLANE: chain[die] = CMD_UPDATE_SOURCE;
        default: chain[die] = NO_COMMAND;
      endcase
      opened[die] = NO_COMMAND;
      loading[die] = 0;
      takes_gradients[die] = code == CMD_UPDATE;
      senses[die] = code == CMD_READ_CONFIRM || code == CMD_READ_CACHE || code == CMD_READ_MULTI_PLANE
          || code == CMD_COPYBACK_READ || code == CMD_READ_CACHE_END;
      busy_after[die] = cycle + TWB;
      trace_command(die, code);
    end
  endtask

  task cache_read(input integer die, input [7:0] code);
    begin
      if (sensed[die] == 0 && (cached[die] == 0 || code == CMD_READ_CACHE_END))
        refuse(die, $sformatf("command %02xh without a read before it", code));
      else if (code == CMD_READ_CACHE && opened[die] != CMD_READ) begin
        if (!reading[die]) refuse(die, "command 31h without a read that it continues");
        else if (page[die] + 1 == PAGES) refuse(die, "command 31h past the last page of the block");
        page[die] = page[die] + 1;
      end
      if (sensed[die] != 0) cached[die] = sensed[die];
      sensed[die] = code == CMD_READ_CACHE ? planes[die] : 0;
      array[die] = code == CMD_READ_CACHE ? SENSING : IDLE;
      reading[die] = 1;
      output_of_plane(die, 0);
    end
  endtask

  // Without 06h a die outputs the plane that was addressed last, if it was the only one that was read.
  task output_of_plane(input integer die, input integer from);
    begin
      plane_selected[die] = cached[die] == only(plane[die]);
      source[die] = plane_selected[die] ? PAGE : NOTHING;
      position[die] = from;
      out_from[die] = 0;
    end
  endtask

  task address_cycle(input integer die, input [7:0] value);
    begin
      if (ignoring[die]) ;
      else if (left[die] == 0) begin
        refuse(die, "an address cycle that no command asks for");
        ignoring[die] = 1;
      end else begin
        address[die] = {value, address[die][39:8]};
        left[die] = left[die] - 1;
        if (left[die] == 0) addressed(die, waiting[die]);
      end
    end
  endtask

  task addressed(input integer die, input [7:0] code);
    begin
      if (code != CMD_CHANGE_READ_COLUMN && code != CMD_CHANGE_WRITE_COLUMN && code != CMD_READ_ID
          && code != CMD_SET_FEATURES) begin
        if (address[die][39:16] >> (ROW_BITS + LUN_BITS) != 0)
          refuse(die, $sformatf("row address %06xh has more than %0d bits", address[die][39:16], ROW_BITS + LUN_BITS));
      end
      if (address_cycles(code) == 5 || code == CMD_CHANGE_READ_COLUMN || code == CMD_CHANGE_WRITE_COLUMN) begin
        if (column(die) >= PAGE_BYTES || column(die) % WORD_BYTES != 0)
          refuse(die, $sformatf("column %0d: it is a multiple of %0d below %0d", column(die), WORD_BYTES, PAGE_BYTES));
      end
      case (wide(code))
        CMD_READ, CMD_ERASE, CMD_PROGRAM, CMD_UPDATE_SOURCE: begin
          gather(die, code);
          opened[die] = code;
          source[die] = NOTHING;
          if (code != CMD_READ) reading[die] = 0;
          if (code == CMD_PROGRAM || code == CMD_UPDATE_SOURCE) begin
            cached[die] = 0;
            sensed[die] = 0;
            plane_selected[die] = 0;
          end
          if (code == CMD_PROGRAM) begin
            data_in_at(die, column(die), cycle + TADL, 0);
            loaded[die] = 0;
          end
        end
        COPY: begin
          command_start[die] = cycle - 6 * TWC + 1;
          if (row_plane(die) != plane[die])
            refuse(die, $sformatf("a page of plane %0d is copied to plane %0d", plane[die], row_plane(die)));
          plane[die] = row_plane(die);
          planes[die] = only(plane[die]);
          page[die] = row_page(die);
          opened[die] = code;
        end
        CMD_LOAD_GRADIENT: begin
          plane[die] = row_plane(die);
          opened[die] = code;
          data_in_at(die, 0, cycle + TADL, 0);
          loaded[die] = 0;
        end
        CMD_UPDATE_TARGET: begin
          if (row_plane(die) != plane[die])
            refuse(die, $sformatf("an update's source is on plane %0d, its target on plane %0d",
                                  plane[die], row_plane(die)));
          if (plane[die] != 0 && row_page(die) != target_page[die])
            refuse(die, $sformatf("target page %0d after page %0d in an update", row_page(die), target_page[die]));
          target_page[die] = row_page(die);
          opened[die] = code;
        end
        CMD_SUSPENDED_READ: begin
          if (!suspended_named[die]) suspended_planes[die] = 0;
          else begin
            if (suspended_planes[die][row_plane(die)])
              refuse(die, $sformatf("plane %0d twice in a suspended read", row_plane(die)));
            if (row_page(die) != suspended_page[die])
              refuse(die, $sformatf("page %0d after page %0d in a suspended read", row_page(die), suspended_page[die]));
          end
          suspended_planes[die] = suspended_planes[die] | only(row_plane(die));
          suspended_page[die] = row_page(die);
          suspended_named[die] = 1;
        end
        CMD_SUSPENDED_READ_SELECT: begin
          if (!suspended_done[die]) refuse(die, "command beh without a suspended read that is known to be there");
          else if (!suspended_planes[die][row_plane(die)])
            refuse(die, $sformatf("command beh selects plane %0d, which was not read", row_plane(die)));
          plane[die] = row_plane(die);
          source[die] = SUSPENDED_PAGE;
          position[die] = 0;
          out_from[die] = cycle + TCCS;
          out_column[die] = 1;
          trace_command(die, code);
        end
        CMD_READ_COPY: begin
          if (!updated[die]) refuse(die, "command c9h without an update");
          plane[die] = row_plane(die);
          opened[die] = code;
        end
        CMD_CHANGE_READ_COLUMN: begin
          if (!plane_selected[die]) refuse(die, "command 05h without a selected plane");
          position[die] = column(die);
          opened[die] = code;
        end
        CMD_CHANGE_READ_COLUMN_ENHANCED: begin
          plane[die] = row_plane(die);
          if (!cached[die][plane[die]])
            refuse(die, $sformatf("command 06h selects plane %0d, which was not read", plane[die]));
          position[die] = column(die);
          opened[die] = code;
        end
        CMD_CHANGE_WRITE_COLUMN: begin
          data_in_at(die, column(die), cycle + TCCS, 1);
          loading[die] = opened[die] == CMD_PROGRAM;
        end
        CMD_SET_FEATURES: begin
          if (address[die][39:32] != READ_LEVEL)
            refuse(die, $sformatf("feature %02xh, which there is not", address[die][39:32]));
          data_in_at(die, 0, cycle + TADL, 0);
          parameters[die] = PARAMETERS;
        end
        CMD_READ_STATUS_ENHANCED, CMD_READ_ID: begin
          source[die] = code == CMD_READ_STATUS_ENHANCED ? STATUS : ID;
          out_from[die] = cycle + TWHR;
          out_column[die] = 0;
        end
        default: ;
      endcase
      if (code == CMD_READ_STATUS_ENHANCED || code == CMD_PROGRAM || code == CMD_CHANGE_WRITE_COLUMN
          || code == CMD_READ_ID || code == CMD_LOAD_GRADIENT || code == CMD_SET_FEATURES)
        trace_command(die, code);
    end
  endtask

  task gather(input integer die, input [7:0] code);
    begin
      plane[die] = row_plane(die);
      if (chain[die] == code) begin
        if (planes[die][plane[die]]) refuse(die, $sformatf("plane %0d twice in a multi-plane operation", plane[die]));
        // An erase has no page.
        if (code != CMD_ERASE && row_page(die) != page[die])
          refuse(die, $sformatf("page %0d after page %0d in a multi-plane operation", row_page(die), page[die]));
        planes[die][plane[die]] = 1;
      end else planes[die] = only(plane[die]);
      if (code == CMD_UPDATE_SOURCE && plane[die] != 0 && !planes[die][plane[die]-1])
        refuse(die, $sformatf("an update of plane %0d before plane %0d", plane[die], plane[die] - 1));
      page[die] = row_page(die);
    end
  endtask

  task data_in_at(input integer die, input integer from, input [63:0] earliest, input is_column_change);
    begin
      loading[die] = 1;
      position[die] = from;
      run_start[die] = from;
      in_from[die] = earliest;
      in_column[die] = is_column_change;
    end
  endtask

  task data_in_begin(input integer die);
    begin
      burst_die = die;
      burst_start = cycle;
      if (ignoring[die]) ;
      else if (!loading[die]) begin
        refuse(die, "data in without 80h and its address");
        ignoring[die] = 1;
      end else if (cycle < in_from[die])
        too_early(in_column[die] ? "tCCS" : "tADL",
                  (in_column[die] ? TCCS : TADL) - (in_from[die] - cycle), in_column[die] ? TCCS : TADL);
    end
  endtask

  // One in each beat, twice: at both edges of DQS. The last one makes the die busy.
  task see_parameter(input integer die);
    if (!ignoring[die] && waiting[die] == CMD_SET_FEATURES) begin
      if (parameters[die] == 0) begin
        if (loading[die]) refuse(die, $sformatf("more than %0d parameters of a feature", PARAMETERS));
        loading[die] = 0;
      end else begin
        if (dq_o[15:8] != dq_o[7:0]) refuse(die, "a parameter of a feature that is not the same at both edges");
        if (dq_o[7:0] > (parameters[die] == PARAMETERS ? READ_LEVELS : 0))
          refuse(die, $sformatf("parameter %0d of the read level is %0d", PARAMETERS + 1 - parameters[die], dq_o[7:0]));
        parameters[die] = parameters[die] - 1;
        if (parameters[die] == 0) busy_after[die] = cycle + TWB;
      end
    end
  endtask

  task data_in_end(input integer die);
    begin
      if (!ignoring[die] && waiting[die] != CMD_SET_FEATURES) begin
        loaded[die] = 1;
        advance(die, "data in");
      end
      trace(TRACE_DATA_IN, die, burst_start, cycle - 1, plane[die]);
    end
  endtask

  task data_out_begin(input integer die);
    begin
      burst_die = die;
      burst_start = cycle;
      status_out = source[die] == STATUS && !ignoring[die];
      for (l = die / LUNS * LUNS; l < (die / LUNS + 1) * LUNS; l = l + 1)
        if (l != die && may_send[l]) refuse(die, $sformatf("data out while die %0d, which no 78h has stopped, may send", l));
      if (ignoring[die]) ;
      else if (source[die] == NOTHING) begin
        refuse(die, "data out without a selected source");
        ignoring[die] = 1;
      end else if (source[die] == PAGE && (!rb_n[die] || cycle < busy_after[die])) begin
        refuse(die, "data out from a busy die");
        ignoring[die] = 1;
      end else if (cycle < out_from[die])
        too_early(out_column[die] ? "tCCS" : "tWHR",
                  (out_column[die] ? TCCS : TWHR) - (out_from[die] - cycle), out_column[die] ? TCCS : TWHR);
      else if (source[die] == PAGE && cycle - ready_at[die] < TRR) too_early("tRR", cycle - ready_at[die], TRR);
      else if (die != last_re_die && cycle - last_re < TCHZ) too_early("tCHZ", cycle - last_re, TCHZ);
    end
  endtask

  task data_out_end(input integer die);
    begin
      last_re = cycle - 1;
      last_re_die = burst_die;
      if (!ignoring[die] && (source[die] == PAGE || source[die] == SUSPENDED_PAGE)) advance(die, "data out");
      if (status_out) trace(TRACE_STATUS, die, burst_start, cycle - 1, status);
      else trace(TRACE_DATA_OUT, die, burst_start, cycle - 1, plane[die]);
    end
  endtask

  task advance(input integer die, input string what);
    begin
      position[die] = position[die] + 2 * (cycle - burst_start);
      if (position[die] > PAGE_BYTES) begin
        refuse(die, $sformatf("%0s past the end of the page, to byte %0d of %0d", what, position[die], PAGE_BYTES));
        position[die] = PAGE_BYTES;
        run_start[die] = PAGE_BYTES;
      end
    end
  endtask

  task check_run(input integer die);
    if ((position[die] - run_start[die]) % CHUNK != 0)
      refuse(die, $sformatf("data in of %0d bytes: not a multiple of %0d", position[die] - run_start[die], CHUNK));
  endtask

  task see_status;
    begin
      status = dq_i[7:0];
      if (dq_i[5]) array[burst_die] = IDLE;
      if (dq_i[4] && suspended_open[burst_die]) suspended_done[burst_die] = 1;
    end
  endtask

  function while_busy(input integer die, input [7:0] code);
    while_busy = code == CMD_READ_STATUS || code == CMD_READ_STATUS_ENHANCED || code == CMD_RESET || is_suspended_read(code)
        || takes_gradients[die] && (code == CMD_LOAD_GRADIENT || code == CMD_LOAD_GRADIENT_CONFIRM);
  endfunction

  function is_suspended_read(input [7:0] code);
    is_suspended_read = code >= CMD_SUSPENDED_READ && code <= CMD_SUSPENDED_READ_END;
  endfunction

  function within_sequence(input [7:0] code);
    within_sequence = code == CMD_READ_STATUS || code == CMD_READ_STATUS_ENHANCED || code == CMD_RESET
        || code >= CMD_LOAD_GRADIENT && code <= CMD_READ_STATISTICS_CONFIRM;
  endfunction

  // So that Verilator compares one after the other. Of a narrow case it makes a tree, with copies of what is done
  // for several commands: three times as much to compile.
  function [31:0] wide(input [7:0] code);
    wide = {24'd0, code};
  endfunction

  // Commands that end what another has begun.
  function confirms(input [7:0] code);
    /* verilator no_inline_task */
    case (code)
      CMD_PROGRAM_CONFIRM, CMD_PROGRAM_MULTI_PLANE, CMD_PROGRAM_CACHE, CMD_READ_CONFIRM, CMD_READ_CACHE,
      CMD_READ_MULTI_PLANE, CMD_COPYBACK_READ, CMD_READ_CACHE_END, CMD_CHANGE_WRITE_COLUMN, CMD_ERASE_CONFIRM,
      CMD_ERASE_MULTI_PLANE, CMD_CHANGE_READ_COLUMN_CONFIRM,
      CMD_SUSPENDED_READ_CONFIRM, CMD_LOAD_CONSTANTS_CONFIRM, CMD_LOAD_GRADIENT_CONFIRM, CMD_UPDATE_TARGET,
          CMD_UPDATE_MULTI_PLANE, CMD_UPDATE, CMD_READ_COPY_CONFIRM, CMD_READ_STATISTICS_CONFIRM: confirms = 1;
      default: confirms = 0;
    endcase
  endfunction

  function integer address_cycles(input [7:0] code);
    /* verilator no_inline_task */
    case (code)
      CMD_READ, CMD_CHANGE_READ_COLUMN_ENHANCED, CMD_PROGRAM, COPY: address_cycles = 5;
      CMD_ERASE, CMD_READ_STATUS_ENHANCED, CMD_SUSPENDED_READ, CMD_SUSPENDED_READ_SELECT, CMD_LOAD_GRADIENT,
          CMD_UPDATE_SOURCE, CMD_UPDATE_TARGET, CMD_READ_COPY: address_cycles = 3;
      CMD_CHANGE_READ_COLUMN, CMD_CHANGE_WRITE_COLUMN: address_cycles = 2;
      CMD_READ_ID, CMD_SET_FEATURES: address_cycles = 1;
      default: address_cycles = 0;
    endcase
  endfunction

  function [PLANES-1:0] only(input integer p);
    begin
      only = 0;
      only[p] = 1;
    end
  endfunction

  function [7:0] spelled(input [7:0] code);
    spelled = code == COPY ? CMD_CHANGE_WRITE_COLUMN : code;
  endfunction

  // Fields of the address, after the last of its cycles.
  function integer column(input integer die);
    column = waiting[die] == CMD_CHANGE_READ_COLUMN
        || waiting[die] == CMD_CHANGE_WRITE_COLUMN ? address[die][39:24] : address[die][15:0];
  endfunction

  function integer row_page(input integer die);
    row_page = address[die][16+:PAGE_BITS];
  endfunction

  function integer row_plane(input integer die);
    row_plane = (address[die][39:16] >> PAGE_BITS) % PLANES;
  endfunction

  task trace_command(input integer die, input [7:0] code);
    trace(TRACE_COMMAND, die, command_start[die], cycle, code);
  endtask

  task trace(input integer kind, input integer die, input [63:0] start, input [63:0] stop,
             input integer detail);
`ifdef VERILATOR
    flashtrain_trace(kind, channel, die + {24'd0, first_die}, start, stop, detail);
`endif
  endtask

  task too_early(input string name, input integer after, input integer least);
    refuse(selected, $sformatf("%0s: %0d cycles instead of at least %0d", name, after, least));
  endtask

  task refuse(input integer die, input string what);
    begin
      report(cycle, channel, die < 0 ? die : die + {24'd0, first_die}, what);
      count = count + 1;
    end
  endtask

  // Apart, and no more than a call in what Verilator makes of the many places that refuse something.
  task automatic report(input [63:0] at, input [7:0] of_channel, input integer die, input string what);
    /* verilator no_inline_task */
    string message;
    begin
      message = $sformatf("NAND VIOLATION cycle %0d (%0d ns) channel %0d die %0d: %0s",
                          at, at * 1000 / CLOCK_MHZ, of_channel, die, what);
      $display("%0s", message);
`ifdef VERILATOR
      flashtrain_violation(message);
`endif
    end
  endtask
endmodule
