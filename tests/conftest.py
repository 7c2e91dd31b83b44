"""Makes `oracle`, `catalogue` and `peeking` importable from every test folder."""

import signal
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent))

# what a script runs in the background ignores Ctrl-C, and so would the commands that are tested
signal.signal(signal.SIGINT, signal.default_int_handler)

# the same examples every time, and no opinion about how busy the machine is
settings.register_profile("fixed", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("fixed")
