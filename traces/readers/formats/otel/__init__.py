"""OpenTelemetry GenAI and OpenInference spans."""
