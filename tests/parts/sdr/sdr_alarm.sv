// An alarm that can be set anew or called off at any time. `rings` changes at each time that it was set for.
//
// To set it, change `number` and give the time from now; a negative time calls it off.
// Verilog has no delay that can be cut short. So a sleeper that wakes too early sleeps on, and for a time before
// those of all sleepers another one goes to sleep. Delayed nonblocking assignments would be shorter: but Verilator
// 5.48 gives all that are under way the value of the last one.

`timescale 1ps / 1ps

module sdr_alarm (
    input wire [31:0] number,
    input wire signed [31:0] after_ns,
    output reg [31:0] rings
);
  localparam integer SLEEPERS = 4;

  reg set;
  reg [63:0] due;
  reg [31:0] was_number;
  reg [SLEEPERS-1:0] slept, woke;  // a sleeper is asleep while they differ
  reg [63:0] until_time[0:SLEEPERS-1];

  task look;
    integer i, idle;
    reg covered;
    begin
      if (number != was_number) begin
        was_number = number;
        set = after_ns >= 0;
        due = $time + {32'd0, after_ns} * 64'd1000;
      end
      if (set && $time >= due) begin
        set = 1'b0;
        rings = rings + 1;
      end
      if (set) begin
        covered = 1'b0;
        idle = -1;
        // verilator unroll_disable
        for (i = 0; i < SLEEPERS; i = i + 1)
          if (slept[i] == woke[i]) idle = i;
          else if (until_time[i] <= due) covered = 1'b1;
        if (!covered && idle < 0) begin
          $display("%m: no sleeper is left");
          $finish;
        end else if (!covered) begin
          until_time[idle] = due;
          slept[idle] = ~slept[idle];
        end
      end
    end
  endtask

  initial begin
    rings = 0;
    was_number = 0;
    set = 1'b0;
    slept = 0;
    woke = 0;
  end

  always begin
    @(number or woke);
    look;
  end

  genvar each;
  generate
    for (each = 0; each < SLEEPERS; each = each + 1) begin : sleepers
      // The delay is known when it runs, and is never 0.
      // verilator lint_off ZERODLY
      always begin
        @(slept[each]);
        #(until_time[each] - $time) woke[each] = slept[each];
      end
      // verilator lint_on ZERODLY
    end
  endgenerate
endmodule
