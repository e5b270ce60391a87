"""What the user sees of the window, and does to it."""
