"""What the suite asks for and no App has: listed as not offered, and never counted as passed.

Take a line out when an App learns it; the suite then has to pass.
"""

NO_LOG = "log messages to the client; 2026-07-28 deprecates them"
NO_SAMPLING = "sampling; 2026-07-28 deprecates it"
NO_ROOTS = "roots; 2026-07-28 deprecates them"
NO_RESUMPTION = "streams that can be resumed"
NO_TASKS = "the tasks extension"

TASKS = frozenset({
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-status-notifications",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
})  # fmt: skip
"""Scenarios for a server with tasks: the asking fixture has some. The governor passes none on, and the SDK has none."""

SCENARIOS = {
    "logging-set-level": NO_LOG,
    "tools-call-with-logging": NO_LOG,
    "tools-call-sampling": NO_SAMPLING,
    "input-required-result-basic-sampling": NO_SAMPLING,
    "input-required-result-capability-check": NO_SAMPLING,
    "input-required-result-basic-list-roots": NO_ROOTS,
    "input-required-result-multiple-input-requests": f"{NO_SAMPLING}; {NO_ROOTS}",
    "server-sse-polling": NO_RESUMPTION,
}

NOT_PASSED_ON = {
    **{name: reason for name, reason in SCENARIOS.items() if reason in (NO_LOG, NO_SAMPLING, NO_ROOTS)},
    **dict.fromkeys(TASKS, NO_TASKS),
    "input-required-result-multiple-input-requests": f"{NO_SAMPLING}; {NO_ROOTS}",
    "input-required-result-basic-elicitation": "the name of the question: the governor gives its own",
    "json-schema-2020-12": "no tool for it in the fixture",
    "server-sse-polling": NO_RESUMPTION,
}
"""What the SDK's fixture offers, and the governor in front of it does not pass on."""

CHECKS = {
    "sep-2575-server-rejects-undeclared-capability": NO_SAMPLING,
    "sep-2575-missing-capability-http-400": NO_SAMPLING,
}
"""Single checks of scenarios whose others count."""

NEED_A_QUESTION = frozenset({
    "elicitation-sep1034-defaults",
    "elicitation-sep1330-enums",
    "input-required-result-basic-elicitation",
    "input-required-result-ignore-extra-params",
    "input-required-result-multi-round",
    "input-required-result-non-tool-request",
    "tools-call-elicitation",
    "input-required-result-missing-input-response",
    "input-required-result-request-state",
    "input-required-result-result-type",
    "input-required-result-tampered-state",
    "input-required-result-validate-input",
    "sep-2575-http-server-no-independent-requests-on-stream",
})  # fmt: skip
"""Scenarios and checks for a server that asks; the plain fixture has no such tool."""

NOT_JUDGED = TASKS | {
    "json-schema-2020-12",
    "server-sse-polling",
}
"""Scenarios that do not count for conformance, and that the SDK's fixture offers nothing for either."""
