"""Every reference value is used by a test, or listed here with the reason why not yet."""

import ast
from collections import Counter
from pathlib import Path

from cases import DATA, all_cases

TESTS = Path(__file__).parent

# kind → why its cases are in no test yet. Delete a line when a test takes the kind up.
NOT_YET = {}


def calls_of_cases_of():
    """(kinds, prefix) of every ``cases_of(…)`` call in the tests; calls with computed arguments are an error."""
    found = []
    for path in sorted(TESTS.glob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "cases_of":
                prefix = [keyword.value.value for keyword in node.keywords if keyword.arg == "prefix"]
                found.append(([argument.value for argument in node.args], prefix[0] if prefix else ""))
    return found


def unused_cases():
    """The cases that no call selects."""
    calls = calls_of_cases_of()
    return [case for case in all_cases()
            if not any(case["kind"] in kinds and case["id"].startswith(prefix) for kinds, prefix in calls)]


def test_every_case_is_used_or_excused():
    unused = Counter(case["kind"] for case in unused_cases())
    assert set(unused) <= set(NOT_YET), f"no test uses {unused.keys() - NOT_YET.keys()}"


def test_no_excuse_is_stale():
    unused = {case["kind"] for case in unused_cases()}
    assert set(NOT_YET) <= unused, f"now tested, delete from NOT_YET: {NOT_YET.keys() - unused}"


def test_the_cases_are_whole():
    cases = all_cases()
    assert len(cases) == 372
    assert len({case["id"] for case in cases}) == len(cases)
    assert all(case["source"] and case["unit"] and "expected" in case and "tolerance" in case for case in cases)
    assert DATA.joinpath("cases.json").stat().st_size > 150_000
