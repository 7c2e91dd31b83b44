"""What is kept of finished runs, in compiled code. In numpy `gather` does the same."""

import numpy as np

from debandit.engine.data import FEATURES
from debandit.engine.jit import call, jit
from debandit.engine.lanes import LANES


@call
def collect(task, wanted, block, lane_unit, lane_run, lane_place, filled):
    """Store the block's finished runs, or add them to the tallies of their units, in the order of the runs."""
    features, bins = block.features, wanted.histogram.shape[2]
    for lane in range(filled):
        unit, world_index, half = lane_unit[lane], task.units[lane_unit[lane], 0], lane_run[lane] % 2
        for arm in range(block.arm_count):
            pulls, total = block.all_pulls[arm * LANES + lane], block.all_sums[arm * LANES + lane]
            if wanted.runs:
                wanted.pulls[lane_place[lane], arm] = np.int64(pulls)
                wanted.sums[lane_place[lane], arm] = total
            if wanted.tallies:
                describe(arm, lane, wanted.martingales, block)
                wanted.pull_totals[unit, arm] += pulls
                add_products(features[arm], features[arm], wanted.martingales, wanted.moments[unit, arm, half])
                if bins and pulls > 0:
                    low, high = wanted.edges[world_index, arm]
                    position = (total / pulls - low) / (high - low) * bins
                    wanted.histogram[unit, arm, min(max(np.int64(position), 0), bins - 1)] += 1
        if wanted.tallies and wanted.controls.shape[1]:
            compare(unit, half, wanted.controls[world_index], lane, wanted, block)


@jit
def describe(arm, lane, martingales, block):
    """Fill block.features[arm] with what the lane's run says of the arm."""
    size, at, row = block.arm_count * LANES, arm * LANES + lane, block.features[arm]
    pulls, total, truth = block.all_pulls[at], block.all_sums[at], block.truth[at]
    row[0] = 1.0 if pulls > 0 else 0.0
    varies = block.variance[at] > 0  # else what differs from the truth is rounding
    row[1] = total / pulls - truth if pulls > 0 and varies else 0.0
    if martingales:
        row[2] = total - pulls * truth if varies else 0.0
        for i in range(3):
            row[3 + i] = block.martingales[i * size + at] if varies else 0.0


@jit
def add_products(one, two, martingales, sums):
    """Of all features, or of the first two."""
    if martingales:
        for i in range(FEATURES):
            for j in range(FEATURES):
                sums[i, j] += one[i] * two[j]
    else:
        for i in range(2):
            for j in range(2):
                sums[i, j] += one[i] * two[j]


@jit
def compare(unit, half, controls, lane, wanted, block):
    """Add one run's differences between arms that it pulled, and its highest mean; of equals the first is highest."""
    best, highest, arm_count, features = 0, -np.inf, block.arm_count, block.features
    top = features[arm_count]
    top[:] = 0.0
    for arm in range(arm_count):
        other = controls[arm]
        add_products(features[arm], features[other], wanted.martingales, wanted.cross[unit, arm, half])
        if features[arm, 0] > 0 and features[other, 0] > 0:
            error = features[arm, 1] - features[other, 1]
            wanted.difference_sums[unit, arm, 0] += 1.0
            wanted.difference_sums[unit, arm, 1] += error
            wanted.difference_sums[unit, arm, 2] += error * error
        at = arm * LANES + lane
        if block.all_pulls[at] > 0 and block.all_sums[at] / block.all_pulls[at] > highest:
            best, highest = arm, block.all_sums[at] / block.all_pulls[at]
        for i in range(2, FEATURES):
            top[i] += features[arm, i]
    top[0], top[1] = 1.0, features[best, 1]
    add_products(top, top, wanted.martingales, wanted.winner[unit, half])
