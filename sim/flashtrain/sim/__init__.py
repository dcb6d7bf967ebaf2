"""The NAND and tensor-buffer models, the bench kit and the simulators."""
