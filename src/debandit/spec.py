"""`name(key=value, ...)`: how rules and worlds are written on the command line and in results.

A wrapper has the rule inside it first: `batched(ucb(c=2), size=500)`. A bare number or list is the first option:
`ucb(2)`, `batched(ucb, 500)`. Names are read in upper or lower case.

Only literals are read; nothing is ever evaluated.
"""

import ast
import difflib
import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from debandit.errors import InputError, shorten

Options = dict[str, Any]
INNER = "policy"  # the option that is written first and without its name ...
INNERS = {INNER: "RULE", "world": "WORLD"}  # ... or of a world; and how it is shown
FIRST = ""  # what was written without a name is the first option, whatever that is called


class Parsed(NamedTuple):
    """A name, and its options as literals; the inner one is Parsed in turn."""

    name: str
    options: Options


def parse(text: str) -> Parsed | None:
    """Split `name(key=value, ...)` into the name and its options; None if it is not of that form."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
        if any(isinstance(node, ast.Set) for node in ast.walk(tree)):
            return None  # it would forget the order of what is in it, and what is there twice
        return _parsed(tree.body)
    except (SyntaxError, TypeError, ValueError, MemoryError, RecursionError):  # TypeError: a key that is a list
        return None


def _parsed(node: ast.expr) -> Parsed:
    if isinstance(node, ast.Name):
        return Parsed(node.id, {})
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
        raise ValueError("neither a name nor a name with options")
    options, bare = {_name_of(key): _literal(key.value) for key in node.keywords}, list(node.args)
    if len(options) < len(node.keywords):
        raise ValueError("an option twice")
    if bare and isinstance(bare[0], (ast.Name, ast.Call)):
        options = {INNER: _parsed(bare.pop(0)), **options}
    if len(bare) > 1:
        raise ValueError("several options without names")
    return Parsed(node.func.id, {FIRST: ast.literal_eval(bare[0]), **options} if bare else options)


def build(text: str, makers: Mapping[str, Callable[..., Any]], where: str, kind: str) -> Any:
    """Make the object that `text` describes with one of `makers`."""
    return _built(parse(text), text, makers, where, kind)


def unknown(name: str, makers: Mapping[str, Callable[..., Any]], where: str, kind: str) -> InputError:
    """There is no such name."""
    what, guess = f"there is no {kind} {shorten(name)!r}", difflib.get_close_matches(name.lower(), makers, 1)
    if not guess:
        return InputError(what, where=where, remedy=f"There are:\n{listing(makers)}")
    likely, others = usage(guess[0], makers[guess[0]]), ", ".join(other for other in makers if other != guess[0])
    return InputError(
        what, where=where, remedy=f"Did you mean {guess[0]}? It is written {likely}.\nThere are also {others}."
    )


def _built(parsed: Parsed | None, text: str, makers: Mapping[str, Callable[..., Any]], where: str, kind: str) -> Any:
    name = text.partition("(")[0].strip() if parsed is None else parsed.name
    name = name if name in makers else next((known for known in makers if known.lower() == name.lower()), name)
    if name not in makers:
        raise unknown(name, makers, where, kind)
    remedy = f"It is written {usage(name, makers[name])}, with numbers, words or lists of them."
    if parsed is None:
        raise InputError(f"cannot read {shorten(text)!r}", where=where, remedy=remedy)
    known, options = signature(makers[name]), parsed.options
    inside = _inside(makers[name])
    if isinstance(options.get(INNER), Parsed):
        if not inside:
            raise InputError(f"{name} takes no {kind} inside", where=where, remedy=remedy)
        options = {inside if option == INNER else option: value for option, value in options.items()}
    if FIRST in options:
        options = _with_first(name, options, [option for option, _ in known if option != inside], where, remedy)
    strange = [option for option in options if option not in dict(known)]
    if strange:
        raise InputError(f"{name} has no option {shorten(strange[0])!r}", where=where, remedy=remedy)
    missing = [option for option, default in known if default is None and option not in options]
    if missing:
        raise InputError(f"{name} needs {', '.join(missing)}", where=where, remedy=remedy)
    if isinstance(inner := options.get(inside), Parsed):
        options = options | {inside: _built(inner, text, makers, where, kind)}
    return makers[name](**options)


def _with_first(name: str, options: Options, known: list[str], where: str, remedy: str) -> Options:
    """The options, of which the one that was written without a name gets its own."""
    if not known:
        raise InputError(f"{name} has no options", where=where, remedy=remedy)
    if known[0] in options:
        raise InputError(f"{name} is given {known[0]} twice", where=where, remedy=remedy)
    return {known[0] if option == FIRST else option: value for option, value in options.items()}


def signature(maker: Callable[..., Any]) -> list[tuple[str, str | None]]:
    """The options of a class with the text of their defaults; None: has no default."""
    return [
        (name, None if option.default is option.empty else repr(option.default))
        for name, option in inspect.signature(maker).parameters.items()
    ]


def usage(name: str, maker: Callable[..., Any]) -> str:
    """For example ucb(c=1.0)."""
    inner = _inside(maker)
    options = ", ".join(
        INNERS[key] if key == inner else f"{key}={default or '...'}" for key, default in signature(maker)
    )
    return f"{name}({options})" if options else name


def _inside(maker: Callable[..., Any]) -> str:
    """The option that is an inner one and more than text; empty if there is none."""
    parameters = inspect.signature(maker).parameters
    return next((name for name in INNERS if name in parameters and parameters[name].annotation is not str), "")


def listing(makers: Mapping[str, Callable[..., Any]]) -> str:
    """One line for each of them."""
    return "\n".join(f"  {usage(name, maker)}" for name, maker in makers.items())


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
