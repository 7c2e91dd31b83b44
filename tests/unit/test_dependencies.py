"""The locked versions of the tests, in tests/constraints.txt, suit pyproject.toml."""

import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
ASKED = [
    Requirement(text)
    for texts in (PROJECT["dependencies"], *PROJECT["optional-dependencies"].values())
    for text in texts
    if not text.startswith("debandit[")
]
PINS = [
    Requirement(line)
    for line in (ROOT / "tests" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
]


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_one_allowed_version_is_locked(asked, python):
    """Where it is not, `make lock` was forgotten."""
    environment = {"python_version": python, "python_full_version": f"{python}.9", "sys_platform": sys.platform}
    name = canonicalize_name(asked.name)
    pins = [pin for pin in PINS if pin.name == name and (not pin.marker or pin.marker.evaluate(environment))]
    (version,) = [clause.version for pin in pins for clause in pin.specifier]
    assert version in asked.specifier


def test_only_versions_are_locked():
    for pin in PINS:
        assert [clause.operator for clause in pin.specifier] == ["=="], pin
        assert pin.url is None
