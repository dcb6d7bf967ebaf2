"""Recovery after a loss of power, from the flash alone, and the journal."""
