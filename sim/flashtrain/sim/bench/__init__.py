"""Parts of cocotb benches: drivers and monitors of streams and buses."""
