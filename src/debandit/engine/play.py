"""Some runs, in this thread, in whichever of the four ways is right for them; all give the same table."""

import numpy as np

from debandit.engine.committed import can_commit, commit
from debandit.engine.data import Ints, Played, no_rounds
from debandit.engine.experiment import Experiment
from debandit.engine.kernels import ObjectKernel
from debandit.engine.objects import play_objects
from debandit.engine.rounds import play_rounds
from debandit.engine.runs import TOTALS
from debandit.engine.steps import can_step, step


def play(
    experiment: Experiment, who: Ints, kept: int = TOTALS, paths: bool = False, stop: Ints | None = None
) -> Played:
    """Simulate the runs (world, number) in `who` and keep this many statistics of each; with `paths` also its rounds.

    Another thread may set stop[0], and then what comes back is not to be used.
    """
    stop = np.zeros(3, np.int64) if stop is None else stop
    if isinstance(experiment.policy.kernel, ObjectKernel):
        return play_objects(experiment, who, kept, paths, stop)
    if not paths and can_commit(experiment):
        return Played(commit(experiment, who, kept), *no_rounds(len(who)))
    if not paths and can_step(experiment):
        return Played(step(experiment, who, kept, stop), *no_rounds(len(who)))
    return play_rounds(experiment, who, kept, paths, stop)


def is_costly(experiment: Experiment) -> bool:
    """Whether a run takes far longer than in the compiled loop."""
    return isinstance(experiment.policy.kernel, ObjectKernel) or can_step(experiment)
