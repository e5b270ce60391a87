"""From one window to the next: by hand, by itself, prepared in the background, masked."""
