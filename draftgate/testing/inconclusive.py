"""The outcome between passed and failed: nothing wrong was seen, and too little to say so."""


class Inconclusive(Exception):
    """Raised by an assertion that lacks what it needs to pass or to fail.

    The pytest plugin reports it as an outcome of its own, which fails, warns or skips as
    ``--draftgate-inconclusive`` says; elsewhere it is an error like any other.
    """
