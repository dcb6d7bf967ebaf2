"""The gateware, in Amaranth; the tree is the block diagram."""
