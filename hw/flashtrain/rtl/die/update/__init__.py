"""On-die updates: tiles through the update unit and back to the page registers."""
