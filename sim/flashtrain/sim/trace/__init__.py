"""The event trace of the RTL Link: intervals, figures, Perfetto."""
