"""What the README tells people to type works, and prints what it shows."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def execute(command, cwd):
    result = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", cwd=cwd, timeout=300)
    assert result.returncode == 0, result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("readme")


def test_console_blocks(directory):
    blocks = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            words = shlex.split(command)
            assert words[0] == "debandit"
            printed = execute([sys.executable, "-m", *words], directory)
            if shown.strip():
                assert printed.rstrip() == shown.rstrip()


def test_python_blocks(directory):
    for block in re.findall(r"```python\n(.*?)```", README, re.DOTALL):
        assert "corrected mean" in execute([sys.executable, "-c", block], directory)


def test_make_targets():
    targets = re.findall(r"^make (\w+)", README, re.MULTILINE)
    assert targets == ["demo", "test"]
    assert "91 got drug A" in execute(["make", "--silent", "demo"], ROOT)
    assert re.search(r"^test:", (ROOT / "Makefile").read_text(), re.MULTILINE)  # it is what runs this


def test_ci_calls_the_test_command():
    assert "make test" in (ROOT / ".ci" / "run").read_text()
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
