"""Adapters to vLLM's own code; the only room that may import vLLM, inside functions."""
