"""Parts that the tests in SystemVerilog share: the device, its registers, and the limit of cycles.

`testbench` has a host on AXI, and `drive_testbench` one on PCI Express.
"""

from collections.abc import Iterable, Iterator, Sequence

from flashtrain.rtl.clocks import Clocks
from flashtrain.rtl.export.axi_wrapper import connections
from flashtrain.rtl.export.pins import Bundle, Pin
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import Control, Register
from flashtrain.spec.streams import Access, Persistency, Retention, Stream
from flashtrain.spec.timing import ns

from .sim_top import TOP as SIM_TOP

TOP = "flashtrain_tb"
_POLL = ns(2_000)
"""An interval between polls, but those of an erase, and the poll itself."""
STREAM = Stream(
    nsid=1, name="all", persistency=Persistency.NON_VOLATILE, retention=Retention.YEARS,
    host=Access.READ | Access.APPEND, core=Access.NONE,
)  # fmt: skip
"""It has all zones."""
_ENABLE_COMMENT = (
    "    // FACTORY: all arrays are erased and no block is marked, as in new models.",
    "    // Real parts are enabled without it: then each block is erased before its use.",
)


def device(clocks: Clocks, outside: Sequence[Bundle], wires: Iterable[str], phy: bool) -> str:
    """The device with its NAND inside, its clock and reset, and `wires` to all pins `outside`."""
    return _DEVICE.format(
        half_period=f"{500 / clocks.system_mhz:.3f}",
        nand_clock="".join(_nand_clocks(clocks, phy)),
        wires="\n".join(wires),
        sim_top=SIM_TOP,
        nand_connection="".join(
            f"      .{name}({name}),\n"
            for name, exists in (("nand_clk", clocks.crosses), ("nand_clk90", phy))
            if exists
        ),
        joined=connections((pin.name, pin.name) for bundle in outside for pin in bundle.pins),
    )


def wire(kind: str, pin: Pin, value: str) -> str:
    """A `reg` or `wire` to a pin, and its first value or constant."""
    width = "" if pin.width == 1 else f"[{pin.width - 1}:0] "
    return f"  {kind} {width}{pin.name}{value};"


def tasks(*failures: str) -> str:
    """A count of `cycles`, and tasks: `fail`, with `failures` from code 4 on, and accesses to registers."""
    lines = [f'        {code}: $display("FAIL: {failure}");' for code, failure in enumerate(failures, 4)]
    return _TASKS.replace("<failures>", "\n".join(lines))


def write_text(name: str, register: int, value: int) -> str:
    return f"    write_register(13'h{register:04x}, 32'h{value:08x});  // {name}"


def enable_text() -> list[str]:
    """Lines that enable the controller."""
    write = write_text("CONTROL: ENABLE, FACTORY", Register.CONTROL, Control.ENABLE | Control.FACTORY)
    return [*_ENABLE_COMMENT, write]


def most_cycles(config: FmsConfig, blocks: int) -> int:
    """The limit of the test: ten times what the array and the AXI ports need, and the polls of a lost die.

    A die that stays busy is reported after `late_polls` polls, so a command ends with an error before that.
    """
    t, g = config.timing, config.geometry
    start = 16 * g.zones + 1000
    polls = config.late_polls * _POLL.cycles_at(t.clock_mhz)
    return 10 * (start + t.cycles("tprog") + t.cycles("tr") + blocks * g.raw_page_bytes) + polls


def _nand_clocks(clocks: Clocks, phy: bool) -> Iterator[str]:
    half = 500 / clocks.nand_mhz
    if clocks.crosses:
        yield _NAND_CLOCK.format(half_period=f"{half:.3f}")
    if phy:
        yield _LATER_CLOCK.format(half_period=f"{half:.3f}", quarter=f"{half / 2:.3f}")


_NAND_CLOCK = """\
  reg nand_clk = 1'b0;
  always #{half_period} nand_clk = !nand_clk;
"""
_LATER_CLOCK = """\
  reg nand_clk90 = 1'b0;
  initial begin
    #{quarter};
    forever #{half_period} nand_clk90 = !nand_clk90;
  end
"""
_DEVICE = """\
  reg clk = 1'b0;
  reg resetn = 1'b0;
  always #{half_period} clk = !clk;
{nand_clock}
{wires}
  wire [31:0] violations;

  {sim_top} dut (
      .aclk(clk),
      .aresetn(resetn),
{nand_connection}{joined},
      .violations(violations)
  );
"""
_TASKS = """\
  integer cycles = 0;
  always @(posedge clk) cycles <= cycles + 1;

  task fail(input integer code);
    begin
      case (code)
        0: $display("FAIL: an AXI4-Lite access was refused");
        1: $display("FAIL: a command ended with an error");
        2: $display("FAIL: a byte is wrong");
        3: $display("FAIL: the NAND protocol was violated");
<failures>
        default: $display("FAIL: nothing happens any more");
      endcase
      $fatal(1);
    end
  endtask

  // Transfers at the rising edge. The bench acts at the falling one, where nothing else changes.
  reg aw_taken, w_taken, b_taken, ar_taken, r_taken;
  reg [1:0] answer;
  reg [31:0] value;

  always @(posedge clk) begin
    aw_taken <= s_axil_regs_awvalid && s_axil_regs_awready;
    w_taken <= s_axil_regs_wvalid && s_axil_regs_wready;
    b_taken <= s_axil_regs_bvalid && s_axil_regs_bready;
    ar_taken <= s_axil_regs_arvalid && s_axil_regs_arready;
    r_taken <= s_axil_regs_rvalid && s_axil_regs_rready;
    answer <= s_axil_regs_bvalid ? s_axil_regs_bresp : s_axil_regs_rresp;
    value <= s_axil_regs_rdata;
  end

  task write_register(input [12:0] address, input [31:0] data);
    begin
      s_axil_regs_awaddr = address;
      s_axil_regs_wdata = data;
      s_axil_regs_wstrb = 4'b1111;
      s_axil_regs_awvalid = 1'b1;
      s_axil_regs_wvalid = 1'b1;
      s_axil_regs_bready = 1'b1;
      @(negedge clk);
      while (!b_taken) begin
        if (aw_taken) s_axil_regs_awvalid = 1'b0;
        if (w_taken) s_axil_regs_wvalid = 1'b0;
        @(negedge clk);
      end
      if (answer != 2'b00) fail(0);
    end
  endtask

  task read_register(input [12:0] address);
    begin
      s_axil_regs_araddr = address;
      s_axil_regs_arvalid = 1'b1;
      s_axil_regs_rready = 1'b1;
      @(negedge clk);
      while (!r_taken) begin
        if (ar_taken) s_axil_regs_arvalid = 1'b0;
        @(negedge clk);
      end
      if (answer != 2'b00) fail(0);
    end
  endtask

"""
