"""A die's command decoder, control and sequencer."""
