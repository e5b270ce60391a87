"""A session as a document: Markdown, HTML, OpenAI messages, a rollout for Codex. Pure."""
