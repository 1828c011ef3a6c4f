"""The notebooks of lessons 8 and 9 that are opened locally, with PyTorch: one archive each, ready to unpack and run.

Sources are content/lessons/local/NN_slug.py, in the form of lesson sources (publish.lessons); their number says to which
lesson they belong. An archive holds the notebook in one language, the packages it imports, the measuring kit and the
training script, so that nothing but torch and jupyter is to be installed.
"""

import zipfile
from pathlib import Path

import nbformat

from . import paths
from .lessons import load_lessons

SOURCES = paths.CONTENT / "lessons/local"
PACKAGES = ("zeroledger", "lessonkit", "exercises")
SCRIPTS = (paths.CONTENT / "measure/zeroledger_measure.py", paths.CONTENT / "measure/small_training.py", paths.ROOT / "LICENSE")
LONG_AGO = (2020, 1, 1, 0, 0, 0)  # a fixed time, so that equal content gives equal bytes


def local_lessons():
    """{lesson number: its local lesson}. LessonError on a faulty source."""
    return {lesson.number: lesson for lesson in load_lessons(SOURCES)}


def archive_name(lesson):
    """`08-prediction-torch.zip`."""
    return Path(lesson.notebook_name).with_suffix(".zip").name


def write_archive(lesson, lang, path):
    """Writes the archive of a local lesson in `lang`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(lesson.notebook_name).stem
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in _members(lesson, lang):
            info = zipfile.ZipInfo(f"{folder}/{name}", LONG_AGO)
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, content)


def _members(lesson, lang):
    """(name in the archive, bytes) of each file."""
    yield lesson.notebook_name, (nbformat.writes(lesson.notebook(lang)) + "\n").encode()
    for script in SCRIPTS:
        yield script.name, script.read_bytes()
    for package in PACKAGES:
        for file in sorted((paths.CONTENT / package).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                yield file.relative_to(paths.CONTENT).as_posix(), file.read_bytes()
