"""Tests what the benchmark computes; `pytest bench`, with what trace/requirements-cpu.txt installs."""

import json
import math
import os
import statistics
import subprocess
import sys

import numpy
import pytest
from tokenizers import Tokenizer
from whole_server import busy, durations, options, places, preparation
from whole_server.answering import LONGEST_ANSWER, best_span, softmax
from whole_server.arrivals import Arrivals, Request
from whole_server.sections import heap, load, memory, models, neighbour, peak, small, tasks
from whole_server.servers import BARE, BERTH, BERTH_ONNX, TUNED, TUNED_PROCESSES
from whole_server.small_cases import DENSE
from whole_server.statistics import Metrics, Round, percentile, ratio_of, value_of
from whole_server.tables import at_least, at_most, number


def test_a_percentile_is_one_of_the_values():
    values = [float(value) for value in range(1, 101)]
    assert percentile(values, 0.5) == 50
    assert percentile(values, 0.99) == 99
    assert percentile([7.0], 0.99) == 7
    assert math.isnan(percentile([], 0.5))


def test_a_ratio_is_taken_within_each_round():
    rounds = [
        {"a": {"rate": 10}, "b": {"rate": 20}},
        {"a": {"rate": 90}, "b": {"rate": 100}},
        {"a": {"rate": 8}, "b": {"rate": 10}},
    ]
    assert ratio_of(rounds, "rate", "a", "b") == pytest.approx(0.8)
    assert value_of(rounds, "a", "rate") == 10


def test_the_bare_loop_is_the_one_with_the_best_median_and_not_the_luckiest():
    rounds = [loops(steady=80, lucky=95), loops(steady=81, lucky=70), loops(steady=79, lucky=71)]
    found = load.with_bare(rounds)
    assert [one[BARE]["rate 16"] for one in found] == [80, 81, 79]
    assert [one[BARE]["p50 1"] for one in found] == [1000 / 95, 1000 / 70, 1000 / 71]
    assert load.with_bare([]) == []


def test_the_best_peer_is_the_one_with_the_best_median_and_not_the_luckiest():
    def servers(lucky: float) -> Round:
        return {
            name: {"rate 16": rate, "p50 neighbour": 1000 / rate, "p99 neighbour": 2000 / rate}
            for name, rate in {BERTH: 90.0, BERTH_ONNX: 80.0, TUNED: 100.0, TUNED_PROCESSES: lucky}.items()
        }

    rounds = [servers(lucky=150), servers(lucky=70), servers(lucky=60)]
    assert load.of_best_peer(rounds, BERTH, "rate 16", max) == pytest.approx(0.9)
    assert [goal.found for goal in neighbour.goals(rounds, None)] == ["1.11", "1.11"]


def loops(steady: float, lucky: float) -> Round:
    def metrics(rate: float) -> Metrics:
        return {"rate": rate, "p50": 1000 / rate, "p90": 0, "p99": 0}

    # The quicker one alone is not the one that answers the most.
    return {"Python, 2 × 1": metrics(steady) | {"p50": 40}, "Java, 2 × 1": metrics(lucky)}


def test_a_model_takes_what_each_but_the_first_adds():
    held = models.Models([], urls=["a", "b", "c"], megabytes={1: 300.0, 2: 340.0, 3: 380.0})
    assert held.megabytes_each() == 40
    assert held.fits_one_more()
    assert not models.Models([], urls=["a", "b"], megabytes={1: 2000.0, 2: 3990.0}).fits_one_more()


def test_models_that_did_not_fit_have_no_row():
    many = {f"rate {count}": 50.0 for count in models.COUNTS}
    rounds = [{models.MANY: many, models.ONE: {}, models.PROCESSES: {"rate 1": 25.0, "of many 1": 2.0}}]
    rows = models.rates_table(rounds, list(models.COUNTS))[2:]
    assert rows[1] == "| FastAPI, a process for each model, over 1 | 25.0 | – | – | – | 2.00 |"
    assert [row.split(" | ")[0] for row in rows[2:]] == [f"| Berth with many models, over {n}" for n in (10, 50)]


def test_a_round_without_a_value_does_not_count():
    rounds = [{"a": {"p50": 3.0}}, {"a": {"p50": math.nan}}, {}]
    assert value_of(rounds, "a", "p50") == 3
    assert math.isnan(value_of(rounds, "b", "p50"))


def test_answers_count_when_they_are_complete_and_in_time():
    late, early, refused = Request(1.0, 5000, 200), Request(1.0, 1500, 200), Request(2.5, 10, 503)
    arrivals = Arrivals([late, early, refused], [])
    assert arrivals.answered(2, 4, longest=2000) == 0.5
    assert arrivals.answered(2, 8, longest=60_000) == pytest.approx(2 / 6)


@pytest.mark.parametrize(
    ("value", "text"), [(0.12345, "0.123"), (1.5, "1.50"), (97.36, "97.4"), (1234.5, "1,234"), (math.nan, "–")]
)
def test_numbers_have_three_digits(value: float, text: str):
    assert number(value, 3) == text


def test_a_goal_without_a_number_is_not_met():
    assert not at_least("x", math.nan, 1).met
    assert not at_most("x", math.nan, 1).met
    assert at_most("x", 1, 1).met


def test_the_best_span_is_the_best_of_all():
    chance = numpy.random.default_rng(7)
    for _ in range(20):
        start, end = chance.normal(size=(2, 40))
        scores = numpy.outer(softmax(start), softmax(end))
        spans = [(i, j) for i in range(40) for j in range(i, min(40, i + LONGEST_ANSWER))]
        best = max(spans, key=lambda span: scores[span])
        assert best_span(start, end) == (*best, pytest.approx(scores[best]))


def test_the_questions_are_as_long_as_the_readme_says():
    tokenizer = Tokenizer.from_file(str(places.TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    questions = [json.loads(line) for line in places.QUESTIONS.read_text(encoding="utf-8").splitlines()]
    lengths = [len(tokenizer.encode(one["question"], one["context"]).ids) for one in questions]
    assert (len(lengths), min(lengths), max(lengths)) == (226, 37, 384)
    assert statistics.mean(lengths) == pytest.approx(170, abs=0.5)


def test_all_products_of_the_sample_are_counted():
    hidden, layers = 384, 6
    assert peak.multiplications() == (layers * 12 * hidden**2, 2 * hidden, layers * 2 * hidden)


def test_what_all_threads_have_allocated_is_counted_whatever_the_unit():
    threads = '"main" #3 [7] prio=5 cpu=1.2ms allocated=512B x=1\n"a" allocated=10K y\n"b" allocated=2M z\n"c" daemon\n'
    assert heap.allocated(threads) == pytest.approx(0.512 + 10.24 + 2097.152)


@pytest.mark.parametrize(
    ("version", "new_enough"),
    [("25.0.3", True), ("25.0.3+9", True), ("25.0.10", True), ("26-ea", True), ("26", True)]
    + [("25", False), ("25.0.2+10", False), ("17.0.15", False)],
)
def test_a_jdk_is_judged_by_its_whole_version(tmp_path, version, new_enough):
    (tmp_path / "release").write_text(f'IMPLEMENTOR="Acme"\nJAVA_VERSION="{version}"\n')
    assert (preparation.java_version(tmp_path) >= preparation.JAVA_NEEDED) == new_enough


def test_what_the_benchmark_starts_is_not_other_work():
    child = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    try:
        assert {os.getpid(), child.pid} <= busy.family(os.getpid())
        assert 1 not in busy.family(os.getpid())
    finally:
        child.communicate()


def test_a_busy_machine_is_described_by_its_processes():
    found = busy.Others(1.5, [("javac (7)", 1.25), ("wrk (8)", 0.25)])
    assert found.busy
    assert "1.50 of" in str(found) and "javac (7) 1.25, wrk (8) 0.25" in str(found)
    assert not busy.Others(0.1, []).busy


def test_a_full_run_is_expected_to_take_less_than_65_minutes():
    expected = durations.expected(options.parse([]))
    assert set(options.SECTIONS) < set(expected)
    assert sum(expected.values()) < 65 * 60


def test_a_long_run_keeps_the_goal_of_10_000_requests():
    assert memory.points(options.parse([])) == [1000, 2500, 5000, 7500, 10_000]
    assert {5000, 10_000, 100_000, 200_000} < set(memory.points(options.parse(["--long"])))


def test_answers_of_two_servers_are_equal_up_to_rounding():
    answer = [{"label": "positive", "score": 0.91}]
    assert tasks.close([{"label": "positive", "score": 0.915}], answer)
    assert not tasks.close([{"label": "positive", "score": 0.8}], answer)
    assert not tasks.close([{"label": "negative", "score": 0.91}], answer)
    assert not tasks.close([], answer)


def test_the_goals_of_small_requests_are_of_json_and_csv():
    def server(rate: float) -> Metrics:
        rates = {small.key("rate", form, clients): rate for form in DENSE.forms for clients in small.COUNTS}
        return rates | {small.RESIDENT: 250.0}

    rounds = [{f"{DENSE.name}: {small.BERTH}": server(150.0), f"{DENSE.name}: {small.FASTAPI}": server(100.0)}]
    goals = small.goals(rounds, options.parse([]))
    assert len(goals) == 9
    assert [goal.text for goal in goals if not goal.met] == [
        "1 row, JSON, 16 clients: answers/s of FastAPI's ≥ 1.7",
        "1 row, CSV, 16 clients: answers/s of FastAPI's ≥ 1.7",
    ]
