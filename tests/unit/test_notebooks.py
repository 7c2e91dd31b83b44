"""What notebooks show of public objects: HTML, in which labels do no harm."""

import numpy as np
import pytest

import debandit as db

LABEL = "<b>A&B</b>"
LOG = db.ExperimentLog([LABEL, "B"] * 20, np.sin(np.arange(40.0)))


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (lambda: LOG, "A log of 40 rounds of 2 arms"),
        (lambda: db.debias(LOG, "uniform", runs=32), "averages"),
        (lambda: db.check(LOG, "uniform"), "drift of rewards"),
        (lambda: db.identify(LOG), "rule"),
        (lambda: db.compare(LOG, "uniform", runs=32), "AIPW"),
        (lambda: db.simulate("uniform", "bernoulli([0.1, 0.2])", horizon=20, runs=10), "10 runs of uniform"),
        (
            lambda: db.plan("uniform", "bernoulli([0.1, 0.2])", horizon=20, experiments=2, runs=10),
            "Arm 2, the best one",
        ),
    ],
)
def test_html(shown, words):
    html = shown()._repr_html_()
    assert words in html
    assert "<table>" in html or "<pre>" in html
    assert LABEL not in html


def test_a_stack_of_worlds():
    worlds = db.worlds.Bernoulli([[0.1, 0.2], [0.3, 0.4]])
    assert "2 worlds" in db.simulate("uniform", worlds, horizon=20, runs=5)._repr_html_()
