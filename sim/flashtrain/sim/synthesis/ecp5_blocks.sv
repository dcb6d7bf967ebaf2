// Blocks of an ECP5 in simulation, of which Yosys has no models: block memories and multipliers.

// 18 Kbit with two ports of 1 to 36 bits, with or without output registers.
//
// Behaviour and addresses are those of Lattice's ECP5 memory usage guide (FPGA-TN-02204), as far as Yosys uses
// them (lattice/brams_16kd.txt and brams_map_16kd.v): one clock, no resets, no chip selects. A port that reads
// bits while the other one writes them gets their inverse, because the device promises nothing.
module DP16KD #(
    parameter DATA_WIDTH_A = 18, DATA_WIDTH_B = 18,
    parameter REGMODE_A = "NOREG", REGMODE_B = "NOREG", WRITEMODE_A = "NORMAL", WRITEMODE_B = "NORMAL",
    parameter RESETMODE = "SYNC", ASYNC_RESET_RELEASE = "SYNC", GSR = "AUTO",
    parameter CSDECODE_A = "0b000", CSDECODE_B = "0b000", CLKAMUX = "CLKA", CLKBMUX = "CLKB",
    parameter [319:0] INITVAL_00 = 0, INITVAL_01 = 0, INITVAL_02 = 0, INITVAL_03 = 0,
    parameter [319:0] INITVAL_04 = 0, INITVAL_05 = 0, INITVAL_06 = 0, INITVAL_07 = 0,
    parameter [319:0] INITVAL_08 = 0, INITVAL_09 = 0, INITVAL_0A = 0, INITVAL_0B = 0,
    parameter [319:0] INITVAL_0C = 0, INITVAL_0D = 0, INITVAL_0E = 0, INITVAL_0F = 0,
    parameter [319:0] INITVAL_10 = 0, INITVAL_11 = 0, INITVAL_12 = 0, INITVAL_13 = 0,
    parameter [319:0] INITVAL_14 = 0, INITVAL_15 = 0, INITVAL_16 = 0, INITVAL_17 = 0,
    parameter [319:0] INITVAL_18 = 0, INITVAL_19 = 0, INITVAL_1A = 0, INITVAL_1B = 0,
    parameter [319:0] INITVAL_1C = 0, INITVAL_1D = 0, INITVAL_1E = 0, INITVAL_1F = 0,
    parameter [319:0] INITVAL_20 = 0, INITVAL_21 = 0, INITVAL_22 = 0, INITVAL_23 = 0,
    parameter [319:0] INITVAL_24 = 0, INITVAL_25 = 0, INITVAL_26 = 0, INITVAL_27 = 0,
    parameter [319:0] INITVAL_28 = 0, INITVAL_29 = 0, INITVAL_2A = 0, INITVAL_2B = 0,
    parameter [319:0] INITVAL_2C = 0, INITVAL_2D = 0, INITVAL_2E = 0, INITVAL_2F = 0,
    parameter [319:0] INITVAL_30 = 0, INITVAL_31 = 0, INITVAL_32 = 0, INITVAL_33 = 0,
    parameter [319:0] INITVAL_34 = 0, INITVAL_35 = 0, INITVAL_36 = 0, INITVAL_37 = 0,
    parameter [319:0] INITVAL_38 = 0, INITVAL_39 = 0, INITVAL_3A = 0, INITVAL_3B = 0,
    parameter [319:0] INITVAL_3C = 0, INITVAL_3D = 0, INITVAL_3E = 0, INITVAL_3F = 0
) (
    input DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6, DIA5, DIA4, DIA3,
        DIA2, DIA1, DIA0,
    input ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2, ADA1, ADA0,
    input CEA, OCEA, CLKA, WEA, RSTA, CSA2, CSA1, CSA0,
    output DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4, DOA3,
        DOA2, DOA1, DOA0,
    input DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6, DIB5, DIB4, DIB3,
        DIB2, DIB1, DIB0,
    input ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2, ADB1, ADB0,
    input CEB, OCEB, CLKB, WEB, RSTB, CSB2, CSB1, CSB0,
    output DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4, DOB3,
        DOB2, DOB1, DOB0
);
    initial
        if (CLKAMUX != "CLKA" || CLKBMUX != "CLKB") $fatal(1, "no model of a block memory with a falling clock");
    always_comb
        if (RSTA || RSTB) $fatal(1, "no model of a block memory with a reset");

    // Rows of four bytes of 9 bits. A word of 4 bits or fewer is in the low 8 bits of a byte.
    reg [35:0] rows[512];
    localparam [64*320-1:0] CONTENT = {
        INITVAL_3F, INITVAL_3E, INITVAL_3D, INITVAL_3C, INITVAL_3B, INITVAL_3A, INITVAL_39, INITVAL_38,
        INITVAL_37, INITVAL_36, INITVAL_35, INITVAL_34, INITVAL_33, INITVAL_32, INITVAL_31, INITVAL_30,
        INITVAL_2F, INITVAL_2E, INITVAL_2D, INITVAL_2C, INITVAL_2B, INITVAL_2A, INITVAL_29, INITVAL_28,
        INITVAL_27, INITVAL_26, INITVAL_25, INITVAL_24, INITVAL_23, INITVAL_22, INITVAL_21, INITVAL_20,
        INITVAL_1F, INITVAL_1E, INITVAL_1D, INITVAL_1C, INITVAL_1B, INITVAL_1A, INITVAL_19, INITVAL_18,
        INITVAL_17, INITVAL_16, INITVAL_15, INITVAL_14, INITVAL_13, INITVAL_12, INITVAL_11, INITVAL_10,
        INITVAL_0F, INITVAL_0E, INITVAL_0D, INITVAL_0C, INITVAL_0B, INITVAL_0A, INITVAL_09, INITVAL_08,
        INITVAL_07, INITVAL_06, INITVAL_05, INITVAL_04, INITVAL_03, INITVAL_02, INITVAL_01, INITVAL_00
    };
    initial
        for (int row = 0; row < 512; ++row) rows[row] = {CONTENT[40*row+20+:18], CONTENT[40*row+:18]};

    function automatic [5:0] place(input int width, input [4:0] address);
        case (width)
            36: place = 0;
            18: place = address[4] ? 18 : 0;
            9: place = 6'd9 * address[4:3];
            4: place = 6'd9 * address[4:3] + (address[2] ? 6'd4 : 6'd0);
            2: place = 6'd9 * address[4:3] + 6'd2 * address[2:1];
            default: place = 6'd9 * address[4:3] + address[2:0];
        endcase
    endfunction

    // Wide words have a write enable for each byte in the low bits of the address.
    function automatic [35:0] written(input int width, input [4:0] address);
        case (width)
            36: written = {{9{address[3]}}, {9{address[2]}}, {9{address[1]}}, {9{address[0]}}};
            18: written = {18'd0, {9{address[1]}}, {9{address[0]}}} << place(18, address);
            default: written = ((36'd1 << width) - 36'd1) << place(width, address);
        endcase
    endfunction

    wire [13:0] address_a = {ADA13, ADA12, ADA11, ADA10, ADA9, ADA8, ADA7, ADA6, ADA5, ADA4, ADA3, ADA2,
        ADA1, ADA0};
    wire [17:0] in_a = {DIA17, DIA16, DIA15, DIA14, DIA13, DIA12, DIA11, DIA10, DIA9, DIA8, DIA7, DIA6,
        DIA5, DIA4, DIA3, DIA2, DIA1, DIA0};
    wire [13:0] address_b = {ADB13, ADB12, ADB11, ADB10, ADB9, ADB8, ADB7, ADB6, ADB5, ADB4, ADB3, ADB2,
        ADB1, ADB0};
    wire [17:0] in_b = {DIB17, DIB16, DIB15, DIB14, DIB13, DIB12, DIB11, DIB10, DIB9, DIB8, DIB7, DIB6,
        DIB5, DIB4, DIB3, DIB2, DIB1, DIB0};
    wire same_row = address_a[13:5] == address_b[13:5];

    wire writes_a = CEA & WEA;
    wire reads_a = CEA & (~WEA | WRITEMODE_A != "NORMAL");
    wire [5:0] place_a = place(DATA_WIDTH_A, address_a[4:0]);
    wire [35:0] mask_a = writes_a ? written(DATA_WIDTH_A, address_a[4:0]) : 36'd0;
    wire [35:0] data_a = {DATA_WIDTH_A == 36 ? in_b : 18'd0, in_a} << place_a;
    wire [35:0] old_a = rows[address_a[13:5]];
    wire [35:0] new_a = old_a & ~mask_a | data_a & mask_a;
    wire [35:0] kept_a = writes_a && WRITEMODE_A == "WRITETHROUGH" ? new_a : old_a;
    wire [35:0] read_a = (kept_a ^ (same_row ? mask_b : 36'd0)) >> place_a;
    reg [17:0] latch_a = 0, register_a = 0;
    always @(posedge CLKA) begin
        for (int lane = 0; lane < 4; ++lane)
            if (mask_a[9*lane+:9] != 0) rows[address_a[13:5]][9*lane+:9] <= new_a[9*lane+:9];
        if (OCEA) register_a <= latch_a;
    end

    wire writes_b = CEB & WEB;
    wire reads_b = CEB & (~WEB | WRITEMODE_B != "NORMAL");
    wire [5:0] place_b = place(DATA_WIDTH_B, address_b[4:0]);
    wire [35:0] mask_b = writes_b ? written(DATA_WIDTH_B, address_b[4:0]) : 36'd0;
    wire [35:0] data_b = {18'd0, in_b} << place_b;
    wire [35:0] old_b = rows[address_b[13:5]];
    wire [35:0] new_b = old_b & ~mask_b | data_b & mask_b;
    wire [35:0] kept_b = writes_b && WRITEMODE_B == "WRITETHROUGH" ? new_b : old_b;
    wire [35:0] read_b = (kept_b ^ (same_row ? mask_a : 36'd0)) >> place_b;
    reg [17:0] latch_b = 0, register_b = 0;
    always @(posedge CLKB) begin
        for (int lane = 0; lane < 4; ++lane)
            if (mask_b[9*lane+:9] != 0) rows[address_b[13:5]][9*lane+:9] <= new_b[9*lane+:9];
        if (OCEB) register_b <= latch_b;
    end

    // Port B alone reads words of 36 bits. Their low half is on the outputs of port A.
    generate
        if (DATA_WIDTH_B == 36) begin
            always @(posedge CLKB)
                if (reads_b) {latch_b, latch_a} <= read_b;
        end else begin
            always @(posedge CLKA)
                if (reads_a) latch_a <= read_a[17:0];
            always @(posedge CLKB)
                if (reads_b) latch_b <= read_b[17:0];
        end
    endgenerate

    assign {DOA17, DOA16, DOA15, DOA14, DOA13, DOA12, DOA11, DOA10, DOA9, DOA8, DOA7, DOA6, DOA5, DOA4,
        DOA3, DOA2, DOA1, DOA0} = REGMODE_A == "OUTREG" ? register_a : latch_a;
    assign {DOB17, DOB16, DOB15, DOB14, DOB13, DOB12, DOB11, DOB10, DOB9, DOB8, DOB7, DOB6, DOB5, DOB4,
        DOB3, DOB2, DOB1, DOB0} = REGMODE_B == "OUTREG" ? register_b : latch_b;
endmodule

// 18 by 18 bits without registers, unsigned: what Yosys makes of a product.
module MULT18X18D (
    input A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0,
    input B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0,
    input C17, C16, C15, C14, C13, C12, C11, C10, C9, C8, C7, C6, C5, C4, C3, C2, C1, C0,
    input SIGNEDA, SIGNEDB, SOURCEA, SOURCEB,
    output P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17,
        P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0
);
    always_comb
        if (SIGNEDA || SIGNEDB) $fatal(1, "no model of a signed multiplier");
    wire [17:0] a = {A17, A16, A15, A14, A13, A12, A11, A10, A9, A8, A7, A6, A5, A4, A3, A2, A1, A0};
    wire [17:0] b = {B17, B16, B15, B14, B13, B12, B11, B10, B9, B8, B7, B6, B5, B4, B3, B2, B1, B0};
    assign {P35, P34, P33, P32, P31, P30, P29, P28, P27, P26, P25, P24, P23, P22, P21, P20, P19, P18, P17,
        P16, P15, P14, P13, P12, P11, P10, P9, P8, P7, P6, P5, P4, P3, P2, P1, P0} = 36'(a) * 36'(b);
endmodule
