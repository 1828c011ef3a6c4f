"""The ledger against the published tables, and the properties it must have."""

import pytest
from cases import assert_matches, cases_of, unit_bytes
from fractions import Fraction
from hypothesis import given
from hypothesis import strategies as st

from zeroledger import ADAM_MIXED, GB, GIB, PRESETS, RECIPES, ledger, recipe
from zeroledger.errors import InvalidInput

CATEGORIES = ["params", "grads", "master_params", "exp_avg", "exp_avg_sq"]


def case_recipe(inputs):
    """The recipe a case states, split as ZeRO splits: parameters, gradients, optimizer."""
    return {"rows": [("params", "16-bit", inputs.get("param_bytes", 2), 3), ("grads", "16-bit", inputs.get("grad_bytes", 2), 2),
                     ("optimizer", "fp32", inputs.get("optim_bytes", 12), 1)]}


@pytest.mark.parametrize("case", cases_of("model_states", prefix="zero-"))
def test_zero_paper_tables(case):
    inputs = case["inputs"]
    book = ledger(inputs["params"], inputs["dp"], inputs["stage"], case_recipe(inputs))
    exact = Fraction(book.model_states_bytes_per_rank, unit_bytes(case))
    assert_matches(exact, case)
    assert float(exact) == pytest.approx(case["exact"], rel=1e-9)  # ceil() may add a few bytes
    same = ledger(inputs["params"], inputs["dp"], inputs["stage"], ADAM_MIXED)
    assert same.model_states_bytes_per_rank - book.model_states_bytes_per_rank in range(-64, 65)


@pytest.mark.parametrize("case", cases_of("model_states", prefix="pb-zero3-"))
def test_playbook_chart(case):
    """The chart draws 15 GiB of 16-bit weights, and an optimizer of 8 bytes per parameter: no master weights."""
    inputs = case["inputs"]
    book = ledger(15 * GIB // 2, inputs["dp"], inputs["stage"], case_recipe({"optim_bytes": 8}))
    assert_matches({"params": Fraction(book["params"].bytes_per_rank, GIB), "grads": Fraction(book["grads"].bytes_per_rank, GIB),
                    "optim": Fraction(book["optimizer"].bytes_per_rank, GIB)}, case)


@pytest.mark.parametrize("case", cases_of("optimizer_states"))
def test_optimizer_states(case):
    inputs = case["inputs"]
    rows = case_recipe(inputs)
    before = ledger(inputs["params"], inputs["dp"], 0, rows)["optimizer"].bytes_per_rank
    after = ledger(inputs["params"], inputs["dp"], inputs["stage"], rows)["optimizer"].bytes_per_rank
    assert_matches({"before": Fraction(before, unit_bytes(case)), "after": Fraction(after, unit_bytes(case))}, case)


@pytest.mark.parametrize("case", cases_of("parameters"))
def test_parameters_alone(case):
    inputs = case["inputs"]
    weights = ledger(inputs["params"], recipe={"rows": [("params", "fp16", inputs["bytes"])]})
    assert_matches(Fraction(weights.model_states_bytes_per_rank, unit_bytes(case)), case)


def test_the_lesson_s_own_number():
    book = ledger(num_params=7_000_000_000, dp_size=8, stage=3)
    assert [row.category for row in book.rows] == CATEGORIES
    assert book.model_states_bytes_per_rank == 14 * GB
    assert book.model_states_bytes_unsharded == 112 * GB
    assert ledger(7e9, recipe=ADAM_MIXED).model_states_bytes_per_rank == 112 * GB


def test_as_dict_has_exact_integers():
    data = ledger(7e9, 8, 2).as_dict()
    assert data["inputs"] == {"num_params": 7_000_000_000, "dp_size": 8, "stage": 2, "recipe": "adam-mixed"}
    assert [row["category"] for row in data["rows"]] == CATEGORIES
    assert [row["sharded"] for row in data["rows"]] == [False, True, True, True, True]
    assert all(type(row["bytes_per_rank"]) is int for row in data["rows"])
    assert data["model_states_bytes_per_rank"] == sum(row["bytes_per_rank"] for row in data["rows"])


def test_table_names_every_category_and_the_unit():
    text = ledger(7e9, 8, 3).table(unit="GiB")
    assert "13.04 GiB" in text
    assert all(category in text for category in CATEGORIES)
    assert str(ledger(7e9, 8, 3)) == ledger(7e9, 8, 3).table()


@pytest.mark.parametrize("arguments, field", [
    ((-1, 8, 3), "num_params"), ((0, 8, 3), "num_params"), ((float("nan"), 8, 3), "num_params"), (("7B", 8, 3), "num_params"),
    ((7.5, 8, 3), "num_params"), ((True, 8, 3), "num_params"), ((None, 8, 3), "num_params"), ((1e300, 8, 3), "num_params"),
    ((10**5000, 8, 3), "num_params"), ((7e9, 0, 3), "dp_size"), ((7e9, -8, 3), "dp_size"), ((7e9, 2.5, 3), "dp_size"),
    ((7e9, "8", 3), "dp_size"), ((7e9, float("inf"), 3), "dp_size"), ((7e9, 8, 4), "stage"), ((7e9, 8, -1), "stage"),
    ((7e9, 8, "3"), "stage"), ((7e9, 8, 1.5), "stage"), ((7e9, 8, True), "stage"), ((7e9, 8, float("nan")), "stage"),
    ((7e9, 8, 3, "adam"), "recipe"), ((7e9, 8, 3, ["adam-mixed"]), "recipe"), ((7e9, 8, 3, {}), "rows"),
])
def test_bad_input_names_the_field(arguments, field):
    with pytest.raises(InvalidInput) as caught:
        ledger(*arguments)
    assert caught.value.field == field
    assert "expected" in str(caught.value)


def test_a_model_may_be_a_preset_or_its_name():
    books = [ledger(model=model, dp_size=8, stage=3) for model in ("llama-2-7b", PRESETS["llama-2-7b"], PRESETS["llama-2-7b"].model)]
    assert books[0] == books[1] == books[2] == ledger(6_738_415_616, 8, 3)


def test_a_count_that_is_not_the_model_s_is_refused():
    assert ledger(6_738_415_616, 8, 3, model="llama-2-7b").num_params == 6_738_415_616
    with pytest.raises(InvalidInput, match="6,738,415,616"):
        ledger(7e9, 8, 3, model="llama-2-7b")


@pytest.mark.parametrize("model", ["llama", 7e9, {"hidden_size": 8}, [], b"llama-2-7b"])
def test_what_is_no_model_is_refused(model):
    with pytest.raises(InvalidInput, match="model"):
        ledger(model=model)


PARAMS, RANKS, STAGES = st.integers(1, 10**13), st.integers(1, 10**5), st.integers(0, 3)
PLAIN = [name for name, each in RECIPES.items() if each.groups == ("all",)]


@given(PARAMS, RANKS, STAGES, st.sampled_from(PLAIN))
def test_more_params_never_take_less(num_params, dp_size, stage, name):
    here = ledger(num_params, dp_size, stage, name).model_states_bytes_per_rank
    assert here <= ledger(num_params + 1, dp_size, stage, name).model_states_bytes_per_rank


@given(PARAMS, RANKS, STAGES, st.sampled_from(PLAIN))
def test_more_ranks_never_take_more(num_params, dp_size, stage, name):
    here = ledger(num_params, dp_size, stage, name).model_states_bytes_per_rank
    assert here >= ledger(num_params, dp_size + 1, stage, name).model_states_bytes_per_rank


@given(PARAMS, RANKS, st.integers(0, 2), st.sampled_from(PLAIN))
def test_a_higher_stage_never_takes_more(num_params, dp_size, stage, name):
    here = ledger(num_params, dp_size, stage, name).model_states_bytes_per_rank
    assert here >= ledger(num_params, dp_size, stage + 1, name).model_states_bytes_per_rank


@given(PARAMS, RANKS, STAGES)
def test_shards_cover_the_whole_with_less_than_a_rank_of_padding(num_params, dp_size, stage):
    for row in ledger(num_params, dp_size, stage).rows:
        covered = row.numel_per_rank * (dp_size if row.sharded else 1)
        assert num_params <= covered < num_params + dp_size


@given(PARAMS, STAGES, st.sampled_from(PLAIN))
def test_one_rank_holds_everything(num_params, stage, name):
    book = ledger(num_params, 1, stage, name)
    assert book.model_states_bytes_per_rank == book.model_states_bytes_unsharded


@given(PARAMS, RANKS)
def test_stages_second_derivation(num_params, dp_size):
    """4P + 12P/N, 2P + 14P/N and 16P/N, from the lesson, within the padding of one element a row and rank."""
    totals = [ledger(num_params, dp_size, stage).model_states_bytes_per_rank for stage in range(4)]
    lesson = [16 * num_params, 4 * num_params + Fraction(12 * num_params, dp_size),
              2 * num_params + Fraction(14 * num_params, dp_size), Fraction(16 * num_params, dp_size)]
    assert all(0 <= total - exact < 16 for total, exact in zip(totals, lesson))


def test_recipe_is_found_by_name():
    assert recipe("adam-mixed") is ADAM_MIXED
    assert ADAM_MIXED.bytes_per_param == 16
