"""The cache and data registers of a die, and their lanes to the pins."""
