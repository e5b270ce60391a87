"""Tool calls: asked about, confined, run, their outputs bounded, their results journalled."""
