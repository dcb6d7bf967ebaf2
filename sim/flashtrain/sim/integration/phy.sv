// A behavioural PHY for one channel: the single-data-rate view on one side, ONFI's pins at double data rate on the
// other. `flashtrain_phy` is the controller's, `flashtrain_die_phy` that of the dies behind the same pins.
//
//   clk     ____/~~~~~~~\_______/~~~~~~~\___    the NAND interface's
//   clk90   ________/~~~~~~~\_______/~~~~~~~    a quarter of a period later
//   dq         | low   | high  |                to the dies: DQS is centred in the bytes
//   dqs     ________/~~~~~~~\_______________
//   dqs     ____/~~~~~~~\___________________    from the dies: DQS is aligned with the bytes
//
// Edges of WE_n and RE_n, too, are those of clk90: one low pulse for each strobe of the view. A byte from the dies is
// taken with a DQS that is delayed by a quarter of a period.
//
// Latency: two cycles of clk from one view to the other, in each direction, the same for all signals.
//
// There are no delays in it, so that simulators without timing run it. docs/verilog.md lists what a real PHY adds.

module flashtrain_phy #(
    parameter integer DIES = 1
) (
    input wire clk,
    input wire clk90,
    input wire rst,

    input  wire [DIES-1:0] ce_n,
    input  wire            cle,
    input  wire            ale,
    input  wire            we,
    input  wire            dqs_o,
    input  wire            re,
    input  wire [    15:0] dq_o,
    output reg             dqs_i,
    output reg  [    15:0] dq_i,
    output reg  [DIES-1:0] rb_n,

    output reg  [DIES-1:0] pin_ce_n,
    output reg             pin_cle,
    output reg             pin_ale,
    output wire            pin_we_n,
    output wire            pin_re_n,
    output wire            pin_oe,    // DQ and DQS are driven by the controller
    output wire [     7:0] pin_dq_o,
    output wire            pin_dqs_o,
    input  wire [     7:0] pin_dq_i,
    input  wire            pin_dqs_i,
    input  wire [DIES-1:0] pin_rb_n
);
  reg write = 1'b0, strobe = 1'b0, read = 1'b0;
  reg [15:0] data;

  always @(posedge clk) begin
    pin_ce_n <= ce_n;
    pin_cle <= cle;
    pin_ale <= ale;
    write <= we;
    strobe <= dqs_o;
    read <= re;
    data <= dq_o;
  end

  // The strobes change while clk90 is low, so that no pulse is cut.
  assign pin_we_n = !(write & clk90);
  assign pin_re_n = !(read & clk90);
  assign pin_dqs_o = strobe & clk90;
  assign pin_dq_o = strobe & !clk ? data[15:8] : data[7:0];
  assign pin_oe = strobe | pin_cle | pin_ale;

  // DQS a quarter later: two registers whose difference it is, so that each edge changes one of them.
  reg rise = 1'b0, fall = 1'b0;
  always @(posedge clk90) rise <= pin_dqs_i ^ fall;
  always @(negedge clk90) fall <= pin_dqs_i ^ rise;
  wire delayed = rise ^ fall;

  reg [7:0] low, high;
  reg beat = 1'b0, seen = 1'b0;
  always @(posedge delayed) low <= pin_dq_i;
  always @(negedge delayed) begin
    high <= pin_dq_i;
    beat <= !beat;
  end

  reg [DIES-1:0] ready;
  always @(posedge clk) begin
    seen <= beat;
    dqs_i <= beat != seen && !rst;
    dq_i <= {high, low};
    ready <= pin_rb_n;
    rb_n <= ready;
  end
endmodule

module flashtrain_die_phy #(
    parameter integer DIES = 1
) (
    input wire clk,
    input wire rst,

    input  wire [DIES-1:0] pin_ce_n,
    input  wire            pin_cle,
    input  wire            pin_ale,
    input  wire            pin_we_n,
    input  wire            pin_re_n,
    input  wire [     7:0] pin_dq_i,
    input  wire            pin_dqs_i,
    output wire            pin_oe,     // DQ and DQS are driven by a die
    output wire [     7:0] pin_dq_o,
    output wire            pin_dqs_o,
    output wire [DIES-1:0] pin_rb_n,

    output reg  [DIES-1:0] ce_n,
    output reg             cle,
    output reg             ale,
    output reg             we,
    output reg             dqs_o,
    output reg             re,
    output reg  [    15:0] dq_o,
    input  wire            dqs_i,
    input  wire [    15:0] dq_i,
    input  wire [DIES-1:0] rb_n
);
  // What each strobe brings is taken at its edge, and handed to clk as a change of a bit.
  reg [7:0] command, low, high;
  reg written = 1'b0, beat = 1'b0, asked = 1'b0;
  reg written_seen = 1'b0, beat_seen = 1'b0, asked_seen = 1'b0;

  always @(posedge pin_we_n) begin
    command <= pin_dq_i;
    written <= !written;
  end
  always @(posedge pin_dqs_i) low <= pin_dq_i;
  always @(negedge pin_dqs_i) begin
    high <= pin_dq_i;
    beat <= !beat;
  end
  always @(posedge pin_re_n) asked <= !asked;

  always @(posedge clk) begin
    written_seen <= written;
    beat_seen <= beat;
    asked_seen <= asked;
    ce_n <= pin_ce_n;
    cle <= pin_cle;
    ale <= pin_ale;
    we <= written != written_seen && !rst;
    dqs_o <= beat != beat_seen && !rst;
    re <= asked != asked_seen && !rst;
    dq_o <= beat != beat_seen ? {high, low} : {8'h00, command};
  end

  reg send = 1'b0;
  reg [15:0] data;
  reg rise = 1'b0, fall = 1'b0;
  always @(posedge clk) begin
    send <= dqs_i;
    data <= dq_i;
    rise <= dqs_i ? !fall : fall;
  end
  always @(negedge clk) fall <= rise;

  assign pin_oe = send;
  assign pin_dqs_o = rise ^ fall;
  assign pin_dq_o = clk ? data[7:0] : data[15:8];
  assign pin_rb_n = rb_n;
endmodule
