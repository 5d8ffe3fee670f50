"""OpenHands: evaluation outputs, event lists, SDK events."""
