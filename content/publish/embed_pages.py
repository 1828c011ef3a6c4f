"""The two pages around embedding: /cell/, which an iframe shows, and /<lang>/build/, which makes the snippet for it."""

BUILD_SLUG = "build"


def cell_page(exporter, context):
    """The page /cell/ as HTML, one for both languages; its address says what it shows."""
    return exporter.render_template("cell.html.j2", zero=context)


def build_page(exporter, context):
    """The builder in its context's language as HTML."""
    return exporter.render_template("build.html.j2", zero=context)
