"""The exceptions a user can meet: one message that says what, where, and how to fix it."""


class DraftgateError(Exception):
    """Something the user can fix.

    `str(error)` says what is wrong and where (file, line, session, turn); `fix` says what to do.
    The command line prints ``error: <message>`` and ``fix: <fix>`` and ends with exit code 2.
    """

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.fix = fix


class InputError(DraftgateError):
    """A file the user named cannot be read as what it should be."""


class OutputError(DraftgateError):
    """A file or a folder cannot be written."""


class MachineError(DraftgateError):
    """This machine, or a limit set for this process, has no more memory, open files or threads."""


class ConfigError(DraftgateError):
    """The configuration is wrong: an unknown key, a bad value, options that exclude each other."""


class ServerError(DraftgateError):
    """A vLLM server could not be started, reached, or used."""


class InvalidRun(DraftgateError):
    """What was asked for compares nothing: the verdict is ``invalid`` before anything is sent."""


class StoreError(DraftgateError):
    """The DuckDB store cannot be opened, read, or written."""


class Interrupted(KeyboardInterrupt):
    """The user ended a run: `str(error)` says what of it is kept, `fix` how to go on.

    A KeyboardInterrupt, so that nothing takes it for an error to be handled.
    """

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.fix = fix
