"""Many simulated experiments at once: for studies."""

import numpy as np

from debandit.debiasing.preparing import no_world
from debandit.engine import spread
from debandit.engine.data import Floats
from debandit.engine.experiment import DEBIAS
from debandit.simulation import Runs, checked_workers, experiment_of, fits
from debandit.worlds import Bootstrap, Unseen, as_bootstrap


def estimated_biases(
    experiments: Runs,
    *,
    world: Bootstrap | str = "gaussian",
    runs: int = 1000,
    seed: int = 0,
    unseen: tuple[float, float] | None = None,
    threads: int | None = None,
) -> Floats:
    """The biases that `debias` estimates for simulated experiments, of shape (experiments, arms): for studies."""
    seen = experiments.pulls > 0
    if unseen is None and not seen.all():
        run, arm = np.argwhere(~seen)[0]
        raise no_world(f"arm {arm + 1} of experiment {run + 1}")
    worlds = as_bootstrap(world).fit(experiments, None if unseen is None else Unseen.of(unseen))
    policy, horizon, ids = experiments.policy, experiments.horizon, np.arange(len(seen))
    fits(policy, worlds)
    task = experiment_of(policy, worlds.data(), ids, horizon=horizon, seed=seed, purpose=DEBIAS)
    total = spread.tally(task, np.full(len(seen), runs), workers=checked_workers(threads, None))
    return np.where(seen, total.bias, np.nan)
