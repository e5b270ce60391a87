"""Recognises "request too large for the context window" in error texts, with the figures."""

import re
from collections.abc import Collection

CODES = frozenset(
    {
        "context_length_exceeded",  # OpenAI, Azure, Groq, DeepSeek
        "exceed_context_size_error",  # llama.cpp
        "context_window_exceeded",
        "model_context_window_exceeded",
        "ContextWindowExceededError",  # LiteLLM
    }
)
_WORDS = re.compile(
    r"maximum (?:context|prompt) length"  # OpenAI, vLLM, OpenRouter, DeepSeek, Mistral, xAI
    r"|exceeds? (?:the |this |model'?s? )*(?:available |maximum )?context"  # llama.cpp, Ollama
    r"|context (?:size|length) (?:has been )?exceeded"  # llama.cpp, while it writes
    r"|exceeded (?:max|maximum) context length|exceeded model token limit"  # Ollama, Moonshot
    r"|context length (?:of|is) only|configured context size is"  # LM Studio, vLLM, DS4
    r"|to keep from the initial prompt is greater|n_keep \(\d+\) >= n_ctx"  # LM Studio
    r"|prompt is too long|exceed context limit|input is too long"  # Anthropic, Bedrock
    r"|exceeds the maximum number of tokens allowed"  # Gemini
    r"|too long to fit into the model"  # vLLM
    r"|longer than the (?:maximum )?model(?:'s context)? length"  # vLLM, Together, SGLang
    r"|max_tokens must be at least 1, got -"  # vLLM, before it checked the prompt
    r"|tokens \+ `max_new_tokens` must be <="  # Text Generation Inference
    r"|range of input length should be",  # DashScope
    re.IGNORECASE,
)
_OTHERWISE_TOO_LARGE = re.compile(r"request(?: entity)? too large", re.IGNORECASE)
"""OpenAI, Groq: more than a minute's allowance at once. Anthropic, proxies: too many bytes."""

_NUMBER = r"(\d[\d,]{0,14})"
_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\d(?: tokens)? > {_NUMBER}",  # Anthropic: 200251 tokens > 200000 maximum
        rf"\bn_ctx\W{{1,4}}{_NUMBER}",  # llama.cpp's field; LM Studio
        rf"(?:context|prompt|model) (?:length|size|window)(?: is| of)?(?: only)? ?\(?{_NUMBER}",
        rf"{_NUMBER} maximum context length",  # Mistral
        rf"tokens allowed \({_NUMBER}",  # Gemini
        rf"token limit: {_NUMBER}",  # Moonshot
        rf"must be <= {_NUMBER}",  # Text Generation Inference
        rf"input length should be \[\d+, {_NUMBER}",  # DashScope
    )
)
_TOKENS = re.compile(
    r"(?:\bn_prompt_tokens\W{1,4}|request \(|decoder prompt \(length |the input \(|n_keep \("
    r"|token count \(|requested tokens \(|resulted in |too long: |keep the first "
    r"|contains (?:at least )?|passed (?=[\d,]+ input)|has (?=[\d,]+ (?:input )?tokens)"
    rf"|tokens \((?=[\d,]+ (?:in the messages|of text input))){_NUMBER}",
    re.IGNORECASE,
)
"""Tokens of the request as the server counted them, what the reply was to have not included."""
_SMALLEST, _LARGEST = 256, 1_000_000_000
"""Tokens between which a figure can be a window's."""


def is_overflow(codes: Collection[str], text: str) -> bool:
    """Whether an error is about the model's context window."""
    return not CODES.isdisjoint(codes) or _WORDS.search(text) is not None


def is_otherwise_too_large(codes: Collection[str], text: str) -> bool:
    """Whether it is about another limit on a single request."""
    return "request_too_large" in codes or _OTHERWISE_TOO_LARGE.search(text) is not None


def stated_limit(text: str) -> int | None:
    """The context window that the server names."""
    for pattern in _LIMITS:
        if found := pattern.search(text):
            return _plausible(found[1])
    return None


def stated_tokens(text: str) -> int | None:
    """The tokens that the server counted in the request."""
    found = _TOKENS.search(text)
    return _plausible(found[1]) if found else None


def _plausible(digits: str) -> int | None:
    number = int(digits.replace(",", ""))
    return number if _SMALLEST <= number <= _LARGEST else None
