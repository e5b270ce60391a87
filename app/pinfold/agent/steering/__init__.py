"""What the user sees of the window and of what is kept in mind, and does to it."""
