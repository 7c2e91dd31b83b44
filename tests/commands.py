"""The command line in this process, which is sooner than one of its own: for what is printed and returned."""

import contextlib
import io
import warnings
from subprocess import CompletedProcess

from debandit.cli import main


def run(*arguments, cwd="."):
    """What a command prints and returns; a traceback would be an error of the test."""
    words, out, err = [*map(str, arguments)], io.StringIO(), io.StringIO()
    with (
        contextlib.chdir(cwd),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        warnings.catch_warnings(),  # main shows them in its own way
    ):
        warnings.resetwarnings()
        code = main(words)
    return CompletedProcess(words, code, out.getvalue(), err.getvalue())


def flat(text):
    """A text without the ends of its lines, which may stand between any two words."""
    return " ".join(text.split())


def fails(code, *arguments, **options):
    """The error text of a command that must end with that exit code, without any output."""
    result = run(*arguments, **options)
    assert result.returncode == code, result.stderr
    assert result.stdout == ""
    return result.stderr
