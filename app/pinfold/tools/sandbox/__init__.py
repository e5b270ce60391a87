"""Commands in a sandbox of the kernel."""
