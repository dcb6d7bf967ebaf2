// A small SLC NAND part with the asynchronous (SDR) interface of ONFI: an independent judge of NAND hosts.
//
// docs/verification.md says what it models, from which sources, and what it assumes.

`timescale 1ns / 1ps

module sdr_part #(
    parameter integer PAGE_BYTES = 2048,
    parameter integer SPARE_BYTES = 64,
    parameter integer PAGES = 64,  // of a block
    parameter integer BLOCKS = 8,  // of all planes; the lowest bit of a block's number is its plane
    parameter integer PLANES = 1,  // 1 or 2
    parameter integer LUNS = 1,  // behind the chip enable; a part of its own for each of them
    parameter integer LUN = 0,  // the number of this one
    parameter integer MAX_MODE = 5,  // the fastest timing mode
    parameter [15:0] OPTIONAL = 16'h003F,  // bytes 8 and 9 of the parameter page: commands that are there
    parameter [7:0] DRIVE = 8'h00,  // byte 151: bit 0 feature 10h, with 35 and 50 ohms; bit 1 25, bit 2 18
    parameter RESISTOR = 1'b1,  // at the pin ZQ, which a calibration needs
    parameter [7:0] PROGRAM_SUSPEND = 8'h00,  // commands of the maker; 00h: none
    parameter [7:0] PROGRAM_RESUME = 8'h00,
    parameter [7:0] ERASE_SUSPEND = 8'h00,
    parameter [7:0] ERASE_RESUME = 8'h00,
    parameter integer SUSPEND_CYCLES = 0,  // address cycles of each of them
    parameter [15:0] FEATURES = 16'h0000,  // bytes 6 and 7: bit 2 pages in any order, bit 3 two planes, bit 6 reads so
    parameter [15:0] REVISION = 16'h0002,  // bytes 4 and 5: ONFI 1.0
    parameter integer NOP = 4,  // programs of a page between erases
    parameter integer BAD_BLOCKS = 0,  // with factory marks; block 0 is good
    parameter integer SEED = 1,  // of bad blocks, wrong bits, torn pages and the unique ID
    parameter [7:0] MAKER = 8'h2C,
    parameter [7:0] DEVICE = 8'hF1,
    parameter integer SCALE = 1,  // divides all busy times
    parameter integer TR_NS = 25000,
    parameter integer TPROG_NS = 200000,
    parameter integer TBERS_NS = 700000,
    parameter integer TCBSY_NS = 3000,
    parameter integer TRCBSY_NS = 3000,
    parameter integer TDBSY_NS = 500,
    parameter integer TFEAT_NS = 1000,
    parameter integer TZQCL_NS = 1000,
    parameter integer TZQCS_NS = 300,
    parameter integer TRST_NS = 5000,  // idle or reading
    parameter integer TRST_PROGRAM_NS = 10000,
    parameter integer TRST_ERASE_NS = 500000,
    parameter integer TRST_FIRST_NS = 1000000,  // after power-on
    parameter integer TPOR_NS = 100000,  // from power-on to R/B_n high
    parameter integer TSUSP_NS = 20000,  // from a suspend to ready
    parameter integer TRES_NS = 1000,  // what a resume costs the program or erase
    parameter integer TADV_NS = 30000,  // from a resume to the next suspend
    parameter integer TADL_NS = 400,
    parameter integer TCCS_NS = 500  // declared, and checked
) (
    input wire power,
    input wire ce_n,
    input wire cle,
    input wire ale,
    input wire we_n,
    input wire re_n,
    input wire wp_n,
    input wire [7:0] io_i,
    output wire [7:0] io_o,
    output wire io_oe,
    input wire others_drive,  // another LUN of the chip enable drives IO
    output reg rb_n,  // open drain: 0 pulls, 1 releases

    // Faults on demand.
    input wire fail_program,  // at the end of a program: it fails
    input wire fail_erase,
    input wire [15:0] wrong_bits,  // per million bits, at each read of the array

    // What the host has done wrong.
    output wire [31:0] violations,  // of times
    output wire [39:0] violation,  // name of the last one
    output reg [31:0] misuses,  // of rules
    output reg [63:0] misuse,  // name of the last one
    output reg [31:0] suspensions,
    output reg [31:0] ignored,  // cycles without effect: the part was busy, or does not have the command
    output reg [2:0] mode  // the timing mode in force
);
  import sdr_times::*;

  localparam integer BYTES = PAGE_BYTES + SPARE_BYTES;
  localparam integer PAGE_BITS = $clog2(PAGES);
  localparam integer BLOCK_BITS = $clog2(BLOCKS);
  localparam integer NO_ROW = -1, WRONG_ROW = -2;

  // Optional commands (ONFI 1.0, bytes 8 and 9), and 06h (ONFI 2.0).
  localparam integer CACHE_PROGRAM = 0, CACHE_READ = 1, SET_GET_FEATURES = 2, STATUS_ENHANCED = 3, COPYBACK = 4;
  localparam integer UNIQUE_ID = 5, COLUMN_ENHANCED = 6;
  localparam integer ZQ = 13;  // F9h and D9h (ONFI 4.0)
  // Features (bytes 6 and 7).
  localparam integer ANY_ORDER = 2, TWO_PLANES = 3, TWO_PLANE_READS = 6;

  // What a read cycle answers.
  localparam integer NOTHING = 0, STATUS = 1, PAGE = 2, ID = 3, ONFI_ID = 4, FEATURE = 5;
  localparam integer PARAMETER = 6, UNIQUE = 7;
  // What makes the part busy.
  localparam integer IDLE = 0, POWER_UP = 1, RESETTING = 2, READING = 3, PROGRAMMING = 4, ERASING = 5;
  localparam integer READING_AHEAD = 6, OTHER = 7, SETTING = 8, CALIBRATING = 9, SUSPENDING = 10;

  reg was_power, was_we_n, was_re_n, was_wp_n, was_shared;

  // A page on each plane for the host. The array has a register of its own.
  reg [7:0] cache_register[0:PLANES*BYTES-1];
  wire [2047:0] parameter_page;

  // Commands.
  reg needs_reset;
  reg [7:0] opened;  // the command whose addresses and data are expected; FFh for none
  reg [7:0] address[0:4];
  integer needed, given;  // address cycles
  integer plane, column;
  integer row;  // of the last five cycles of 00h or 80h
  integer loaded;  // the row that the array has read last
  integer ahead;  // the row that it is to read next, or NO_ROW for the next page
  integer answer, source;  // 00h returns to the source
  integer status_plane;  // of 78h; -1 for all
  // With several LUNs, an address of a row chooses one; commands without such an address are for the last one.
  reg elsewhere;  // that is another one
  reg output_off;  // until it is chosen again
  reg listening;  // the command could not be taken, if it is for this LUN
  reg filling;  // another page or plane was to follow before another LUN is chosen
  reg cleared;  // 80h has cleared a page that was read

  reg programming_data;  // between 80h and its confirmation
  reg copying;  // a page was read for copyback
  integer queued[0:PLANES-1];  // rows of 11h, D1h and 32h
  reg [31:0] feature;  // data of SET FEATURES
  integer feature_bytes;
  reg [7:0] drive_strength;

  // A suspended program or erase: its operation, what is left of it, its rows and data.
  integer suspended;  // IDLE: there is none
  integer left_ns;
  integer suspended_rows[0:PLANES-1];
  reg [7:0] suspended_data[0:PLANES*BYTES-1];
  real array_since, resumed_at;

  // Busy. The interface may be ready while the array goes on with a cached program or a read ahead.
  integer operation;
  reg interface_busy, array_busy;
  reg settling;  // tWB after the command: R/B_n and the status do not show it yet
  reg shown_ready, shown_array_ready;
  reg [7:0] confirmation;  // the last one of a program, 31h or 3Fh
  reg waiting;  // it waits for the array
  integer working[0:PLANES-1];  // rows in the array
  reg continued;  // the last program was confirmed by 15h: the next one belongs to it
  reg cache_pending;  // the interface becomes ready before the array
  reg fail[0:PLANES-1], fail_before[0:PLANES-1];
  reg [31:0] settle_number, settle_done, array_number, array_done, cache_number, cache_done;
  integer settle_after, array_after, cache_after;
  wire [31:0] settle_rings, array_rings, cache_rings;

  // ---------------------------------------------------------------------------------------------- helpers

  task report(input [63:0] name);
    begin
      misuses = misuses + 1;
      misuse = name;
      reported = 1'b1;
    end
  endtask

  task ignore;
    if (!elsewhere) ignored = ignored + 1;
  endtask

  // The LUN of three address cycles: the bits above those of the block.
  function automatic integer lun_of(input [7:0] low, input [7:0] middle, input [7:0] high);  // verilator no_inline_task
    lun_of = LUNS == 1 ? 0 : {8'd0, high, middle, low} / (1 << PAGE_BITS + BLOCK_BITS);
  endfunction

  // The row of three address cycles, or WRONG_ROW.
  function automatic integer row_of(input [7:0] low, input [7:0] middle, input [7:0] high);  // verilator no_inline_task
    integer raw, page, block;
    begin
      raw = {8'd0, high, middle, low};
      page = raw % (1 << PAGE_BITS);
      block = raw / (1 << PAGE_BITS);
      if (LUNS > 1) block = block % (1 << BLOCK_BITS);
      row_of = page < PAGES && block < BLOCKS ? block * PAGES + page : WRONG_ROW;
    end
  endfunction

  function [7:0] status_byte(input integer unused);
    reg now_failed, failed_before;
    integer p;
    begin
      now_failed = 1'b0;
      failed_before = 1'b0;
      // verilator unroll_disable
      for (p = 0; p < PLANES; p = p + 1)
        if (status_plane < 0 || status_plane == p) begin
          now_failed = now_failed | fail[p];
          failed_before = failed_before | fail_before[p];
        end
      // While the next page is programmed, the last result is that of the page before. A bit that is not valid
      // reads 1: the standard lets it be anything.
      if (!shown_ready) {failed_before, now_failed} = 2'b11;
      else if (!shown_array_ready) {failed_before, now_failed} = {now_failed, 1'b1};
      status_byte = {wp_n, shown_ready, shown_array_ready, 3'b000, failed_before, now_failed};
      if (unused != 0) status_byte = 8'h00;
    end
  endfunction

  // 16 bytes and their complement, again and again.
  function [7:0] unique_byte(input [4:0] at);
    unique_byte = ({4'd0, at[3:0]} * 8'd73 + SEED[7:0] * 8'd29 + 8'd17) ^ {8{at[4]}};
  endfunction

  // The byte that the next read cycle gets.
  function [7:0] answer_byte(input integer unused);
    case (answer)
      STATUS: answer_byte = status_byte(unused);
      PAGE: answer_byte = column < BYTES ? cache_register[plane*BYTES+column] : 8'hFF;
      ID:
        case (column)
          0: answer_byte = MAKER;
          1: answer_byte = DEVICE;
          2: answer_byte = 8'h80;  // one die of SLC; bit 7: programs are cached
          3: answer_byte = PAGE_BYTES == 2048 ? 8'h95 : 8'h94;
          4: answer_byte = 8'h02;
          default: answer_byte = 8'h00;
        endcase
      ONFI_ID:
        case (column)
          0: answer_byte = "O";
          1: answer_byte = "N";
          2: answer_byte = "F";
          3: answer_byte = "I";
          default: answer_byte = 8'h00;
        endcase
      PARAMETER: answer_byte = column < 768 ? parameter_page[8*(column%256)+:8] : 8'hFF;
      UNIQUE: answer_byte = column < 512 ? unique_byte(column[4:0]) : 8'hFF;
      FEATURE: answer_byte = column < 4 ? feature[8*column+:8] : 8'hFF;
      default: answer_byte = 8'hFF;
    endcase
  endfunction

  // ------------------------------------------------------------------------------------------------ array

  // The array's operation has ended, or was cut off.
  task finish_array(input torn);
    integer p;
    // verilator unroll_disable
    for (p = 0; p < PLANES; p = p + 1)
      if (working[p] != NO_ROW) begin
        case (operation)
          READING, READING_AHEAD: if (!torn) array.sense(working[p], wrong_bits);
          PROGRAMMING: begin
            array.program_row(working[p], torn || fail_program);
            fail_before[p] = fail[p];
            fail[p] = fail_program || array.fails(working[p]);
          end
          ERASING: begin
            array.erase_block(working[p], torn || fail_erase);
            fail[p] = fail_erase || array.fails(working[p]);
          end
          default: ;
        endcase
        working[p] = NO_ROW;
      end
  endtask

  function integer at_least_0(input integer value);
    at_least_0 = value < 0 ? 0 : value;
  endfunction

  task copy_to_data_register;
    integer i;
    // verilator unroll_disable
    for (i = 0; i < PLANES * BYTES; i = i + 1) array.register[i] = cache_register[i];
  endtask

  task copy_to_cache_register;
    integer i;
    // verilator unroll_disable
    for (i = 0; i < PLANES * BYTES; i = i + 1) cache_register[i] = array.register[i];
    cleared = 1'b0;
  endtask

  // ------------------------------------------------------------------------------------------------- busy

  // Interface and array are busy, for a time that is divided by SCALE.
  task begin_operation(input integer kind, input integer duration);
    begin
      operation = kind;
      array_busy = 1'b1;
      claiming = 1'b1;
      array_ns = duration / SCALE;
    end
  endtask

  // The pages that the host has filled go to the array.
  task begin_program;
    integer p;
    begin
      copy_to_data_register;
      // verilator unroll_disable
      for (p = 0; p < PLANES; p = p + 1) begin
        if (!continued) fail[p] = 1'b0;
        working[p] = queued[p];
        queued[p] = NO_ROW;
        if (working[p] != NO_ROW) begin
          array.count_program(working[p]);
          if (working[p] < 0) report("ROW     ");
          if (array.too_often) report("NOP     ");
          if (array.out_of_order && !FEATURES[ANY_ORDER]) report("ORDER   ");
        end
      end
      continued = confirmation == 8'h15;
      operation = PROGRAMMING;
      array_busy = 1'b1;
      array_ns = TPROG_NS / SCALE;
      if (continued) begin
        cache_ns = TCBSY_NS / SCALE;
        array_ns = (TPROG_NS + TCBSY_NS) / SCALE;
      end
    end
  endtask

  // What was read last goes to the host. After 31h, the array reads another row.
  task hand_over;
    begin
      copy_to_cache_register;
      plane = array.plane_of(loaded);
      column = 0;
      cache_ns = TRCBSY_NS / SCALE;
      if (confirmation == 8'h31) begin
        if (ahead == NO_ROW) begin
          if (array.page_of(loaded) == PAGES - 1) report("BLOCK   ");  // 31h does not go on to the next block
          loaded = (loaded + 1) % (BLOCKS * PAGES);
        end else loaded = ahead;
        ahead = NO_ROW;
        working[array.plane_of(loaded)] = loaded;
        operation = READING_AHEAD;
        array_busy = 1'b1;
        array_ns = (TR_NS + TRCBSY_NS) / SCALE;
      end
    end
  endtask

  // The array's operation has ended.
  task array_ended;
    integer p;
    begin
      array_busy = 1'b0;
      case (operation)
        PROGRAMMING, READING_AHEAD:
          if (waiting) begin
            waiting = 1'b0;
            programming = operation == PROGRAMMING;
            handing_over = operation == READING_AHEAD;
          end else if (!cache_pending) interface_busy = 1'b0;
        default: begin
          if (operation == READING) copy_to_cache_register;
          if (operation == SUSPENDING) suspensions = suspensions + 1;
          if (operation == RESETTING) needs_reset = 1'b0;
          if (operation == RESETTING) mode = 3'd0;
          if (operation == SETTING) set_feature;
          if (operation == CALIBRATING) begin
            // verilator unroll_disable
            for (p = 0; p < PLANES; p = p + 1) fail[p] = !RESISTOR;
          end
          interface_busy = 1'b0;
        end
      endcase
      operation = IDLE;
    end
  endtask

  // Alarms for what this step has begun, and what R/B_n and the status show.
  task end_step;
    integer settle_ns;
    begin
      settle_ns = 0;
      if (claiming) begin
        interface_busy = 1'b1;
        settling = 1'b1;
        settle_ns = sdr_time(TWB, {29'd0, mode});
        settle_number = settle_number + 1;
        settle_after = settle_ns;
      end
      if (array_ns >= 0) begin
        array_since = $realtime;
        array_number = array_number + 1;
        array_after = settle_ns + array_ns;
      end
      if (cache_ns >= 0) begin
        cache_pending = 1'b1;
        cache_number = cache_number + 1;
        cache_after = settle_ns + cache_ns;
      end
      if (!settling) begin
        shown_ready = ~interface_busy;
        shown_array_ready = ~array_busy;
        rb_n = shown_ready;
      end
      if (reported) $display("%m: misuse at %0.3f ns: %0s", $realtime, misuse);
      value = answer_byte(0);
    end
  endtask

  task call_off_alarms;
    begin
      settle_number = settle_number + 1;
      settle_after = -1;
      array_number = array_number + 1;
      array_after = -1;
      cache_number = cache_number + 1;
      cache_after = -1;
      cache_pending = 1'b0;
      settling = 1'b0;
    end
  endtask

  // ---------------------------------------------------------------------------------------------- suspend

  function is_maker_command(input [7:0] command);
    is_maker_command = command != 8'h00 && (command == PROGRAM_SUSPEND || command == PROGRAM_RESUME
                                            || command == ERASE_SUSPEND || command == ERASE_RESUME);
  endfunction

  // A command whose address cycles are complete. The work may end before it: then it has no effect.
  task maker_command(input [7:0] command);
    integer i, kind;
    begin
      opened = 8'hFF;
      kind = command == PROGRAM_SUSPEND || command == PROGRAM_RESUME ? PROGRAMMING : ERASING;
      if (command == PROGRAM_SUSPEND || command == ERASE_SUSPEND) begin
        if (suspended != IDLE || array_busy && operation != kind) report("SUSPEND ");
        else if (array_busy) begin
          if ($realtime - resumed_at < (TADV_NS + TRES_NS) / SCALE) report("ADVANCE ");
          suspended = operation;
          left_ns = array_after - $rtoi($realtime - array_since);
          if (left_ns < 0) left_ns = 0;
          // verilator unroll_disable
          for (i = 0; i < PLANES * BYTES; i = i + 1) suspended_data[i] = array.register[i];
          // verilator unroll_disable
          for (i = 0; i < PLANES; i = i + 1) begin
            suspended_rows[i] = working[i];
            working[i] = NO_ROW;
          end
          begin_operation(SUSPENDING, TSUSP_NS);
        end
      end else if (suspended != IDLE) begin
        if (suspended != kind || interface_busy) report("SUSPEND ");
        take_up;
        resumed_at = $realtime;
        array_busy = 1'b1;
        claiming = 1'b1;
        array_ns = left_ns + TRES_NS / SCALE;
      end
    end
  endtask

  // The suspended work is the array's again.
  task take_up;
    integer i;
    begin
      operation = suspended;
      suspended = IDLE;
      answer = NOTHING;
      source = NOTHING;
      // verilator unroll_disable
      for (i = 0; i < PLANES * BYTES; i = i + 1) array.register[i] = suspended_data[i];
      // verilator unroll_disable
      for (i = 0; i < PLANES; i = i + 1) begin
        working[i] = suspended_rows[i];
        fail[i] = 1'b0;
        fail_before[i] = 1'b0;
      end
    end
  endtask

  // Whether a row is programmed, or its block erased, by what is suspended.
  function is_suspended(input integer place);
    integer held;
    begin
      held = suspended_rows[array.plane_of(place)];
      is_suspended = suspended != IDLE && held >= 0 && place >= 0
          && (suspended == ERASING ? array.block_of(held) == array.block_of(place) : held == place);
    end
  endfunction

  // ------------------------------------------------------------------------------------------ power, reset

  task power_on;
    integer p;
    begin
      needs_reset = 1'b1;
      mode = 3'd0;
      drive_strength = 8'h02;
      forget_command;
      // verilator unroll_disable
      for (p = 0; p < PLANES * BYTES; p = p + 1) begin
        cache_register[p] = 8'h00;
        array.register[p] = 8'h00;
      end
      // verilator unroll_disable
      for (p = 0; p < PLANES; p = p + 1) begin
        fail[p] = 1'b0;
        fail_before[p] = 1'b0;
      end
      interface_busy = 1'b1;
      array_busy = 1'b1;
      operation = POWER_UP;
      array_ns = TPOR_NS / SCALE;
    end
  endtask

  task power_off;
    begin
      call_off_alarms;
      operation = IDLE;
      interface_busy = 1'b0;
      array_busy = 1'b0;
      answer = NOTHING;
    end
  endtask

  task forget_command;
    integer p;
    begin
      opened = 8'hFF;
      needed = 0;
      given = 0;
      answer = NOTHING;
      source = NOTHING;
      status_plane = -1;
      elsewhere = 1'b0;
      output_off = LUN != 0;
      listening = 1'b0;
      filling = 1'b0;
      cleared = 1'b0;
      programming_data = 1'b0;
      copying = 1'b0;
      ahead = NO_ROW;
      continued = 1'b0;
      waiting = 1'b0;
      // verilator unroll_disable
      for (p = 0; p < PLANES; p = p + 1) begin
        queued[p] = NO_ROW;
        working[p] = NO_ROW;
      end
    end
  endtask

  task reset;
    integer p, duration;
    if (operation == POWER_UP) ignore;
    else begin
      call_off_alarms;
      duration = TRST_NS;
      if (array_busy && operation == PROGRAMMING) duration = TRST_PROGRAM_NS;
      if (array_busy && operation == ERASING) duration = TRST_ERASE_NS;
      if (needs_reset) duration = TRST_FIRST_NS;
      forget_command;
      // verilator unroll_disable
      for (p = 0; p < PLANES; p = p + 1) begin
        fail[p] = 1'b0;
        fail_before[p] = 1'b0;
      end
      begin_operation(RESETTING, duration);
    end
  endtask

  // --------------------------------------------------------------------------------------------- commands

  task set_feature;
    case (address[0])
      8'h01:
        if ({24'd0, feature[7:0]} <= MAX_MODE) mode = feature[2:0];
        else report("FEATURE ");
      8'h10:
        if (drives(feature[1:0])) drive_strength = {6'd0, feature[1:0]};
        else report("FEATURE ");
      default: ;  // a feature that the part does not have: no effect
    endcase
  endtask

  // The values of feature 10h: 18, 25, 35 and 50 ohms. A part that declares none has them all the same.
  function drives(input [1:0] strength);
    case (strength)
      2'd0: drives = DRIVE == 8'h00 || DRIVE[2];
      2'd1: drives = DRIVE == 8'h00 || DRIVE[1];
      default: drives = 1'b1;
    endcase
  endfunction

  task clear_cache_register;
    integer i;
    // verilator unroll_disable
    for (i = 0; i < PLANES * BYTES; i = i + 1) cache_register[i] = 8'hFF;
  endtask

  // Two planes are to have the same page.
  task enqueue(input integer place);
    integer p;
    begin
      p = array.plane_of(place);
      if (queued[p] != NO_ROW || PLANES == 2 && queued[PLANES-1-p] >= 0
          && array.page_of(queued[PLANES-1-p]) != array.page_of(at_least_0(place)))
        report("PLANE   ");
      queued[p] = place;
    end
  endtask

  task confirm_program(input [7:0] command);
    if (!programming_data || given < needed) ignore;
    else begin
      programming_data = 1'b0;
      opened = 8'hFF;
      if (!wp_n) forget_command;  // nothing happens, and the status says WP_n
      else begin
        enqueue(row);
        copying = 1'b0;
        status_plane = -1;
        leave_status;
        confirmation = command;
        if (command == 8'h11) begin_operation(OTHER, TDBSY_NS);
        else begin
          claiming = 1'b1;
          waiting = array_busy;
          programming = ~array_busy;
        end
      end
    end
  endtask

  task confirm_erase(input [7:0] command);
    integer p;
    if (opened != 8'h60 || given < needed) ignore;
    else begin
      opened = 8'hFF;
      if (!wp_n) forget_command;
      else begin
        row = row_of(address[0], address[1], address[2]);
        if (row < 0) report("ROW     ");
        enqueue(row - array.page_of(at_least_0(row)));
        continued = 1'b0;
        status_plane = -1;
        leave_status;
        if (command == 8'hD1) begin_operation(OTHER, TDBSY_NS);
        else begin
          // verilator unroll_disable
          for (p = 0; p < PLANES; p = p + 1) begin
            fail[p] = 1'b0;
            fail_before[p] = 1'b0;
            working[p] = queued[p];
            queued[p] = NO_ROW;
          end
          begin_operation(ERASING, TBERS_NS);
        end
      end
    end
  endtask

  task confirm_read(input [7:0] command);
    integer p;
    if (opened != 8'h00 || given < needed) ignore;
    else begin
      opened = 8'hFF;
      if (row < 0) report("ROW     ");
      if (is_suspended(row)) report("SUSPEND ");
      enqueue(row);
      loaded = at_least_0(row);
      column = column_of(0);
      status_plane = -1;
      copying = command == 8'h35;
      continued = 1'b0;
      answer = PAGE;
      source = PAGE;
      if (command == 8'h32) begin_operation(OTHER, TDBSY_NS);
      else begin
        // verilator unroll_disable
        for (p = 0; p < PLANES; p = p + 1) begin
          fail[p] = 1'b0;
          fail_before[p] = 1'b0;
          working[p] = queued[p];
          queued[p] = NO_ROW;
        end
        begin_operation(READING, TR_NS);
      end
    end
  endtask

  // 31h and 3Fh, after a read. 31h may have an address: the next row to read.
  task continue_read(input [7:0] command);
    begin
      if (opened == 8'h00 && given == needed && command == 8'h31) begin
        if (row < 0) report("ROW     ");
        ahead = at_least_0(row);
      end
      opened = 8'hFF;
      answer = PAGE;
      confirmation = command;
      claiming = 1'b1;
      waiting = array_busy;
      handing_over = ~array_busy;
    end
  endtask

  function integer column_of(input integer first);
    column_of = {16'd0, address[first+1], address[first]};
  endfunction

  // Whether the part takes a command while its array goes on behind a ready interface.
  // What has no place beside a suspended program or erase: other programs, erases, and features.
  function disturbs(input [7:0] command);
    case (command)
      8'h80, 8'h85, 8'h10, 8'h11, 8'h15, 8'h60, 8'hD0, 8'hD1, 8'h35, 8'hEF, 8'hF9, 8'hD9: disturbs = 1'b1;
      default: disturbs = 1'b0;
    endcase
  endfunction

  function allowed_beside_array(input [7:0] command);
    case (command)
      8'h00, 8'h05, 8'h06, 8'h31, 8'h3F, 8'hE0: allowed_beside_array = operation == READING_AHEAD;
      8'h80, 8'h85, 8'h10, 8'h15, 8'h11: allowed_beside_array = operation == PROGRAMMING;
      default: allowed_beside_array = 1'b0;
    endcase
  endfunction

  // Whether the part has a command, by its declarations.
  function has(input [7:0] command);
    case (command)
      8'h00, 8'h05, 8'h10, 8'h30, 8'h60, 8'h80, 8'h85, 8'h90, 8'hD0, 8'hE0, 8'hEC: has = 1'b1;
      8'h06: has = OPTIONAL[COLUMN_ENHANCED];
      8'h11, 8'hD1: has = FEATURES[TWO_PLANES];
      8'h15: has = OPTIONAL[CACHE_PROGRAM];
      8'h31, 8'h3F: has = OPTIONAL[CACHE_READ];
      8'h32: has = FEATURES[TWO_PLANE_READS];
      8'h35: has = OPTIONAL[COPYBACK];
      8'hED: has = OPTIONAL[UNIQUE_ID];
      8'hEE, 8'hEF: has = OPTIONAL[SET_GET_FEATURES];
      8'hF9, 8'hD9: has = OPTIONAL[ZQ];
      default: has = 1'b0;
    endcase
  endfunction

  // The address cycles that follow a command.
  function integer cycles_after(input [7:0] command);
    case (command)
      8'h00, 8'h06, 8'h80: cycles_after = 5;
      8'h60, 8'h78: cycles_after = 3;
      8'h05: cycles_after = 2;
      8'h85: cycles_after = programming_data ? 2 : 5;
      default: cycles_after = is_maker_command(command) ? SUSPEND_CYCLES : 1;
    endcase
  endfunction

  // Commands whose address chooses a LUN. 85h is for the one that was chosen last.
  function chooses(input [7:0] command);
    chooses = LUNS > 1 && (command == 8'h00 || command == 8'h06 || command == 8'h60 || command == 8'h80);
  endfunction

  // Commands for all LUNs, of which the first one answers.
  function is_for_all(input [7:0] command);
    is_for_all = LUNS > 1 && (command == 8'h90 || command == 8'hEC || command == 8'hED || command == 8'hEE
                              || command == 8'hEF);
  endfunction

  // With several LUNs a command ends the output of the status.
  task leave_status;
    if (LUNS > 1 && answer == STATUS) answer = NOTHING;
  endtask

  function unfinished(input integer unused);
    unfinished = !elsewhere && (programming_data || queued[0] != NO_ROW || queued[PLANES-1] != NO_ROW);
  endfunction

  // A row of another LUN. One that is idle stops its output; one that is busy does so after 78h alone.
  task choose_another;
    begin
      elsewhere = 1'b1;
      listening = 1'b0;
      if (opened == 8'h78 || !interface_busy && !array_busy) output_off = 1'b1;
      if (filling) report("LUN     ");
      filling = 1'b0;
      leave_status;
      opened = 8'hFF;
      programming_data = 1'b0;
    end
  endtask

  task take_command(input [7:0] command);
    if (is_for_all(command)) begin
      elsewhere = 1'b0;
      output_off = LUN != 0;
    end
    if (command == 8'hFF) reset;
    else if (needs_reset && operation != RESETTING || operation == RESETTING && command == 8'h78) ignore;
    else if (command == 8'h70) begin
      answer = STATUS;
      status_plane = -1;
    end else if (command == 8'h78 && OPTIONAL[STATUS_ENHANCED]) open(command);
    else if (is_maker_command(command)) begin
      if (SUSPEND_CYCLES == 0) due = command;
      else open(command);
    end else if (elsewhere && !chooses(command) && command != 8'hF9 && command != 8'hD9) ;
    else if (chooses(command) && has(command) && (interface_busy || array_busy && !allowed_beside_array(command)))
    begin
      filling = unfinished(0);
      opened = command;
      needed = cycles_after(command);
      given = 0;
      listening = 1'b1;
    end else if (interface_busy || !has(command)) ignore;
    else if (suspended != IDLE && disturbs(command)) begin
      ignore;
      report("SUSPEND ");
    end
    else if (array_busy && !allowed_beside_array(command)) begin
      ignore;
      report("CACHE   ");
    end else
      case (command)
        8'h10, 8'h11, 8'h15: confirm_program(command);
        8'hD0, 8'hD1: confirm_erase(command);
        8'h30, 8'h32, 8'h35: confirm_read(command);
        8'h31, 8'h3F:
          if (answer == PAGE || source == PAGE && answer == STATUS) continue_read(command);
          else ignore;
        8'hE0:
          if (given < needed || opened != 8'h05 && opened != 8'h06) ignore;
          else begin
            if (opened == 8'h06) plane = array.plane_of(row_of(address[2], address[3], address[4]));
            column = column_of(0);
            if (source == PAGE && column >= BYTES) report("COLUMN  ");
            opened = 8'hFF;
            answer = source;
          end
        8'h85:
          if (programming_data && given == needed || copying) open(command);
          else ignore;
        default: open(command);
      endcase
  endtask

  task open(input [7:0] command);
    begin
      filling = unfinished(0);
      listening = 1'b0;
      opened = command;
      needed = cycles_after(command);
      given = 0;
      if (command == 8'h00) answer = source;
      if (command == 8'h80) begin
        copying = 1'b0;
        if (queued[0] == NO_ROW && queued[PLANES-1] == NO_ROW) begin
          clear_cache_register;
          cleared = 1'b1;
        end
      end
      programming_data = command == 8'h80 || command == 8'h85;
    end
  endtask

  task take_address(input [7:0] value);
    if (given >= needed || opened == 8'hFF
        || interface_busy && opened != 8'h78 && !listening && !is_maker_command(opened))
      ignore;
    else begin
      address[given] = value;
      given = given + 1;
      if (given == needed) addresses_complete;
    end
  endtask

  task addresses_complete;
    integer lun;
    begin
      lun = LUN;
      if (opened == 8'h78 || opened == 8'h60) lun = lun_of(address[0], address[1], address[2]);
      else if (chooses(opened)) lun = lun_of(address[2], address[3], address[4]);
      if (lun >= LUNS && LUN == 0) report("LUN     ");
      if (lun != LUN) choose_another;
      else if (chooses(opened) || opened == 8'h78) begin
        elsewhere = 1'b0;
        output_off = 1'b0;
      end
      if (listening) begin
        ignore;
        listening = 1'b0;
        opened = 8'hFF;
      end
      case (opened)
        8'h00: begin
          row = row_of(address[2], address[3], address[4]);
          plane = array.plane_of(row);
        end
        8'h80, 8'h85: begin
          column = column_of(0);
          if (column >= BYTES) report("COLUMN  ");
          if (needed == 5) begin
            row = row_of(address[2], address[3], address[4]);
            plane = array.plane_of(row);
          end
        end
        8'h78: begin
          status_plane = array.plane_of(row_of(address[0], address[1], address[2]));
          answer = STATUS;
          opened = 8'hFF;
        end
        8'h90: begin
          answer = address[0] == 8'h00 ? ID : address[0] == 8'h20 ? ONFI_ID : NOTHING;
          column = 0;
        end
        8'hEC, 8'hED:
          if (address[0] == 8'h00) begin
            answer = opened == 8'hEC ? PARAMETER : UNIQUE;
            source = answer;
            column = 0;
            begin_operation(OTHER, TR_NS);
          end else ignore;
        8'hEE: begin
          feature = address[0] == 8'h01 ? {29'd0, mode} : address[0] == 8'h10 ? {24'd0, drive_strength} : 32'd0;
          answer = FEATURE;
          source = FEATURE;
          column = 0;
          begin_operation(OTHER, TFEAT_NS);
        end
        8'hEF: feature_bytes = 0;
        8'hF9, 8'hD9:  // of a LUN
          if ({24'd0, address[0]} == LUN) begin
            answer = NOTHING;
            source = NOTHING;
            begin_operation(CALIBRATING, opened == 8'hF9 ? TZQCL_NS : TZQCS_NS);
          end else if ({24'd0, address[0]} >= LUNS) ignore;
        default: if (is_maker_command(opened)) due = opened;
      endcase
    end
  endtask

  task take_data(input [7:0] value);
    if (interface_busy || given < needed || elsewhere) ignore;
    else if (programming_data && (opened == 8'h80 || opened == 8'h85)) begin
      if (column < BYTES) cache_register[plane*BYTES+column] = value;
      else report("COLUMN  ");
      column = column + 1;
    end else if (opened == 8'hEF && feature_bytes < 4) begin
      feature[8*feature_bytes+:8] = value;
      feature_bytes = feature_bytes + 1;
      if (feature_bytes == 4) begin
        opened = 8'hFF;
        begin_operation(SETTING, TFEAT_NS);
      end
    end else ignore;
  endtask

  // ------------------------------------------------------------------------------------------------- advance

  wire readable = power & ~ce_n & ~cle & ~ale & ~output_off
      & ((answer == STATUS) | (answer != NOTHING) & ~interface_busy);
  reg [7:0] value;

  // What a step does. Large tasks are called at one place each, as Verilator writes them out at every place.
  reg programming, handing_over;  // the array goes on with `confirmation`
  reg [7:0] due;  // a command of the maker
  reg claiming;  // the interface becomes busy; R/B_n and the status show it after tWB
  integer array_ns, cache_ns;  // when the array and the cache will be ready; -1: nothing has begun
  reg reported;

  task advance;
    reg ended, written_cycle, cut;
    begin
      programming = 1'b0;
      handing_over = 1'b0;
      due = 8'h00;
      claiming = 1'b0;
      array_ns = -1;
      cache_ns = -1;
      reported = 1'b0;
      ended = array_rings != array_done;
      array_done = array_rings;
      written_cycle = power && was_power && !ce_n && we_n && !was_we_n;
      cut = !power || written_cycle && cle && !ale && io_i == 8'hFF && operation != POWER_UP;
      if (cut && suspended != IDLE) begin
        take_up;
        array_busy = 1'b1;
        ended = 1'b0;
      end
      if (array_busy && (ended || cut)) finish_array(!ended);
      if (power !== was_power) begin
        if (power === 1'b1) power_on;
        else power_off;
      end
      if (power === 1'b1) begin
        if (settle_rings != settle_done) begin
          settle_done = settle_rings;
          settling = 1'b0;
        end
        if (ended) array_ended;
        if (cache_rings != cache_done) begin
          cache_done = cache_rings;
          cache_pending = 1'b0;
          interface_busy = 1'b0;
        end
        if (wp_n !== was_wp_n && array_busy && (operation == PROGRAMMING || operation == ERASING))
          report("WP_n    ");
        if (written_cycle) begin
          if (cle && ale) begin
            ignore;
            report("CLE+ALE ");
          end else if (cle) take_command(io_i);
          else if (ale) take_address(io_i);
          else take_data(io_i);
        end
        if (!ce_n) begin
          if (!re_n && was_re_n && !readable && !output_off) ignore;
          if (re_n && !was_re_n && readable && answer != STATUS) begin
            if (answer == PAGE && column >= BYTES) report("COLUMN  ");
            if (LUNS > 1 && answer == PAGE && cleared) report("CLEARED ");
            column = column + 1;
          end
        end
        if (due != 8'h00) maker_command(due);
        if (programming) begin_program;
        if (handing_over) hand_over;
      end
      if (io_oe && others_drive && !was_shared) report("BUS     ");
      was_shared = io_oe && others_drive;
      end_step;
      was_power = power;
      was_we_n = we_n;
      was_re_n = re_n;
      was_wp_n = wp_n;
    end
  endtask

  initial begin
    suspensions = 0;
    suspended = IDLE;
    left_ns = 0;
    array_since = 0.0;
    resumed_at = -1.0e9;
    misuses = 0;
    misuse = "        ";
    ignored = 0;
    mode = 3'd0;
    rb_n = 1'b1;
    settle_number = 0;
    settle_after = -1;
    array_after = -1;
    cache_after = -1;
    settle_done = 0;
    array_number = 0;
    array_done = 0;
    cache_number = 0;
    cache_done = 0;
    was_power = 1'b0;
    was_we_n = 1'b1;
    was_re_n = 1'b1;
    was_wp_n = 1'b1;
    was_shared = 1'b0;
    plane = 0;
    column = 0;
    row = 0;
    loaded = 0;
    feature = 32'd0;
    feature_bytes = 0;
    operation = IDLE;
    interface_busy = 1'b0;
    array_busy = 1'b0;
    settling = 1'b0;
    cache_pending = 1'b0;
    drive_strength = 8'h02;
    needs_reset = 1'b1;
    forget_command;
    shown_ready = 1'b1;
    shown_array_ready = 1'b1;
    confirmation = 8'hFF;
    value = 8'hFF;
  end

  always begin
    @(power or ce_n or we_n or re_n or wp_n or others_drive or io_oe or settle_rings or array_rings or cache_rings);
    advance;
  end

  // --------------------------------------------------------------------------------------- other modules

  sdr_array #(
      .PAGE_BYTES(PAGE_BYTES), .BYTES(BYTES), .PAGES(PAGES), .BLOCKS(BLOCKS), .PLANES(PLANES), .NOP(NOP),
      .BAD_BLOCKS(BAD_BLOCKS), .SEED(SEED)
  ) array ();

  sdr_output output_stage (
      .power(power), .enable(readable), .live(readable && answer == STATUS), .value(value), .mode(mode),
      .ce_n(ce_n), .re_n(re_n), .io_o(io_o), .io_oe(io_oe)
  );

  sdr_alarm settle_alarm (.number(settle_number), .after_ns(settle_after), .rings(settle_rings));
  sdr_alarm array_alarm (.number(array_number), .after_ns(array_after), .rings(array_rings));
  sdr_alarm cache_alarm (.number(cache_number), .after_ns(cache_after), .rings(cache_rings));

  sdr_checks #(.TADL_NS(TADL_NS), .TCCS_NS(TCCS_NS)) checks (
      .power(power), .mode(mode), .settling(settling), .driving(io_oe), .ce_n(ce_n), .cle(cle), .ale(ale),
      .we_n(we_n), .re_n(re_n), .wp_n(wp_n), .io_i(io_i), .rb_n(rb_n), .selected(~elsewhere & ~output_off),
      .violations(violations), .violation(violation)
  );

  sdr_parameter_page #(
      .PAGE_BYTES(PAGE_BYTES), .SPARE_BYTES(SPARE_BYTES), .PAGES(PAGES), .BLOCKS(BLOCKS), .LUNS(LUNS), .PLANES(PLANES),
      .OPTIONAL(OPTIONAL), .DRIVE(DRIVE), .FEATURES(FEATURES), .REVISION(REVISION), .NOP(NOP), .BAD_BLOCKS(BAD_BLOCKS),
      .MAX_MODE(MAX_MODE), .TCCS_NS(TCCS_NS), .MAKER(MAKER)
  ) page (.bytes(parameter_page));
endmodule
