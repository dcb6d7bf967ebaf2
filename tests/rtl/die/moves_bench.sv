// Two page registers with the same inputs; the clock of the second stops while it says that nothing moves. They must not
// differ.

module moves_bench #(
    parameter integer INPUTS = 1,
    parameter integer OUTPUTS = 1
) (
    input wire clk,
    input wire rst,
    input wire [INPUTS-1:0] inputs,
    output wire [OUTPUTS-1:0] outputs,
    output reg [31:0] rested,  // clocks
    output reg [31:0] differences
);
  reg awake;
  wire moves;
  wire [OUTPUTS-1:0] of_second;

  registers running (.clk(clk), .rst(rst), .inputs(inputs), .outputs(outputs), .moves());
  registers resting_now_and_then (
      .clk(clk & awake), .rst(rst), .inputs(inputs), .outputs(of_second), .moves(moves)
  );

  initial begin
    differences = 0;
    rested = 0;
    awake = 1;
  end

  always @(negedge clk) awake <= rst || moves;

  always @(posedge clk) begin
    if (!awake) rested <= rested + 1;
    if (!rst && of_second !== outputs) differences <= differences + 1;
  end
endmodule
