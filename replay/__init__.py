"""Everything that talks to vLLM: servers, the stream client, arms, scorers."""
