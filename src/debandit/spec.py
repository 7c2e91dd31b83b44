"""`name(key=value, ...)`: how rules and worlds are written on the command line and in results.

Only literals are read; nothing is ever evaluated.
"""

import ast
import difflib
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from debandit.errors import InputError, shorten

Options = dict[str, Any]


def parse(text: str) -> tuple[str, Options] | None:
    """Split `name(key=value, ...)` into the name and its options; None if it is not of that form."""
    try:
        node = ast.parse(text.strip(), mode="eval").body
        if isinstance(node, ast.Name):
            return node.id, {}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
            return node.func.id, {_name_of(key): _literal(key.value) for key in node.keywords}
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        pass
    return None


def build(text: str, makers: Mapping[str, Callable[..., Any]], where: str, kind: str) -> Any:
    """Make the object that `text` describes with one of `makers`."""
    parsed = parse(text)
    name = text.partition("(")[0].strip() if parsed is None else parsed[0]
    if name not in makers:
        guess = difflib.get_close_matches(name, makers, 1)
        hint = f"Did you mean {guess[0]}? " if guess else ""
        raise InputError(
            f"there is no {kind} {shorten(name)!r}", where=where, remedy=f"{hint}There are:\n{listing(makers)}"
        )
    remedy = f"It is written {usage(name, makers[name])}, with numbers, words or lists of them."
    if parsed is None:
        raise InputError(f"cannot read {shorten(text)!r}", where=where, remedy=remedy)
    known, options = signature(makers[name]), parsed[1]
    strange = [option for option in options if option not in dict(known)]
    if strange:
        raise InputError(f"{name} has no option {shorten(strange[0])!r}", where=where, remedy=remedy)
    missing = [option for option, default in known if default is None and option not in options]
    if missing:
        raise InputError(f"{name} needs {', '.join(missing)}", where=where, remedy=remedy)
    return makers[name](**options)


def signature(maker: Callable[..., Any]) -> list[tuple[str, str | None]]:
    """The options of a class with the text of their defaults; None: has no default."""
    return [
        (name, None if option.default is option.empty else repr(option.default))
        for name, option in inspect.signature(maker).parameters.items()
    ]


def usage(name: str, maker: Callable[..., Any]) -> str:
    """For example ucb(c=1.0)."""
    options = ", ".join(f"{key}={default or '...'}" for key, default in signature(maker))
    return f"{name}({options})" if options else name


def listing(makers: Mapping[str, Callable[..., Any]]) -> str:
    """One line for each of them."""
    return "\n".join(f"    {usage(name, maker)}" for name, maker in makers.items())


def _name_of(key: ast.keyword) -> str:
    if key.arg is None:
        raise ValueError("** in a specification")
    return key.arg


def _literal(node: ast.expr) -> Any:
    """A literal. A bare word, or one with (key=value, ...), is a string: nested quotes are hard to type in a shell."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
        for key in node.keywords:
            _name_of(key), _literal(key.value)
        return ast.unparse(node)
    return ast.literal_eval(node)
