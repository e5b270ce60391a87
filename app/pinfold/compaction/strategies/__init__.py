"""Ways to get from one window to the next, one file each."""
