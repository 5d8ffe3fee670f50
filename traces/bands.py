"""Context bands, by prompt tokens: 0-8k, 8k-16k, 16k-32k, 32k-64k, 64k-128k, 128k+."""

BANDS = ("0-8k", "8k-16k", "16k-32k", "32k-64k", "64k-128k", "128k+")
EDGES = (8_192, 16_384, 32_768, 65_536, 131_072)


def band_of(tokens: int) -> str:
    """The band of a prompt of `tokens` tokens."""
    return BANDS[sum(tokens >= edge for edge in EDGES)]
