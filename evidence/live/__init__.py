"""Gates over real vLLM servers: their natural noise, and real faults."""
