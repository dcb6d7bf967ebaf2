"""Between the front end's clock and the channels': requests, data and levels."""
