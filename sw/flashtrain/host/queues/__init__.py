"""Commands in flight: queue pairs, entries, completions and their errors."""
