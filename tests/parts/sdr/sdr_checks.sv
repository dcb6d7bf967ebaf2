// Checks that a host keeps the times of the SDR interface. Counts, names and prints each violation.
//
// It watches the pins alone, besides the mode in force and `settling`, which is high for tWB after a command that
// makes the part busy. It finds out by itself which cycle follows which command.
//
// Assumptions: tADL runs from the rising edge of WE_n of the last address cycle to that of the first data cycle,
// as Micron's data sheets define it, and tCCS of a changed write column between the same edges.

`timescale 1ns / 1ps

module sdr_checks #(
    parameter integer TADL_NS = 400,
    parameter integer TCCS_NS = 500
) (
    input wire power,
    input wire [2:0] mode,
    input wire settling,
    input wire driving,
    input wire ce_n,
    input wire cle,
    input wire ale,
    input wire we_n,
    input wire re_n,
    input wire wp_n,
    input wire [7:0] io_i,
    input wire rb_n,
    input wire selected,  // of several LUNs of a chip enable
    output reg [31:0] violations,
    output reg [39:0] violation  // name of the last one
);
  import sdr_times::*;

  localparam real NEVER = -1.0e9;

  reg was_power, was_settling, was_driving, was_ce_n, was_cle, was_ale, was_we_n, was_re_n, was_wp_n, was_rb_n;
  reg [7:0] was_io;
  // When each edge was. Those of WE_n and RE_n count while CE_n is low.
  real ce_fell, cle_changed, ale_changed, io_changed, wp_changed, rb_rose;
  real we_fell, we_rose, re_fell, re_rose;
  reg [7:0] command;  // the last one
  reg status;  // it was a command that reads the status
  reg asked[0:HOSTS_TIMES-1];
  real measured[0:HOSTS_TIMES-1];
  reg first_data;  // the next data cycle is the first one after an address

  task forget;
    begin
      ce_fell = NEVER;
      cle_changed = NEVER;
      ale_changed = NEVER;
      io_changed = NEVER;
      wp_changed = NEVER;
      rb_rose = NEVER;
      we_fell = NEVER;
      we_rose = NEVER;
      re_fell = NEVER;
      re_rose = NEVER;
      command = 8'hFF;
      status = 1'b0;
      first_data = 1'b0;
    end
  endtask

  // Times are measured where edges are found, and judged together.
  task keep(input integer which, input real since);
    if (which < HOSTS_TIMES) begin
      asked[which] = 1'b1;
      measured[which] = $realtime - since;
    end
  endtask

  task judge;
    integer which, least;
    // verilator unroll_disable
    for (which = 0; which < HOSTS_TIMES; which = which + 1)
      if (asked[which]) begin
        asked[which] = 1'b0;
        least = which == TADL ? TADL_NS : which == TCCS ? TCCS_NS : sdr_time(which, {29'd0, mode});
        if (measured[which] < least - 0.0005) begin
          violations = violations + 1;
          violation = time_name(which);
          $display("%m: %0s violated at %0.3f ns in mode %0d: %0.3f ns, required %0d ns", violation, $realtime,
                   mode, measured[which], least);
        end
      end
  endtask

  task write_begins;
    begin
      keep(TWH, we_rose);
      keep(TWC, we_fell);
      keep(TRHW, re_rose);
      keep(TWW, wp_changed);
      // Both sides would drive the bus.
      if (was_driving) keep(TRHZ, re_n ? re_rose : $realtime);
      we_fell = $realtime;
    end
  endtask

  task write_ends;
    begin
      keep(TWP, we_fell);
      keep(TCS, ce_fell);
      keep(TCLS, cle_changed);
      keep(TALS, ale_changed);
      keep(TDS, io_changed);
      // Until tWB has passed, only RESET and READ STATUS mean anything, for any LUN of the chip enable.
      if (was_settling && !(cle && (io_i == 8'hFF || io_i == 8'h70 || io_i == 8'h78))) keep(TWB, we_rose);
      if (cle) begin
        command = io_i;
        status = io_i == 8'h70 || io_i == 8'h78;
        first_data = 1'b0;
      end else if (ale) first_data = 1'b1;
      else if (first_data) begin
        if (command == 8'h85) keep(TCCS, we_rose);
        else keep(TADL, we_rose);
        first_data = 1'b0;
      end
      we_rose = $realtime;
    end
  endtask

  task read_begins;
    begin
      keep(TREH, re_rose);
      keep(TRC, re_fell);
      keep(TCLR, cle_changed);
      keep(TAR, ale_changed);
      if (command == 8'hE0) keep(TCCS, we_rose);
      else keep(TWHR, we_rose);
      if (!status && selected) keep(TRR, rb_rose);
      else if (status && was_settling && selected) keep(TWB, we_rose);  // the answer is stale
      re_fell = $realtime;
    end
  endtask

  task advance;
    begin
      if (power !== was_power) forget;
      if (power === 1'b1 && was_power === 1'b1) begin
        if (rb_n && !was_rb_n) rb_rose = $realtime;
        if (wp_n !== was_wp_n) wp_changed = $realtime;
        if (!ce_n && was_ce_n) ce_fell = $realtime;
        if (cle !== was_cle) begin
          keep(TCLH, we_rose);
          cle_changed = $realtime;
        end
        if (ale !== was_ale) begin
          keep(TALH, we_rose);
          ale_changed = $realtime;
        end
        if (io_i !== was_io) begin
          keep(TDH, we_rose);
          io_changed = $realtime;
        end
        if (!ce_n) begin
          if (!we_n && was_we_n) write_begins;
          if (we_n && !was_we_n) write_ends;
          if (!re_n && was_re_n) read_begins;
          if (re_n && !was_re_n) begin
            keep(TRP, re_fell);
            re_rose = $realtime;
          end
        end
        if (ce_n && !was_ce_n) keep(TCH, we_rose);
        judge;
      end
      was_power = power;
      was_settling = settling;
      was_driving = driving;
      was_ce_n = ce_n;
      was_cle = cle;
      was_ale = ale;
      was_we_n = we_n;
      was_re_n = re_n;
      was_wp_n = wp_n;
      was_rb_n = rb_n;
      was_io = io_i;
    end
  endtask

  integer each;
  initial begin
    for (each = 0; each < HOSTS_TIMES; each = each + 1) asked[each] = 1'b0;
    violations = 0;
    violation = "     ";
    was_power = 1'b0;
    forget;
  end

  always begin
    @(power or settling or driving or ce_n or cle or ale or we_n or re_n or wp_n or io_i or rb_n);
    advance;
  end
endmodule
