"""The judgement of a whole run. Imports every room of `checks`; no room imports it."""
