"""The exercise bank: one TOML file an item, read by lessonkit.bank. A package only so that the wheel carries the files."""
