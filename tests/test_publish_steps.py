"""The step runner: what is unchanged is skipped, what is not is made again, and failures are said."""

import io
import os

import pytest
from publish import paths
from publish.console import Console
from publish.errors import BuildError
from publish.steps import Step, run_steps


class Workshop:
    """Two steps in a folder: `copy` (source.txt → copy/copy.txt) and `shout` (→ shout.txt), which follows it."""

    def __init__(self, folder):
        self.source, self.copy, self.shout = folder / "source.txt", folder / "copy" / "copy.txt", folder / "shout.txt"
        self.stamps = folder / "stamps"
        self.made = []
        self.source.write_text("bytes")
        first = Step("copy", self.make_copy, inputs=(self.source,), outputs=(self.copy.parent,))
        self.steps = (first, Step("shout", self.make_shout, outputs=(self.shout,), after=(first,)))

    def make_copy(self, console):
        self.made.append("copy")
        self.copy.parent.mkdir(exist_ok=True)
        self.copy.write_text(self.source.read_text())

    def make_shout(self, console):
        self.made.append("shout")
        self.shout.write_text(self.copy.read_text().upper())

    def run(self):
        """What was made in this run."""
        self.made.clear()
        self.output = io.StringIO()
        run_steps(self.steps, Console(self.output), self.stamps)
        return list(self.made)


@pytest.fixture
def workshop(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "LOGS", tmp_path / "log")
    return Workshop(tmp_path)


def test_a_second_run_makes_nothing(workshop):
    assert workshop.run() == ["copy", "shout"]
    assert workshop.run() == []
    assert workshop.output.getvalue().count("unchanged") == 2


def test_a_changed_input_makes_its_step_and_those_after_it(workshop):
    workshop.run()
    workshop.source.write_text("elements")
    assert workshop.run() == ["copy", "shout"]
    assert workshop.shout.read_text() == "ELEMENTS"


def test_a_new_time_on_the_same_input_makes_nothing(workshop):
    workshop.run()
    os.utime(workshop.source, (1, 1))
    assert workshop.run() == []


def remove_copy(workshop):
    workshop.copy.unlink()


def edit_copy(workshop):
    workshop.copy.write_text("edited by hand")


def add_stray(workshop):
    (workshop.copy.parent / "stray.txt").write_text("")


def break_stamp(workshop):
    (workshop.stamps / "copy.json").write_text("{")


@pytest.mark.parametrize("damage", [remove_copy, edit_copy, add_stray, break_stamp])
def test_a_damaged_output_is_made_again(workshop, damage):
    workshop.run()
    damage(workshop)
    assert "copy" in workshop.run()
    assert workshop.copy.read_text() == "bytes"


def test_a_failure_names_its_step_and_the_remedy_and_is_tried_again(workshop):
    def fail(console):
        raise BuildError("no paper", "buy paper")

    workshop.run()
    good, workshop.source = workshop.steps, workshop.source
    workshop.steps = (Step("copy", fail, inputs=(workshop.source,), outputs=(workshop.copy.parent,)),)
    workshop.source.write_text("new")
    with pytest.raises(BuildError, match="step 'copy': no paper") as error:
        workshop.run()
    assert error.value.remedy == "buy paper"
    workshop.steps = good
    assert workshop.run() == ["copy", "shout"]


def test_a_bug_becomes_a_failure_with_a_traceback_on_file(workshop, tmp_path):
    workshop.source.unlink()
    with pytest.raises(BuildError, match="step 'copy': FileNotFoundError"):
        workshop.run()
    assert "make_copy" in (tmp_path / "log" / "copy.traceback.txt").read_text()


def test_a_step_that_leaves_out_its_output_fails(workshop):
    workshop.steps = (Step("idle", lambda console: None, outputs=(workshop.shout,)),)
    with pytest.raises(BuildError, match="did not make .*shout.txt"):
        workshop.run()


def test_output_that_is_no_terminal_has_no_control_characters(workshop):
    workshop.run()
    assert "\r" not in workshop.output.getvalue() and "\033" not in workshop.output.getvalue()
    assert len(workshop.output.getvalue().splitlines()) == 2
