"""Every sentence and table that people read about a result: the answer, and the details behind it."""

from debandit.words.answer import answer
from debandit.words.details import details

__all__ = ["answer", "details"]
