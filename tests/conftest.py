"""Makes `oracle`, `catalogue` and `peeking` importable from every test folder."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from debandit.engine.keeping import cache_directory

sys.path.insert(0, str(Path(__file__).parent))

# what a script runs in the background ignores Ctrl-C, and so would the commands that are tested
signal.signal(signal.SIGINT, signal.default_int_handler)

# a user without a home, or whose home cannot be written to, would compile everything in every process
try:
    cache_directory().mkdir(parents=True, exist_ok=True)
except OSError:
    os.environ["DEBANDIT_CACHE_DIR"] = str(Path(__file__).parents[1] / "build" / "cache")

# the same examples every time, and no opinion about how busy the machine is
settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fixed")


@pytest.fixture
def in_steps(monkeypatch):
    """Whole batches are drawn at once also if they are small: what is true of small ones is tested sooner."""
    monkeypatch.setattr("debandit.engine.experiment.WORTH_A_STEP", 50)


def pytest_configure(config):
    """Before the whole suite runs in several workers: one process compiles what they need, the most used kernel first.

    Compiling is done by one process at a time, so more of them would be of no use. As soon as there is the kernel that
    nearly all tests need, the workers begin, and the other core is not idle.
    """
    workers = getattr(config.option, "numprocesses", None)
    if not workers or hasattr(config, "workerinput") or config.args != config.getini("testpaths"):
        return
    script = str(Path(__file__).with_name("compile_kernels.py"))
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "debandit.engine.compiled.index\n"
    config.add_cleanup(process.communicate)
