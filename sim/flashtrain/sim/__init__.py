"""The NAND and tensor-buffer models, the helpers of benches, and the simulators."""
