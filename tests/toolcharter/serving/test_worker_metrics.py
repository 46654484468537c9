"""The metrics of several workers as one text."""

from toolcharter.serving.worker_metrics import WorkerMetrics

TEXT = """\
# HELP calls_total Calls, by tool.
# TYPE calls_total counter
calls_total{{tool="a b",outcome="ok"}} {calls}
# HELP seconds How long a call took.
# TYPE seconds histogram
seconds_bucket{{le="0.1"}} {calls}
seconds_sum {seconds}
# HELP in_flight Calls that run.
# TYPE in_flight gauge
in_flight {calls}
in_flight{{server="x"}} 0.5
"""


def test_counters_and_histograms_are_added_and_gauges_are_shown_for_each_worker():
    metrics = WorkerMetrics()
    text = metrics.combine({1: TEXT.format(calls=3, seconds=0.25), 2: TEXT.format(calls=4, seconds=0.5)})
    assert (
        text
        == """\
# HELP calls_total Calls, by tool.
# TYPE calls_total counter
calls_total{tool="a b",outcome="ok"} 7
# HELP seconds How long a call took.
# TYPE seconds histogram
seconds_bucket{le="0.1"} 7
seconds_sum 0.75
# HELP in_flight Calls that run.
# TYPE in_flight gauge
in_flight{worker="1"} 3
in_flight{server="x",worker="1"} 0.5
in_flight{worker="2"} 4
in_flight{server="x",worker="2"} 0.5
"""
    )


def test_what_a_worker_counted_stays_after_its_end_and_its_gauges_do_not():
    metrics = WorkerMetrics()
    metrics.end(TEXT.format(calls=3, seconds=0.25))
    metrics.end("")
    text = metrics.combine({2: TEXT.format(calls=4, seconds=0.5)})
    assert 'calls_total{tool="a b",outcome="ok"} 7\n' in text
    assert "seconds_sum 0.75\n" in text
    assert 'worker="1"' not in text
