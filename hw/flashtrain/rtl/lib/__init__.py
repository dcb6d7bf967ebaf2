"""Parts that every unit uses: arbiters, queues, register slices, AXI, memories, timers."""
