"""The guide for people who teach with the course, en/teach/ and zh/teach/, and the exporter's wheel beside it in teach/."""

import shutil

from publish import exporter_wheel, paths, scripts
from publish.console import Console
from publish.steps import Step
from publish.tools import fresh_folder

SLUG = "teach"
GUIDES = paths.PUBLISH / "templates" / "teach"


def build(console: Console) -> None:
    """Writes both pages and copies the wheel."""
    from publish.lesson_calls import FOLDER_OF_LANGUAGE, LANGUAGES
    from publish.page_exporter import LessonPageExporter  # here: nbconvert takes long to import

    folder, exporter = fresh_folder(paths.TEACH), LessonPageExporter()
    (folder / SLUG).mkdir()
    wheel = next(paths.EXPORTER.glob("*.whl"))
    shutil.copyfile(wheel, folder / SLUG / wheel.name)
    for lang in LANGUAGES:
        page = folder / FOLDER_OF_LANGUAGE[lang] / SLUG / "index.html"
        page.parent.mkdir(parents=True)
        page.write_text(teach_page(exporter, lang, wheel.name), encoding="utf-8")


def teach_page(exporter, lang, wheel_name):
    """The page in `lang` as HTML; `wheel_name` is the exporter's file."""
    from lessonkit import i18n
    from publish.lesson_calls import FOLDER_OF_LANGUAGE
    from publish.page_context import PageContext
    from zeroledger import format_bytes, ledger

    source = (GUIDES / f"{FOLDER_OF_LANGUAGE[lang]}.md").read_text(encoding="utf-8")
    figure = format_bytes(ledger(7e9).model_states_bytes_per_rank, "GB", 0)
    guide = exporter.environment.from_string(source).render(wheel=wheel_name, figure=figure)
    title = i18n.text("page.teach.title", lang)
    context = PageContext(lang=lang, root="../../", slug=SLUG, page_title=f"{title} · {i18n.text('page.site', lang)}",
                          description=i18n.text("page.teach.intro", lang))
    return exporter.render_template("teach.html.j2", zero=context, guide=guide)


STEP = Step(
    "guide for teachers", build, outputs=(paths.TEACH,), after=(scripts.STEP, exporter_wheel.STEP),
    inputs=(GUIDES, paths.PUBLISH / "templates/zero_lesson", paths.PUBLISH / "page_context.py", paths.PUBLISH / "page_exporter.py",
            paths.CONTENT / "lessonkit/strings.json"),
)
