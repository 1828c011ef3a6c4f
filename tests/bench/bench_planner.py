"""100,000 configurations planned, against one budget call for each; and the same plan in the reader's browser.

Only configurations that can be run are counted. The single calls are timed on a sample and scaled: all of them would
take half an hour.
"""

import random
import time

from runner_page import go, runner_page
from rows import Row

from zeroledger import plan

PLAN = "plan('llama-2-70b', (64, 128, 256, 320, 512, 640, 1024, 2048), '80 GB', 4096, 10240)"
BROWSER_PLAN = f"""
import time
from zeroledger import plan
started = time.perf_counter()
plans = {PLAN}
[time.perf_counter() - started, plans.considered - sum(plans.invalid.values())]"""
BROWSER_LIMIT_S = 10
PER = 100_000
SEED = 20261129


def measure(bench):
    started = time.process_time()
    plans = eval(PLAN, {"plan": plan})
    planned_s = (time.process_time() - started) / (plans.considered - sum(plans.invalid.values()))
    called_s = seconds_of_a_call(plans, bench.rounds(200))
    yield Row(f"planner, per {PER:,} configurations (CPU)", PER * planned_s, "s", "a budget call for each", PER * called_s, 1 / 20)
    with runner_page(bench.browser, bench) as page:
        result = go(page, BROWSER_PLAN, result="json")
    assert result["status"] == "ok", result
    seconds, configurations = result["value"]
    yield Row(f"planner in the browser, per {PER:,}", PER * seconds / configurations, "s", "the limit", BROWSER_LIMIT_S, 1.0)


def seconds_of_a_call(plans, calls: int) -> float:
    """CPU seconds of one full budget, on average over a sample of the plans."""
    chosen = random.Random(SEED).sample(plans.fitting, calls)
    started = time.process_time()
    for each in chosen:
        plans.budget(each)
    return (time.process_time() - started) / calls
