"""draftgate: may this drafter be switched on for this traffic?"""

from draftgate.version import VERSION as __version__

__all__ = ["__version__"]
