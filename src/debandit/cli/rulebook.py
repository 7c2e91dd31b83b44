"""The command that explains the rules."""

import click

from debandit.cli.printing import printed_as, show


@click.command()
@click.argument("name", metavar="[RULE]", required=False)
@click.option("--details", is_flag=True, help="Everything that is known of all of them.")
@printed_as
def rules(name: str | None, details: bool, form: str, json_path: str | None) -> None:
    """List the rules, or say all that is known of one of them.

    A rule's formula, its options with their limits and defaults, its other names, the platforms that use it, and who
    proposed it. What may be around a rule, such as batched, is listed as well.
    """
    from debandit.files import check_target
    from debandit.policies.rulebook import Rulebook, find

    if json_path is not None:
        check_target(json_path)
    show(Rulebook(details) if name is None else find(name, "rules"), form, json_path)
