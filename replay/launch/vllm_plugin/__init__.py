"""A folder for the PYTHONPATH of a server that is launched with draft ids: a vLLM plugin."""
