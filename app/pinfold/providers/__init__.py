"""Models: any OpenAI-compatible endpoint, the embedded one, a replayed session."""
