"""The notebook of the examples, run cell by cell in this process: it needs neither Jupyter nor a kernel."""

import ast
import base64
import contextlib
import io
import json
from pathlib import Path

from debandit.plots import svg_of

NOTEBOOK = "examples/tour.ipynb"
ROOT = Path(__file__).parents[1]


def cells_of(notebook):
    """The cells with code."""
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def executed(folder):
    """The notebook as a file, with the outputs that its cells have now, run in a folder with the examples."""
    notebook, names = json.loads((ROOT / NOTEBOOK).read_text(encoding="utf-8")), {}
    with contextlib.chdir(folder / "examples"):
        for number, cell in enumerate(cells_of(notebook), 1):
            cell["execution_count"], cell["outputs"] = (
                number,
                outputs(ast.parse("".join(cell["source"])), names, number),
            )
    return json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"


def outputs(code, names, number):
    """What a cell prints, and its last expression, if it ends with one."""
    last = ast.Expression(code.body.pop().value) if isinstance(code.body[-1], ast.Expr) else None
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, f"cell {number}", "exec"), names)
        value = None if last is None else eval(compile(last, f"cell {number}", "eval"), names)
    said = [{"name": "stdout", "output_type": "stream", "text": out.getvalue().splitlines(keepends=True)}]
    shown = [{"data": data_of(value), "execution_count": number, "metadata": {}, "output_type": "execute_result"}]
    return said * bool(out.getvalue()) + shown * (value is not None)


def data_of(value):
    """A value as a notebook shows it: a picture, a table, or text."""
    if type(value).__module__.startswith("altair"):
        import vl_convert

        picture = base64.b64encode(vl_convert.svg_to_png(svg_of(value))).decode()
        return {"image/png": picture, "text/plain": ["a picture"]}
    text = {"text/plain": str(value).splitlines(keepends=True)}
    return (
        {"text/html": value._repr_html_().splitlines(keepends=True), **text} if hasattr(value, "_repr_html_") else text
    )
