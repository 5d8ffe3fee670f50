"""The embedded model pair: how its text, tokenizer, target and drafter are made."""
