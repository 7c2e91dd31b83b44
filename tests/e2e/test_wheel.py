"""What is installed is complete: all data files, nothing of the tests, and it works without the repository."""

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

import debandit as db

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=60)
    (path,) = folder.iterdir()
    return path


def test_it_holds_the_package_and_nothing_else(wheel):
    source = ROOT / "src"
    files = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    names = set(ZipFile(wheel).namelist())
    assert {name for name in names if ".dist-info/" not in name} == {
        name for name in files if "__pycache__" not in name
    }
    assert {Path(name).suffix for name in names} >= {".toml", ".csv", ".html", ".css", ".js"}


def test_it_works_without_the_repository(wheel, tmp_path):
    ZipFile(wheel).extractall(tmp_path / "installed")
    (tmp_path / "empty").mkdir()

    def python(*arguments):
        environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
        command = [sys.executable, *arguments]
        done = subprocess.run(
            command, cwd=tmp_path / "empty", env=environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    used = python("-c", "import debandit; print(debandit.__file__)")
    assert used.startswith(str(tmp_path / "installed"))
    python("-m", "debandit", "demo", "--save", "trial.csv")
    assert (tmp_path / "empty" / "trial.csv").read_text().startswith("patient,drug,response\n")
    assert "growthbook" in python("-m", "debandit", "presets")
    assert "Usage: debandit app" in python("-m", "debandit", "app", "--help")
    result = db.debias({"arm": [0, 1] * 20, "reward": [1.0, 0.5] * 20}, "fixed_weights([0.5, 0.5])", runs=100)
    result.to_json(tmp_path / "empty" / "result.json")
    python("-m", "debandit", "report", "result.json")
    assert "</html>" in (tmp_path / "empty" / "report.html").read_text(encoding="utf-8")
