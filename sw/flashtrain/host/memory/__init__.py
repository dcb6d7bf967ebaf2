"""The driver's allocation of the tensor buffer, and conversions of the arrays in it."""
