// Two page registers with the same inputs. The second has no edge while its enable is low, and must not differ.

module edge_enable_bench #(
    parameter integer INPUTS = 1,
    parameter integer OUTPUTS = 1
) (
    input wire clk,
    input wire rst,
    input wire [INPUTS-1:0] inputs,
    output wire [OUTPUTS-1:0] outputs,
    output reg [31:0] skipped,  // edges
    output reg [31:0] differences
);
  reg awake;
  wire edge_enable;
  wire [OUTPUTS-1:0] of_second;

  registers running (.clk(clk), .rst(rst), .inputs(inputs), .outputs(outputs), .edge_enable());
  registers with_enable (
      .clk(clk & awake), .rst(rst), .inputs(inputs), .outputs(of_second), .edge_enable(edge_enable)
  );

  initial begin
    differences = 0;
    skipped = 0;
    awake = 1;
  end

  always @(negedge clk) awake <= rst || edge_enable;

  always @(posedge clk) begin
    if (!awake) skipped <= skipped + 1;
    if (!rst && of_second !== outputs) differences <= differences + 1;
  end
endmodule
