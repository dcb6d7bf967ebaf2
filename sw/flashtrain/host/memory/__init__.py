"""The tensor buffer as the driver uses it, and arrays on their way through it."""
