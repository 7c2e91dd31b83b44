"""Studies as data: a TOML file of settings in, tidy rows out, pictures drawn from the rows."""

from debandit.study.cell import Bins, Cell
from debandit.study.plan import PAPER, Study, shipped_names, write_example
from debandit.study.rows import StudyRows

__all__ = ["PAPER", "Bins", "Cell", "Study", "StudyRows", "shipped_names", "write_example"]
