"""The command that shows the page."""

import click

from debandit.app import MOST_MEGABYTES, PORT
from debandit.cli.options import Whole


@click.command()
@click.option("--port", type=Whole(1, 65535), help=f"Port of this machine.  [default: {PORT}, or a free one]")
@click.option("--no-browser", is_flag=True, help="Do not open a browser.")
@click.option(
    "--max-upload",
    type=Whole(1),
    default=MOST_MEGABYTES,
    show_default=True,
    metavar="MB",
    help="The largest file that is read.",
)
def app(port: int | None, no_browser: bool, max_upload: int) -> None:
    """Open a page in the browser that does all this without commands.

    Drop a file, say which column is what and which rule chose the arms, and read the report. Only this machine can
    reach the page, nothing leaves it, and nothing is kept when it ends. It needs pip install 'debandit[app]'.
    """
    from debandit.app import serve

    serve(port, max_upload * 2**20, click.echo, open_browser=not no_browser)
