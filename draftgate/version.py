"""The one place that states the version of draftgate."""

VERSION = "0.1.0"
