"""Random and mutated PDUs against a target: each connection ends, or goes on, as the standard says."""
