"""The page of API docs, en/api/ and zh/api/: docstrings of the package under the site's own header.

Docstrings are English; the Chinese page says so and translates what stands around them.
"""

from publish import paths, scripts
from publish.console import Console
from publish.steps import Step
from publish.tools import fresh_folder

SLUG = "api"


def build(console: Console) -> None:
    """Writes both pages."""
    from publish.lessons import FOLDER_OF_LANGUAGE, LANGUAGES
    from publish.page_exporter import LessonPageExporter  # here: nbconvert takes long to import

    folder, exporter = fresh_folder(paths.API), LessonPageExporter()
    for lang in LANGUAGES:
        page = folder / FOLDER_OF_LANGUAGE[lang] / SLUG / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text(api_page(exporter, lang), encoding="utf-8")


def api_page(exporter, lang):
    """The page in `lang` as HTML."""
    from lessonkit import i18n
    from publish.api_docs import groups
    from publish.pages import PageContext

    class ApiContext(PageContext):
        """A page without explorer, so without its grid."""

        grid_json = ""

    title = i18n.text("page.api.title", lang)
    context = ApiContext(lang=lang, root="../../", slug=SLUG, page_title=f"{title} · {i18n.text('page.site', lang)}",
                         description=i18n.text("page.api.intro", lang))
    return exporter.render_template("api.html.j2", zero=context, groups=groups())


STEP = Step(
    "API docs", build, outputs=(paths.API,), after=(scripts.STEP,),
    inputs=(paths.CONTENT / "zeroledger", paths.PUBLISH, paths.CONTENT / "lessonkit/strings.json"),
)
