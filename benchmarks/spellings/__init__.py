"""Made-up conversations, written down in every format that `draftgate import` knows."""

from benchmarks.spellings.conversation import Asked, Conversation, Exchange, conversations
from benchmarks.spellings.every import SPELLINGS

__all__ = ["SPELLINGS", "Asked", "Conversation", "Exchange", "conversations"]
