"""What is before the window, and what the model is told once that changes."""
