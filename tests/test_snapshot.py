"""Snapshots: meters follow the events, what was there before is found, nothing that could run code is read."""

import json
import pickle
import random
from pathlib import Path

import pytest

from zeroledger import CachingAllocator, explain_snapshot, read_snapshot, snapshot_timeline
from zeroledger.cli import main
from zeroledger.errors import ConfigError
from zeroledger.snapshot import PickleRefused
from zeroledger.snapshot_stacks import made_in
from zeroledger.snapshot_report import report, snapshot_as_dict
from zeroledger.units import MIB

EXAMPLE = Path(__file__).parents[1] / "content/measurements/examples/cpu-step-snapshot.json"
TRAIN = [{"filename": "/home/me/train.py", "line": 41, "name": "step"}]
FORWARD = [{"filename": "/x/site-packages/torch/nn/modules/linear.py", "line": 134, "name": "forward"}, *TRAIN]
BACKWARD = [{"filename": "??", "line": 0, "name": "torch::autograd::Engine::thread_main"}]
STEP = [{"filename": "/x/site-packages/torch/optim/adam.py", "line": 9, "name": "_init_group"}, *TRAIN]


def event(action, addr, size, frames=()):
    return {"action": action, "addr": addr, "size": size, "stream": 0, "frames": list(frames)}


def freed(addr, size):
    return [event("free_requested", addr, size), event("free_completed", addr, size)]


def block(address, size, requested=None, state="active_allocated"):
    return {"address": address, "size": size, "requested_size": size if requested is None else requested, "state": state}


def segment(address, size, *blocks):
    return {"device": 0, "address": address, "total_size": size, "blocks": list(blocks)}


def small(**fields):
    """Weights that stay, a block that was there and goes, one that comes and goes, one that comes and stays."""
    trace = [event("alloc", 5000, 1000, FORWARD), *freed(2000, 600), event("segment_alloc", 9000, 4096), event("alloc", 9000, 3000, STEP),
             *freed(5000, 1000)]
    end = [segment(1000, 8192, block(1000, 512), block(1512, 7680, 0, "inactive")), segment(9000, 4096, block(9000, 4096, 3000))]
    return {"segments": end, "device_traces": [trace]} | fields


def test_meters_after_each_event():
    timeline = snapshot_timeline(read_snapshot(small()))
    # 512 stay, 600 → 1,024 were there; 1,000 → 1,024 come; the block of the end is 4,096, though 3,000 were asked for
    assert timeline.allocated == (1536, 2560, 1536, 1536, 1536, 5632, 4608, 4608)
    assert timeline.reserved == (8192,) * 4 + (12288,) * 4
    assert (timeline.peak, timeline.peak_bytes, timeline.unmatched_bytes) == (5, 5632, 0)
    assert [(each.kind, each.where, each.num_bytes) for each in timeline.groups_at(5)] == [
        ("step", "train.py:41 step", 4096), ("forward", "train.py:41 step", 1024), ("before", "", 512)]


def test_a_block_that_only_waits_for_another_stream_is_not_allocated():
    trace = [event("free_completed", 700, 512), event("alloc", 100, 512)]
    found = snapshot_timeline(read_snapshot({"segments": [segment(100, 1024, block(100, 512))], "device_traces": [trace]}))
    assert found.allocated == (0, 0, 512)


def test_addresses_may_be_left_out_of_blocks():
    data = small()
    for each in data["segments"]:
        for one in each["blocks"]:
            del one["address"]
    assert snapshot_timeline(read_snapshot(data)).allocated == snapshot_timeline(read_snapshot(small())).allocated


@pytest.mark.parametrize("frames, kind", [(FORWARD, "forward"), (BACKWARD, "backward"), (STEP, "step"), (TRAIN, "other"), ((), "no_stack")])
def test_kinds_follow_the_stack(frames, kind):
    assert made_in([tuple(frame.values()) for frame in frames]) == kind


def kit(**fields):
    """The same story as the measure kit writes it."""
    events = [("alloc", 5000, 1000, "train.py:3 f"), ("free", 2000, 600, ""), ("segment_alloc", 9000, 4096, ""),
              ("alloc", 9000, 3000, "train.py:4 f"), ("free", 5000, 1000, "")]
    segments = [{"address": 1000, "num_bytes": 8192, "blocks": [{"num_bytes": 512, "requested_bytes": 500, "state": "active_allocated"},
                                                                {"num_bytes": 7680, "state": "inactive"}]},
                {"address": 9000, "num_bytes": 4096, "blocks": [{"num_bytes": 4096, "requested_bytes": 3000, "state": "active_allocated"}]}]
    return {"format": "zeroledger-snapshot", "version": 1, "start_bytes": 1536, "segments": segments,
            "held": [{"address": 1000, "num_bytes": 512, "category": "params"}], "marks": [{"event": 1, "name": "end_of_forward"},
                                                                                          {"event": 4, "name": "after_step"}],
            "events": [dict(zip(("action", "address", "num_bytes", "where"), each)) for each in events]} | fields


def test_the_kits_form_tells_the_same_with_phases_from_marks_and_categories():
    timeline = snapshot_timeline(read_snapshot(json.dumps(kit())))
    assert timeline.allocated == (1536, 2560, 1536, 1536, 5632, 4608)
    assert {(each.kind, each.where, each.num_bytes) for each in timeline.groups_at(4)} == {
        ("step", "train.py:4 f", 4096), ("forward", "train.py:3 f", 1024), ("params", "", 512)}


def test_an_allocator_without_segments_has_no_reserved_bytes_and_knows_what_was_held():
    timeline = snapshot_timeline(read_snapshot(kit(segments=[], start_bytes=600)))
    assert timeline.allocated == (1112, 2112, 1512, 1512, 4512, 3512)  # 512 held and 600 released later; nothing is rounded
    assert timeline.peak_reserved_bytes is None and timeline.curve()["reserved"] is None


def test_what_was_live_and_is_not_named_is_not_lost():
    assert snapshot_timeline(read_snapshot(kit(segments=[], held=[], start_bytes=5000))).allocated[0] == 5000


def random_trace(count, seed=3):
    """A trace made by the allocator's model, and its meters after each event."""
    chance, allocator, live, trace, meters = random.Random(seed), CachingAllocator(), [], [], []
    while len(trace) < count:
        held = allocator.reserved_bytes
        if live and chance.random() < 0.48:
            handle, size = live.pop(chance.randrange(len(live)))
            trace += freed(allocator._live[handle].address, size)
            allocator.free(handle)
            meters += [(allocator.requested_bytes, held)] * 2
            continue
        size = 512 * chance.randrange(1, 8000)
        handle = allocator.allocate(size)
        live.append((handle, size))
        address = allocator._live[handle].address
        if allocator.reserved_bytes > held:
            trace.append(event("segment_alloc", address, allocator.reserved_bytes - held))
            meters.append((allocator.requested_bytes - size, allocator.reserved_bytes))
        trace.append(event("alloc", address, size, FORWARD))
        meters.append((allocator.requested_bytes, allocator.reserved_bytes))
    return {"segments": [], "device_traces": [trace]}, meters


def test_meters_are_the_allocators_own():
    data, meters = random_trace(3000)
    timeline = snapshot_timeline(read_snapshot(data))
    assert list(zip(timeline.allocated, timeline.reserved))[1:] == meters


def test_a_long_trace_is_thinned_without_losing_extremes():
    data, _ = random_trace(30_000)
    timeline = snapshot_timeline(read_snapshot(data))
    curve = timeline.curve(points=500)
    assert len(curve["at"]) <= 2001
    totals = [sum(column) for column in zip(*curve["live"].values())]
    assert max(totals) == timeline.peak_bytes and min(totals) == min(timeline.allocated)
    assert max(curve["reserved"]) == timeline.peak_reserved_bytes
    assert totals == [timeline.allocated[at] for at in curve["at"]]


def test_the_example_is_explained():
    told = report(EXAMPLE.read_bytes())
    assert told["kind"] == "snapshot" and told["num_events"] > 1000
    only, = told["explained"]
    assert only["measured_bytes"] == told["peak"]["allocated_bytes"] and only["is_within_range"]
    assert sum(each["bytes"] for each in told["groups"]) <= told["peak"]["allocated_bytes"]
    kinds = {each["kind"] for each in told["groups"]}
    assert {"params", "optimizer", "forward", "backward"} <= kinds
    curve = told["predicted"]["0"]
    assert sum(column[curve["peak"]] for column in curve["live"].values()) == only["predicted_bytes"]


@pytest.mark.parametrize("name, known", [("cpu-step-snapshot", {"params", "optimizer"}), ("fsdp2-cpu-snapshot", {"optimizer"})])
def test_gathered_parameters_are_not_mistaken_for_missing_ones(name, known):
    only, = report((EXAMPLE.parent / f"{name}.json").read_bytes())["explained"]
    assert {row["account"] for row in only["rows"] if row["measured_bytes"] is not None} == known
    assert all(abs(row["difference_bytes"]) < 30_000 for row in only["rows"] if row["measured_bytes"] is not None)


def test_a_snapshot_without_a_configuration_has_no_prediction():
    timeline = snapshot_timeline(read_snapshot(small()))
    assert explain_snapshot(timeline) is None
    assert snapshot_as_dict(timeline)["predicted"] == {}


def test_pickles_are_refused_before_anything_is_read(tmp_path, capsys):
    class Evil:
        def __reduce__(self):
            return (tmp_path.joinpath("ran").touch, ())

    for protocol in (2, 5):
        file = tmp_path / "snapshot.pickle"
        file.write_bytes(pickle.dumps(Evil(), protocol))
        with pytest.raises(PickleRefused, match="can run any code"):
            report(file.read_bytes())
        assert main(["snapshot", str(file)]) == 2
        assert "write JSON" in capsys.readouterr().err
    with pytest.raises(PickleRefused):
        read_snapshot(b"PK\x03\x04archive")
    assert not tmp_path.joinpath("ran").exists()


@pytest.mark.parametrize("change, says", [
    (lambda data: data.update(segments=None), "segments = None: expected a list"),
    (lambda data: data["device_traces"][0][0].update(size=-1), "device_traces[0][0].size = -1"),
    (lambda data: data["device_traces"][0][0].update(addr="7"), "device_traces[0][0].addr = '7'"),
    (lambda data: data["device_traces"][0][1].update(action=4), "device_traces[0][1].action = 4"),
    (lambda data: data["device_traces"][0][0].update(frames=[7]), "device_traces[0][0].frames = 7"),
    (lambda data: data["segments"][0].update(total_size=None), "segments[0].total_size = None"),
    (lambda data: data["segments"][0]["blocks"].append(3), "segments[0].blocks[2] = 3"),
    (lambda data: data.update(segments=[], device_traces=[]), "record them with"),
])
def test_errors_name_the_field(change, says):
    data = small()
    change(data)
    with pytest.raises(ConfigError) as caught:
        read_snapshot(data)
    assert says in str(caught.value)


@pytest.mark.parametrize("fields, says", [
    ({"version": 2}, "version = 2"), ({"events": 3}, "events = 3"), ({"config": []}, "config = []"), ({"events": [4]}, "events[0] = 4"),
    ({"events": [{"action": "alloc", "address": 1, "num_bytes": None}]}, "events[0].num_bytes = None"),
    ({"held": [{"address": 1, "num_bytes": 1, "category": "weights"}]}, "held[0].category = 'weights'"),
    ({"marks": [{"event": "x", "name": "peak"}]}, "marks[0] = "), ({"start_bytes": -1}, "start_bytes = -1"),
])
def test_errors_of_the_kits_form(fields, says):
    with pytest.raises(ConfigError) as caught:
        report(kit(**fields))
    assert says in str(caught.value)


def test_a_device_can_be_chosen_and_must_be_there():
    data = small()
    data["device_traces"].append([event("alloc", 1, 2 * MIB)])
    assert snapshot_timeline(read_snapshot(data, 1)).peak_bytes == 2 * MIB
    with pytest.raises(ConfigError, match="device = 5: expected one of 0, 1"):
        read_snapshot(data, 5)


def test_command(capsys):
    assert main(["snapshot", str(EXAMPLE), "--unit", "MB"]) == 0
    text = capsys.readouterr().out
    assert "Prediction for its configuration" in text and "blocks.py" in text
    assert main(["snapshot", str(EXAMPLE), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["kind"] == "snapshot"


def test_what_is_neither_a_run_nor_a_snapshot_is_named():
    with pytest.raises(ConfigError, match="format = 'x': expected zeroledger-run or zeroledger-snapshot"):
        report({"format": "x"})
