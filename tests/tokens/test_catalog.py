import pytest

from pinfold.providers.presets import SERVICES
from pinfold.tokens.catalog import ASSUMED, EFFORTS, _data, efforts, look_up


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("gpt-4.1", 1_047_576),
        ("openai/gpt-4.1-mini-2025-04-14", 1_047_576),
        ("o3", 200_000),
        ("o4-mini", 200_000),
        ("gpt-4o-mini", 128_000),
        ("gpt-4", 8_192),
        ("gpt-5", 272_000),
        ("gpt-5.5", 922_000),
        ("gpt-5.4-mini", 272_000),
        ("openai/gpt-6.2-sol", 922_000),
        ("anthropic/claude-sonnet-5.5", 1_000_000),
        ("gemini-3.8-flash", 1_048_576),
        ("grok-4.7", 500_000),
        ("gpt-5-chat-latest", 128_000),
        ("anthropic/claude-sonnet-4.5", 200_000),
        ("claude-3-5-haiku-latest", 200_000),
        ("qwen2.5-coder:7b", 32_768),
        ("Qwen/Qwen3-Coder-30B-A3B-Instruct", 262_144),
        ("Meta-Llama-3.1-8B-Instruct.Q4_K_M.gguf", 131_072),
        ("llama3:latest", 8_192),
        ("mistral-large-latest", 131_072),
        ("mistral:7b", 32_768),
        ("deepseek-chat", 131_072),
        ("deepseek-r1-distill-llama-70b", 131_072),
        ("gemma3:4b", 131_072),
        ("gemma3:1b", 32_768),
        ("phi4", 16_384),
        ("/models/SmolLM2-135M-Instruct.Q4_1.gguf", 8_192),
    ],
)
def test_the_window_of_a_known_model(name: str, window: int) -> None:
    entry = look_up(name)
    assert entry.known
    assert entry.context_window == window
    assert entry.max_output <= window


@pytest.mark.parametrize("name", ["", "my-finetune", "foo1", "go3-test", "solo3"])
def test_an_unknown_name_is_assumed_and_says_so(name: str) -> None:
    assert look_up(name) == ASSUMED
    assert not ASSUMED.known
    assert ASSUMED.context_window == 272_000


def test_the_encoding_is_the_model_s_own_where_tiktoken_has_it() -> None:
    assert look_up("gpt-4-turbo").encoding == "cl100k_base"
    assert look_up("gpt-4o").encoding == "o200k_base"


@pytest.mark.parametrize(
    ("provider", "name", "levels"),
    [
        ("openai", "gpt-6.2-sol", "low medium high xhigh max"),
        ("openai", "gpt-5", "minimal low medium high"),
        ("openai", "gpt-5.4-mini", "none low medium high xhigh"),
        ("openrouter", "anthropic/claude-sonnet-5.5", "low medium high xhigh max"),
        ("anthropic", "claude-sonnet-5-5", ""),
        ("ollama", "llama3", ""),
    ],
)
def test_the_reasoning_levels_that_a_model_takes(provider: str, name: str, levels: str) -> None:
    assert " ".join(efforts(provider, name)) == levels


def test_each_first_model_is_known_and_every_level_is_one() -> None:
    """What is not in the catalog of its own date would be a name from memory."""
    for preset in SERVICES.values():
        assert look_up(preset.model).known
    assert all("source" in service for service in _data()["services"].values())
    assert {level for entry in _data()["models"] for level in entry.get("effort", ())} <= {*EFFORTS}
