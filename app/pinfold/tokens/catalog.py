"""What is known of models by name: context window, longest reply, nearest tokenizer."""

import re
from dataclasses import dataclass

O200K = "o200k_base"
CL100K = "cl100k_base"


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    context_window: int
    """Tokens that one request may have."""
    max_output: int
    """Tokens that one reply may have."""
    encoding: str
    """The tiktoken encoding that counts for it, or the nearest one."""
    known: bool = True
    """False where the name says nothing and all figures are assumed."""


ASSUMED = CatalogEntry(272_000, 16_384, O200K, known=False)

# The first pattern found in the name decides, so that the particular stands before the general.
# GPT-5 counts input and output apart: 400,000 in all, 128,000 of them for the reply.
_TABLE: tuple[tuple[str, int, int, str], ...] = (
    ("gpt-5[.0-9]*-chat", 128_000, 16_384, O200K),
    ("gpt-5", 272_000, 128_000, O200K),
    ("gpt-4\\.1", 1_047_576, 32_768, O200K),
    ("gpt-4o", 128_000, 16_384, O200K),
    ("gpt-4-turbo|gpt-4-(0125|1106|vision)", 128_000, 4_096, CL100K),
    ("gpt-4-32k", 32_768, 8_192, CL100K),
    ("gpt-4", 8_192, 8_192, CL100K),
    ("gpt-3\\.5", 16_385, 4_096, CL100K),
    ("gpt-oss", 131_072, 32_768, O200K),
    ("o1-(mini|preview)", 128_000, 32_768, O200K),
    ("o[134](?![a-z0-9])|codex-mini", 200_000, 100_000, O200K),
    ("claude-(opus-4(?!-5|\\.5)|4-opus)", 200_000, 32_000, O200K),
    ("claude-3[-.]7|claude-(sonnet|haiku|opus)-4|claude-4", 200_000, 64_000, O200K),
    ("claude-3[-.]5", 200_000, 8_192, O200K),
    ("claude-3", 200_000, 4_096, O200K),
    ("claude", 200_000, 32_000, O200K),
    ("gemini-1\\.5-pro", 2_097_152, 8_192, O200K),
    ("gemini-(1\\.5|2\\.0)", 1_048_576, 8_192, O200K),
    ("gemini", 1_048_576, 65_536, O200K),
    ("grok-4.*fast", 2_000_000, 30_000, O200K),
    ("grok-(4|code)", 256_000, 30_000, O200K),
    ("grok", 131_072, 16_384, O200K),
    ("deepseek-r1-distill", 131_072, 32_768, CL100K),
    ("deepseek-(reasoner|r1)", 131_072, 65_536, CL100K),
    ("deepseek-(chat|v3)", 131_072, 8_192, CL100K),
    ("deepseek-coder-?v2", 131_072, 8_192, CL100K),
    ("deepseek-coder", 16_384, 4_096, CL100K),
    ("qwen3-(coder|next|max)|qwen3.*2507|qwen3\\.\\d", 262_144, 65_536, CL100K),
    ("qwen-?3", 40_960, 16_384, CL100K),
    ("qwen-(plus|turbo|flash)|qwq", 131_072, 16_384, CL100K),
    ("qwen", 32_768, 8_192, CL100K),
    ("codellama", 16_384, 4_096, CL100K),
    ("llama-?4", 1_048_576, 16_384, CL100K),
    ("llama-?3\\.[1-9]", 131_072, 16_384, CL100K),
    ("llama-?3", 8_192, 4_096, CL100K),
    ("llama-?2", 4_096, 2_048, CL100K),
    ("mixtral-?8x22b", 65_536, 8_192, CL100K),
    ("mixtral|(open-)?mistral-7b|mistral:7b", 32_768, 8_192, CL100K),
    ("codestral|devstral-(2|medium)", 262_144, 16_384, CL100K),
    (
        "mistral-(nemo|small|medium|large)|ministral|magistral|devstral|pixtral",
        131_072,
        16_384,
        CL100K,
    ),
    ("mistral", 32_768, 8_192, CL100K),
    ("gemma-?3n|gemma-?3[-:]1b", 32_768, 8_192, O200K),
    ("gemma-?3", 131_072, 8_192, O200K),
    ("gemma", 8_192, 4_096, O200K),
    ("phi-?4-mini|phi-?3\\.5|phi-?3.*128k", 131_072, 8_192, O200K),
    ("phi-?4", 16_384, 8_192, CL100K),
    ("phi-?3", 4_096, 2_048, CL100K),
    ("kimi-k2", 262_144, 32_768, O200K),
    ("glm-4\\.[67]|glm-[5-9]", 200_000, 65_536, CL100K),
    ("glm-4", 131_072, 32_768, CL100K),
    ("minimax-m", 196_608, 65_536, O200K),
    ("command-a", 256_000, 8_192, O200K),
    ("command-r", 128_000, 4_096, O200K),
    ("granite-?[34]", 131_072, 8_192, O200K),
    ("smollm-?3", 65_536, 8_192, CL100K),
    ("smollm-?2", 8_192, 2_048, CL100K),
)
_PATTERNS = tuple(
    (re.compile(f"(?<![a-z0-9])(?:{pattern})"), CatalogEntry(window, output, encoding))
    for pattern, window, output, encoding in _TABLE
)


def look_up(name: str) -> CatalogEntry:
    """The entry for a model: any vendor prefix, tag, date or file ending may be about the name."""
    short = name.lower().replace("\\", "/").rsplit("/", 1)[-1].replace("_", "-")
    for pattern, entry in _PATTERNS:
        if pattern.search(short):
            return entry
    return ASSUMED
