"""Makes `oracle`, `catalogue` and `peeking` importable from every test folder."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

# what a script runs in the background ignores Ctrl-C, and so would the commands that are tested
signal.signal(signal.SIGINT, signal.default_int_handler)

# the same examples every time, and no opinion about how busy the machine is
settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fixed")


@pytest.fixture
def in_steps(monkeypatch):
    """Whole batches are drawn at once also if they are small: what is true of small ones is tested sooner."""
    monkeypatch.setattr("debandit.engine.experiment.WORTH_A_STEP", 50)


def pytest_configure(config):
    """Before the whole suite runs in several workers: each would compile all the kernels, so they share them out."""
    workers = getattr(config.option, "numprocesses", None)
    if not workers or hasattr(config, "workerinput") or config.args != config.getini("testpaths"):
        return
    script = str(Path(__file__).with_name("compile_kernels.py"))
    started = [subprocess.Popen([sys.executable, script, str(i), str(workers)]) for i in range(workers)]
    assert [process.wait() for process in started] == [0] * workers
