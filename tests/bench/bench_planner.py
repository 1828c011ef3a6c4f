"""100,000 configurations planned, against one budget call for each; and the same plan in the reader's browser.

In processor time, and in the browser also as the reader waits, which is longer on a busy machine. Only configurations that can be run are counted. The single calls are timed on a sample and scaled: all of them would
take half an hour.
"""

import random
import time

from processor import Processor
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
        processor = Processor(bench.browser)
        go(page, "import zeroledger")
        processor.wait_until_quiet(page)
        before = processor.seconds()
        result = go(page, BROWSER_PLAN, result="json")
        processor_s = processor.seconds() - before
    assert result["status"] == "ok", result
    waited_s, configurations = result["value"]
    yield Row(f"planner in the browser, per {PER:,}", PER * waited_s / configurations, "s", "the limit", BROWSER_LIMIT_S, 1.0)
    yield Row("  its processor time", PER * processor_s / configurations, "s", "the wait", PER * waited_s / configurations)


def seconds_of_a_call(plans, calls: int) -> float:
    """CPU seconds of one full budget, on average over a sample of the plans."""
    chosen = random.Random(SEED).sample(plans.fitting, calls)
    started = time.process_time()
    for each in chosen:
        plans.budget(each)
    return (time.process_time() - started) / calls
