// Two dies on the same pins; the clock of the second stops while it says that it rests. They must not differ.

module resting_bench (
    input wire clk,
    input wire rst,
    input wire bus__ce_n,
    input wire bus__cle,
    input wire bus__ale,
    input wire bus__we,
    input wire bus__dqs_o,
    input wire bus__re,
    input wire [15:0] bus__dq_o,
    output wire bus__dqs_i,
    output wire [15:0] bus__dq_i,
    output wire bus__rb_n,
    output reg [31:0] rested,  // clocks
    output wire [31:0] violations  // and differences
);
  localparam CLOCKS_TO_REST = 2;  // after CE_n rises

  reg [63:0] cycle;
  reg [31:0] differences;
  reg [3:0] deselected;  // for so many clocks, at most CLOCKS_TO_REST
  reg awake;
  wire resting, dqs_i, rb_n;
  wire [15:0] dq_i;
  wire [63:0] wake;
  wire [31:0] violations_running, violations_resting;

  die_unit running (
      .clk(clk), .rst(rst), .cycle(cycle), .channel(8'd5), .die(8'd0),
      .pins__ce_n(bus__ce_n), .pins__cle(bus__cle), .pins__ale(bus__ale), .pins__we(bus__we),
      .pins__dqs_o(bus__dqs_o), .pins__re(bus__re), .pins__dq_o(bus__dq_o),
      .pins__dqs_i(bus__dqs_i), .pins__dq_i(bus__dq_i), .pins__rb_n(bus__rb_n),
      .resting(), .wake(), .violations(violations_running)
  );
  die_unit resting_now_and_then (
      .clk(clk & awake), .rst(rst), .cycle(cycle), .channel(8'd5), .die(8'd1),
      .pins__ce_n(bus__ce_n), .pins__cle(bus__cle), .pins__ale(bus__ale), .pins__we(bus__we),
      .pins__dqs_o(bus__dqs_o), .pins__re(bus__re), .pins__dq_o(bus__dq_o),
      .pins__dqs_i(dqs_i), .pins__dq_i(dq_i), .pins__rb_n(rb_n),
      .resting(resting), .wake(wake), .violations(violations_resting)
  );

  assign violations = violations_running + violations_resting + differences;

  initial begin
    cycle = 0;
    differences = 0;
    rested = 0;
    deselected = 0;
    awake = 1;
  end

  always @(negedge clk) awake <= rst || !bus__ce_n || deselected < CLOCKS_TO_REST || !resting || cycle >= wake;

  always @(posedge clk) begin
    cycle <= cycle + 1;
    deselected <= !bus__ce_n ? 0 : deselected < CLOCKS_TO_REST ? deselected + 1 : deselected;
    if (!awake) rested <= rested + 1;
    if (!rst && {dqs_i, dq_i, rb_n} !== {bus__dqs_i, bus__dq_i, bus__rb_n}) differences <= differences + 1;
  end
endmodule
