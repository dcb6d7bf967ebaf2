// The tensor buffer of `flashtrain_tb`: bytes behind two AXI4 ports.
//
// Bursts are INCR and of full width, as those of the controller. Each port serves one burst per direction at
// a time, a beat per cycle. A write beyond the last byte is lost, a read from there is zero.

/* verilator lint_off BLKSEQ */  // The bench writes the same bytes.

module flashtrain_tensor_buffer #(
    parameter integer BYTES = 4096,
    parameter integer ADDRESS_BITS = 36,
    parameter integer DATA_BYTES = 4,  // of the wide port
    parameter integer QUEUE_BYTES = 8  // of the other
) (
    input wire clk,
    input wire rst,

    input  wire [ADDRESS_BITS-1:0] data_awaddr,
    input  wire                    data_awvalid,
    output wire                    data_awready,
    input  wire [8*DATA_BYTES-1:0] data_wdata,
    input  wire [  DATA_BYTES-1:0] data_wstrb,
    input  wire                    data_wlast,
    input  wire                    data_wvalid,
    output wire                    data_wready,
    output wire                    data_bvalid,
    input  wire                    data_bready,
    input  wire [ADDRESS_BITS-1:0] data_araddr,
    input  wire [             7:0] data_arlen,
    input  wire                    data_arvalid,
    output wire                    data_arready,
    output wire [8*DATA_BYTES-1:0] data_rdata,
    output wire                    data_rlast,
    output wire                    data_rvalid,
    input  wire                    data_rready,

    input  wire [ ADDRESS_BITS-1:0] queue_awaddr,
    input  wire                     queue_awvalid,
    output wire                     queue_awready,
    input  wire [8*QUEUE_BYTES-1:0] queue_wdata,
    input  wire [  QUEUE_BYTES-1:0] queue_wstrb,
    input  wire                     queue_wlast,
    input  wire                     queue_wvalid,
    output wire                     queue_wready,
    output wire                     queue_bvalid,
    input  wire                     queue_bready,
    input  wire [ ADDRESS_BITS-1:0] queue_araddr,
    input  wire [              7:0] queue_arlen,
    input  wire                     queue_arvalid,
    output wire                     queue_arready,
    output wire [8*QUEUE_BYTES-1:0] queue_rdata,
    output wire                     queue_rlast,
    output wire                     queue_rvalid,
    input  wire                     queue_rready
);
  reg [7:0] memory[0:BYTES-1];

  wire [ADDRESS_BITS-1:0] data_write, data_read, queue_write, queue_read;
  wire data_put = data_wvalid && data_wready;
  wire queue_put = queue_wvalid && queue_wready;

  flashtrain_memory_port #(
      .ADDRESS_BITS(ADDRESS_BITS),
      .DATA_BYTES  (DATA_BYTES)
  ) data_port (
      .clk(clk), .rst(rst),
      .awaddr(data_awaddr), .awvalid(data_awvalid), .awready(data_awready),
      .wlast(data_wlast), .wvalid(data_wvalid), .wready(data_wready),
      .bvalid(data_bvalid), .bready(data_bready),
      .araddr(data_araddr), .arlen(data_arlen), .arvalid(data_arvalid), .arready(data_arready),
      .rlast(data_rlast), .rvalid(data_rvalid), .rready(data_rready),
      .write_address(data_write), .read_address(data_read)
  );

  flashtrain_memory_port #(
      .ADDRESS_BITS(ADDRESS_BITS),
      .DATA_BYTES  (QUEUE_BYTES)
  ) queue_port (
      .clk(clk), .rst(rst),
      .awaddr(queue_awaddr), .awvalid(queue_awvalid), .awready(queue_awready),
      .wlast(queue_wlast), .wvalid(queue_wvalid), .wready(queue_wready),
      .bvalid(queue_bvalid), .bready(queue_bready),
      .araddr(queue_araddr), .arlen(queue_arlen), .arvalid(queue_arvalid), .arready(queue_arready),
      .rlast(queue_rlast), .rvalid(queue_rvalid), .rready(queue_rready),
      .write_address(queue_write), .read_address(queue_read)
  );

  genvar lane;
  generate
    for (lane = 0; lane < DATA_BYTES; lane = lane + 1) begin : data_lanes
      wire [ADDRESS_BITS-1:0] from = data_read + lane;
      assign data_rdata[8*lane+:8] = from < BYTES ? memory[from] : 8'h00;
      always @(posedge clk)
        if (data_put && data_wstrb[lane] && data_write + lane < BYTES)
          memory[data_write+lane] = data_wdata[8*lane+:8];
    end
    for (lane = 0; lane < QUEUE_BYTES; lane = lane + 1) begin : queue_lanes
      wire [ADDRESS_BITS-1:0] from = queue_read + lane;
      assign queue_rdata[8*lane+:8] = from < BYTES ? memory[from] : 8'h00;
      always @(posedge clk)
        if (queue_put && queue_wstrb[lane] && queue_write + lane < BYTES)
          memory[queue_write+lane] = queue_wdata[8*lane+:8];
    end
  endgenerate

  integer i;
  initial for (i = 0; i < BYTES; i = i + 1) memory[i] = 8'h00;
endmodule

// The bursts of one port: where each beat is in the memory.
module flashtrain_memory_port #(
    parameter integer ADDRESS_BITS = 36,
    parameter integer DATA_BYTES = 8
) (
    input wire clk,
    input wire rst,

    input  wire [ADDRESS_BITS-1:0] awaddr,
    input  wire                    awvalid,
    output wire                    awready,
    input  wire                    wlast,
    input  wire                    wvalid,
    output wire                    wready,
    output reg                     bvalid,
    input  wire                    bready,
    input  wire [ADDRESS_BITS-1:0] araddr,
    input  wire [             7:0] arlen,
    input  wire                    arvalid,
    output wire                    arready,
    output wire                    rlast,
    output reg                     rvalid,
    input  wire                    rready,

    output reg [ADDRESS_BITS-1:0] write_address,
    output reg [ADDRESS_BITS-1:0] read_address
);
  localparam [ADDRESS_BITS-1:0] STEP = DATA_BYTES;

  reg writing;
  reg [7:0] left;

  assign awready = !writing && !bvalid;
  assign wready = writing;
  assign arready = !rvalid;
  assign rlast = left == 0;

  always @(posedge clk)
    if (rst) begin
      writing <= 0;
      bvalid <= 0;
      rvalid <= 0;
    end else begin
      if (awvalid && awready) begin
        writing <= 1;
        write_address <= awaddr;
      end
      if (wvalid && wready) begin
        write_address <= write_address + STEP;
        writing <= !wlast;
        bvalid <= wlast;
      end
      if (bvalid && bready) bvalid <= 0;
      if (arvalid && arready) begin
        rvalid <= 1;
        read_address <= araddr;
        left <= arlen;
      end else if (rvalid && rready) begin
        read_address <= read_address + STEP;
        left <= left - 1;
        rvalid <= left != 0;
      end
    end
endmodule
