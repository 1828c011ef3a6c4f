"""A Chinese subset font for matplotlib, whose own font draws boxes instead of Chinese."""

import shutil
from pathlib import Path

from publish import npm, paths
from publish.console import Console
from publish.steps import Step
from publish.tools import fresh_folder

SOURCE = paths.NODE_MODULES / "@expo-google-fonts" / "noto-sans-sc"
TEXTS = (paths.CONTENT / "lessons", paths.CONTENT / "lessonkit", paths.CONTENT / "exercises", paths.CONTENT / "zeroledger")
TEXT_SUFFIXES = {".py", ".json", ".toml"}
FONT = paths.FONT / "NotoSansSC-subset.ttf"
LICENCE = paths.FONT / "OFL.txt"

LATIN = range(0x20, 0x250)
PUNCTUATION = [*range(0x2010, 0x2040), *range(0x3000, 0x3020), *range(0xFF01, 0xFF5F)]
MATHEMATICS = [*range(0x2070, 0x20A0), *range(0x2190, 0x2270)]


def make_font(console: Console) -> None:
    """Writes the subset and its licence."""
    # Imported here: fontTools takes a while, and an unchanged build needs none of it.
    from fontTools import subset

    fresh_folder(paths.FONT)
    options = subset.Options(layout_features=["kern"], hinting=False, notdef_outline=True, name_IDs=[0, 1, 2, 3, 4, 5, 6, 13, 14])
    font = subset.load_font(str(SOURCE / "400Regular" / "NotoSansSC_400Regular.ttf"), options)
    subsetter = subset.Subsetter(options)
    subsetter.populate(unicodes=wanted_characters())
    subsetter.subset(font)
    subset.save_font(font, str(FONT), options)
    shutil.copyfile(SOURCE / "LICENSE_FONT", LICENCE)


def wanted_characters() -> set[int]:
    """The code points of all course text, of common Chinese and of the signs that charts use."""
    texts = [common_chinese(), *(text_of(folder) for folder in TEXTS)]
    return {ord(sign) for text in texts for sign in text} | {*LATIN, *PUNCTUATION, *MATHEMATICS}


def text_of(folder: Path) -> str:
    """All text below the folder, in one string."""
    files = sorted(file for file in folder.rglob("*") if file.suffix in TEXT_SUFFIXES)
    return "".join(file.read_text(encoding="utf-8") for file in files)


def common_chinese() -> str:
    """The 3,755 characters of GB 2312, level 1: what a learner's own label is made of."""
    pairs = (bytes((row, cell)) for row in range(0xB0, 0xD8) for cell in range(0xA1, 0xFF))
    return b"".join(pairs).decode("gb2312", errors="ignore")


STEP = Step("Chinese chart font", make_font, inputs=TEXTS, outputs=(FONT, LICENCE), after=(npm.STEP,))
