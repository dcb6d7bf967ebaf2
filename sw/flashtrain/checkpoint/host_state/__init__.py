"""The state of a training's host: in bytes, and back."""
