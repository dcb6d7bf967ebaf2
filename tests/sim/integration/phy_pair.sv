// Both sides of a PHY, joined by their pins: the bench drives one view and sees the other.

module phy_pair (
    input wire clk,
    input wire clk90,
    input wire rst,

    input  wire [ 1:0] host_ce_n,
    input  wire        host_cle,
    input  wire        host_ale,
    input  wire        host_we,
    input  wire        host_dqs_o,
    input  wire        host_re,
    input  wire [15:0] host_dq_o,
    output wire        host_dqs_i,
    output wire [15:0] host_dq_i,
    output wire [ 1:0] host_rb_n,

    output wire [ 1:0] die_ce_n,
    output wire        die_cle,
    output wire        die_ale,
    output wire        die_we,
    output wire        die_dqs_o,
    output wire        die_re,
    output wire [15:0] die_dq_o,
    input  wire        die_dqs_i,
    input  wire [15:0] die_dq_i,
    input  wire [ 1:0] die_rb_n,

    output reg [31:0] bytes_in,  // edges of DQS to the dies
    output reg [31:0] bytes_out  // and from them
);
  wire [1:0] ce_n, rb_n;
  wire cle, ale, we_n, re_n, host_oe, host_dqs, die_oe, die_dqs;
  wire [7:0] host_dq, die_dq;

  flashtrain_phy #(.DIES(2)) phy (
      .clk(clk), .clk90(clk90), .rst(rst),
      .ce_n(host_ce_n), .cle(host_cle), .ale(host_ale), .we(host_we), .dqs_o(host_dqs_o), .re(host_re),
      .dq_o(host_dq_o), .dqs_i(host_dqs_i), .dq_i(host_dq_i), .rb_n(host_rb_n),
      .pin_ce_n(ce_n), .pin_cle(cle), .pin_ale(ale), .pin_we_n(we_n), .pin_re_n(re_n), .pin_oe(host_oe),
      .pin_dq_o(host_dq), .pin_dqs_o(host_dqs), .pin_dq_i(die_dq), .pin_dqs_i(die_dqs), .pin_rb_n(rb_n)
  );
  flashtrain_die_phy #(.DIES(2)) die_phy (
      .clk(clk), .rst(rst),
      .pin_ce_n(ce_n), .pin_cle(cle), .pin_ale(ale), .pin_we_n(we_n), .pin_re_n(re_n), .pin_dq_i(host_dq),
      .pin_dqs_i(host_dqs), .pin_oe(die_oe), .pin_dq_o(die_dq), .pin_dqs_o(die_dqs), .pin_rb_n(rb_n),
      .ce_n(die_ce_n), .cle(die_cle), .ale(die_ale), .we(die_we), .dqs_o(die_dqs_o), .re(die_re),
      .dq_o(die_dq_o), .dqs_i(die_dqs_i), .dq_i(die_dq_i), .rb_n(die_rb_n)
  );

  // DQS is high for one of the two bytes of a beat, whose edges are at a change of clk90 and of clk.
  reg [31:0] rises_in = 0, falls_in = 0, rises_out = 0, falls_out = 0;
  always @(posedge host_dqs) rises_in <= rises_in + 1;
  always @(negedge host_dqs) falls_in <= falls_in + 1;
  always @(posedge die_dqs) rises_out <= rises_out + 1;
  always @(negedge die_dqs) falls_out <= falls_out + 1;
  always @(posedge clk) begin
    bytes_in <= rises_in + falls_in;
    bytes_out <= rises_out + falls_out;
  end
endmodule
