// The part's side of IO: each byte is there from tREA after RE_n falls, and no longer than the host may rely on.
//
// Before its time and after it the pins carry the complement of the byte, so that a host which samples early or
// late reads wrong data. They float at the latest time that the standard allows: tRHZ after RE_n rises, or tCHZ
// after CE_n does. A byte goes at tRHOH after RE_n rises, tRLOH after it falls again, or tCOH after CE_n rises.

`timescale 1ns / 1ps

module sdr_output (
    input wire power,
    input wire enable,  // there is a byte to read
    input wire live,  // while RE_n is low, the pins follow `value`
    input wire [7:0] value,
    input wire [2:0] mode,
    input wire ce_n,
    input wire re_n,
    output reg [7:0] io_o,
    output reg io_oe
);
  import sdr_times::*;

  localparam real NEVER = 1.0e15;
  localparam integer CALLED_OFF = -1;

  reg was_ce_n, was_re_n;
  reg sound;  // the byte is on the pins
  reg [7:0] taken, coming;  // the byte on the pins, and the next one
  real ce_fell, stale_at, float_at;
  reg [31:0] sound_number, stale_number, float_number, sound_done, stale_done, float_done;
  integer sound_after, stale_after, float_after;
  wire [31:0] sound_rings, stale_rings, float_rings;

  task be_sound(input integer after);
    begin
      sound_number = sound_number + 1;
      sound_after = after;
    end
  endtask

  // The sooner of two ends counts.
  task be_stale(input integer after);
    if (after == 0) turn_stale;
    else if ($realtime + after < stale_at) begin
      stale_at = after < 0 ? NEVER : $realtime + after;
      stale_number = stale_number + 1;
      stale_after = after;
    end
  endtask

  task be_floating(input integer after);
    if ($realtime + after < float_at) begin
      float_at = after < 0 ? NEVER : $realtime + after;
      float_number = float_number + 1;
      float_after = after;
    end
  endtask

  task turn_stale;
    if (sound) begin
      sound = 1'b0;
      io_o = ~taken;
    end
  endtask

  function integer at_least(input integer a, input integer b);
    at_least = a > b ? a : b;
  endfunction

  function integer lasting(input integer which);
    lasting = sdr_time(which, {29'd0, mode});
  endfunction

  task advance;
    begin
      if (!power) begin
        be_sound(CALLED_OFF);
        sound = 1'b0;
        io_oe = 1'b0;
      end
      if (sound_rings != sound_done) begin
        sound_done = sound_rings;
        sound = 1'b1;
        taken = coming;
        io_o = taken;
      end
      if (stale_rings != stale_done) begin
        stale_done = stale_rings;
        stale_at = NEVER;
        turn_stale;
      end
      if (float_rings != float_done) begin
        float_done = float_rings;
        float_at = NEVER;
        sound = 1'b0;
        io_oe = 1'b0;
      end
      if (!ce_n && was_ce_n) ce_fell = $realtime;
      if (!ce_n && !re_n && was_re_n && enable) begin
        be_floating(CALLED_OFF);
        be_stale(CALLED_OFF);
        if (sound) be_stale(lasting(TRLOH));
        coming = value;
        if (!io_oe) io_o = ~value;
        io_oe = 1'b1;
        be_sound(at_least(lasting(TREA), $rtoi(ce_fell + lasting(TCEA) - $realtime)));
      end
      if (io_oe && re_n && !was_re_n) begin
        be_stale(lasting(TRHOH));
        be_floating(lasting(TRHZ));
      end
      if (io_oe && ce_n && !was_ce_n) begin
        be_sound(CALLED_OFF);
        be_stale(lasting(TCOH));
        be_floating(lasting(TCHZ));
      end
      if (live && sound && !re_n) begin
        taken = value;
        io_o = value;
      end
      was_ce_n = ce_n;
      was_re_n = re_n;
    end
  endtask

  initial begin
    io_o = 8'hFF;
    io_oe = 1'b0;
    sound = 1'b0;
    taken = 8'hFF;
    coming = 8'hFF;
    ce_fell = -NEVER;
    stale_at = NEVER;
    float_at = NEVER;
    was_ce_n = 1'b1;
    was_re_n = 1'b1;
    sound_number = 0;
    stale_number = 0;
    float_number = 0;
    sound_after = CALLED_OFF;
    stale_after = CALLED_OFF;
    float_after = CALLED_OFF;
    sound_done = 0;
    stale_done = 0;
    float_done = 0;
  end

  always begin
    @(power or enable or live or value or ce_n or re_n or sound_rings or stale_rings or float_rings);
    advance;
  end

  sdr_alarm sound_alarm (.number(sound_number), .after_ns(sound_after), .rings(sound_rings));
  sdr_alarm stale_alarm (.number(stale_number), .after_ns(stale_after), .rings(stale_rings));
  sdr_alarm float_alarm (.number(float_number), .after_ns(float_after), .rings(float_rings));
endmodule
