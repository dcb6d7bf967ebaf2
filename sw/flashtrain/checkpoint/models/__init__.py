"""The models whose checkpoints and memory are compared."""
