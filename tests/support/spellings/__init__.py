"""Made-up conversations, written down in every format that `draftgate import` knows."""

from tests.support.spellings.conversation import Asked, Conversation, Exchange, conversations
from tests.support.spellings.every import SPELLINGS

__all__ = ["SPELLINGS", "Asked", "Conversation", "Exchange", "conversations"]
