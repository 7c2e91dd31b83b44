"""What is kept of compiled code never changes an answer: damaged, foreign, forged or stale, it is compiled anew."""

import functools
import os
import resource
import shutil
import subprocess
import sys

import pytest
from faults.caches import contents, flipped, foreign, run, truncated

from debandit.engine import keeping
from debandit.errors import CacheWarning

SAID = "debandit: compiling the loop for selected rules, once"


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A cache with one kernel in it, and what was printed when it was compiled."""
    cache = tmp_path_factory.mktemp("filled") / "cache"
    return cache, run(cache)


def test_a_second_process_compiles_nothing(filled):
    """The message appears although nobody watches, because it takes longer than a second; then never again."""
    cache, first = filled
    kept = contents(cache)
    second = run(cache)
    assert first.stderr.strip() == SAID
    assert second.stderr == ""
    assert second.stdout == first.stdout
    assert contents(cache) == kept
    assert not [path for path in kept if ".tmp" in path.name]
    assert all(path.stat().st_mode & 0o022 == 0 for path in (cache, *cache.rglob("*")))


@pytest.mark.parametrize(
    ("what", "damaged"),
    [("*.run-*.nbi", truncated), ("*.run-*.nbc", flipped), ("*.run-*.nbc", foreign), ("seal*", foreign)],
)
def test_what_is_damaged_is_removed(filled, tmp_path, what, damaged):
    """And, if the seal is damaged, everything that it vouched for."""
    cache = shutil.copytree(filled[0], tmp_path / "cache")
    (path,) = cache.rglob(what)
    path.write_bytes(damaged(path.read_bytes()))
    before = {name.relative_to(cache) for name in contents(cache) if name.suffix in (".nbi", ".nbc", ".py")}
    look = "from debandit.engine.keeping import one_at_a_time\nwith one_at_a_time(): pass"
    environment = {**os.environ, "DEBANDIT_CACHE_DIR": str(cache)}
    subprocess.run([sys.executable, "-c", look], check=True, env=environment)
    after = {name.relative_to(cache) for name in contents(cache)}
    assert before - after == (before if what == "seal*" else {path.relative_to(cache)})


def test_damage_leads_to_a_new_compile(filled):
    """Also if it is a single bit of the code itself, which numba would run; afterwards the cache is as good as new."""
    cache, first = filled
    (path,) = cache.rglob("*.run-*.nbc")
    path.write_bytes(flipped(path.read_bytes()))
    mended = run(cache)
    assert (mended.stdout, mended.stderr.strip()) == (first.stdout, SAID)
    again = run(cache)
    assert (again.stdout, again.stderr) == (first.stdout, "")


@pytest.fixture
def nothing_known(monkeypatch):
    """As in a new process, which has not looked at the cache yet."""
    monkeypatch.setattr(keeping, "_failures", [])
    monkeypatch.setattr(keeping, "_made_directory", functools.cache(keeping._made_directory.__wrapped__))


def test_a_directory_that_others_can_write_to_is_not_used(tmp_path, monkeypatch, nothing_known):
    (tmp_path / "cache").mkdir()
    monkeypatch.setenv("DEBANDIT_CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "cache").chmod(0o777)
    with pytest.warns(CacheWarning, match=f"others can write to {tmp_path / 'cache'}.*DEBANDIT_CACHE_DIR"):
        assert keeping.kept_directory() is None
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("name", ["own", "link"])
@pytest.mark.parametrize(("mode", "used"), [(0o755, True), (0o777, False), (0o1777, True)])
def test_nor_is_one_that_others_can_replace(tmp_path, monkeypatch, nothing_known, mode, used, name):
    """Who can write to a folder above can rename the cache, and put another in its place. A sticky one forbids that."""
    shared = tmp_path / "shared"
    (shared / "own").mkdir(parents=True, mode=0o700)
    (shared / "link").symlink_to(shared / "own")
    shared.chmod(mode)
    monkeypatch.setenv("DEBANDIT_CACHE_DIR", str(shared / name / "cache"))
    if used:
        assert keeping.kept_directory() is not None
    else:
        with pytest.warns(CacheWarning, match=f"others can write to {shared}"):
            assert keeping.kept_directory() is None


def test_nobody_is_at_home(monkeypatch, nothing_known):
    """A user whom the system does not know, as in many containers."""
    monkeypatch.setattr(keeping.Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    for name in ("DEBANDIT_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    with pytest.warns(CacheWarning, match=r"this user has no home directory.*DEBANDIT_CACHE_DIR"):
        assert keeping.kept_directory() is None


def test_damage_is_noticed_before_every_load_and_not_vouched_for(tmp_path, monkeypatch, nothing_known):
    """Also if it came after the process had looked for the first time."""
    monkeypatch.setenv("DEBANDIT_CACHE_DIR", str(tmp_path))
    folder = keeping.kept_directory()
    one, other = folder / "one.nbc", folder / "other.nbc"
    with keeping.one_at_a_time() as sound:
        one.write_text("as it was compiled")
        keeping.seal(sound)
    with keeping.one_at_a_time() as sound:
        other.write_text("compiled later")
        one.write_text("damaged meanwhile")
        keeping.seal(sound)
    with keeping.one_at_a_time() as sound:
        assert set(sound) == {other}
    assert not one.exists()
    other.write_text("forged")
    with keeping.one_at_a_time() as sound:
        assert not sound


def test_a_new_directory_is_private_whatever_files_usually_are(tmp_path, monkeypatch, nothing_known):
    """Where groups may write to new files, as on many systems, the cache was refused as soon as it was made."""
    monkeypatch.setenv("DEBANDIT_CACHE_DIR", str(tmp_path / "some" / "cache"))
    before = os.umask(0o002)
    try:
        folder = keeping.kept_directory()
    finally:
        os.umask(before)
    assert folder is not None
    assert all(each.stat().st_mode & 0o077 == 0 for each in (folder, folder.parent, tmp_path / "some" / "cache"))


def test_a_place_that_is_no_directory_is_said_once_and_harmless(filled, tmp_path):
    """As is one that is not used."""
    (tmp_path / "file").write_text("")
    done = run(tmp_path / "file" / "cache")
    assert done.stderr.count("warning:") == 1
    assert "DEBANDIT_CACHE_DIR" in done.stderr
    assert done.stdout == filled[1].stdout


def test_a_full_disk_is_said_once_and_harmless(filled, tmp_path):
    """Files may not become larger than the text of a kernel, whose code then cannot be kept, nor what it shares."""
    full = run(tmp_path, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8000, 8000)))
    assert full.stderr.count("warning: compiled code cannot be kept") == 1
    assert "Traceback" not in full.stderr
    assert full.stdout == filled[1].stdout
    assert not [path for path in contents(tmp_path) if ".tmp" in path.name]
    assert not list((keeping.PACKAGE / "engine" / "compiled" / "__pycache__").glob("*.nb?"))  # nor kept elsewhere
    after = run(tmp_path)
    assert (after.stdout, after.stderr.strip()) == (full.stdout, SAID)


RULE = """
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
import sys
sys.path.insert(0, str(Path(__file__).parent))
from helper import bonus
from debandit.rules import SelectRule

@dataclass(frozen=True)
class Mine(SelectRule):
    name: ClassVar[str] = "mine"

    @staticmethod
    def select(pulls, sums):
        return int(sums[1] / pulls[1] + bonus(pulls[1]) > sums[0] / pulls[0] + bonus(pulls[0]))
"""
HELPER = """
import numba

@numba.njit
def bonus(pulls):
    return BONUS / pulls
"""


def test_a_rule_whose_helper_is_edited_gives_the_new_answer(filled, tmp_path):
    """Rules of users are not kept, because nobody knows what all they import."""
    (tmp_path / "mine.py").write_text(RULE)
    cache, _ = filled
    kept = contents(cache)

    def answer(bonus):
        (tmp_path / "helper.py").write_text(HELPER.replace("BONUS", bonus))
        done = run(cache, f"{tmp_path / 'mine.py'}:Mine")
        assert "runs the file" in done.stderr
        return done.stdout

    assert answer("1.0") != answer("0.5")
    assert {path.name for path in contents(cache)} == {path.name for path in kept}
