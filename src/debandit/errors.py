"""What went wrong, where, and what to do about it."""


class DebanditError(Exception):
    """An error that a user can act on. The command line prints it and ends with its exit code."""

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what, self.where, self.remedy = what, where, remedy
        place = f"{where}: " if where else ""
        advice = f"\n  {remedy}" if remedy else ""
        super().__init__(f"{place}{what}{advice}")


class InputError(DebanditError):
    """The data or an option cannot be used as they are."""


class Refused(DebanditError):  # noqa: N818 (it says what happened, not that something failed)
    """The input is sound, but the answer would not be."""

    exit_code = 1


class CacheWarning(UserWarning):
    """Compiled kernels cannot be kept."""
