"""``draftgate docs``: the pages that came with this version."""

import json

import click


@click.command()
@click.argument("topic", required=False)
@click.option("--json", "as_json", is_flag=True, help="One machine-readable object on stdout.")
def command(topic: str | None, as_json: bool) -> int:
    """Print the page TOPIC as Markdown; without one, list all pages.

    TOPIC is a page (`configuration`, `guides/ci`) or a finding code (`ARGS_NOT_JSON`), whose entry
    says how it is computed and what to do.
    """
    from draftgate.pages import folder, page, pages

    if topic is None:
        listed = list(pages())
        if as_json:
            rows = [{"page": p.name, "title": p.title, "file": str(p.file)} for p in listed]
            click.echo(json.dumps({"folder": str(folder()), "pages": rows}))
            return 0
        width = max((len(p.name) for p in listed), default=0)
        for one in listed:
            click.echo(f"{one.name:{width}}  {one.title}")
        click.echo(f"\nin {folder()}")
        return 0
    found = page(topic)
    if as_json:
        click.echo(json.dumps({"page": found.name, "file": str(found.file), "text": found.text}))
    else:
        click.echo(found.text, nl=False)
    return 0
