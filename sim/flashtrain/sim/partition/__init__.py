"""The design as a set of models that are evaluated only when something in them can change."""
