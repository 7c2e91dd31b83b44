"""Studies as data: a TOML file of settings in, tidy rows out, pictures drawn from the rows."""

from debandit.study.cell import Bins, Cell
from debandit.study.plan import Study
from debandit.study.rows import StudyRows
from debandit.study.shipped import PAPER, shipped_names, write_example

__all__ = ["PAPER", "Bins", "Cell", "Study", "StudyRows", "shipped_names", "write_example"]
