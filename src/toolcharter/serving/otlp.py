"""Sends traces and metrics to an OpenTelemetry collector, as `--otlp` or the standard OTEL_* variables say.

The SDK reads most of the variables itself: the service name, resource attributes, sampler, headers, timeouts, batch
sizes and intervals. It is loaded only where something is to be sent.
"""

import os
import sys
from collections.abc import Mapping
from typing import Any

from mcp_core.logs.telemetry import BUCKETS, DURATION, is_sdk_in_use
from mcp_core.mcp_log import get_logger
from mcp_core.process.install_command import install_command
from mcp_core.process.start_errors import CannotStart, InvalidSetting

logger = get_logger(__name__)

_ENDPOINTS = (
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
)
_EXPORTERS = ("otlp", "console")


def set_up_export(url: str | None, service: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Set up the SDK, if something is to be sent. Returns whether that is so. Call it before an app is built."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return False
    wanted = url is not None or any(environment.get(name) for name in _ENDPOINTS)
    traces = _exporters("OTEL_TRACES_EXPORTER", environment, wanted=wanted)
    figures = _exporters("OTEL_METRICS_EXPORTER", environment, wanted=wanted)
    if not traces and not figures:
        return False
    if _is_set_up():  # by `opentelemetry-instrument`, or by the program that this server is a part of
        return True
    if "otlp" in (*traces, *figures):
        _check_protocol(environment)
    try:
        _set_up(url, service, traces, figures, environment)
    except ImportError as error:
        message = f"OpenTelemetry needs {error.name or error}: {install_command('otel')}"
        if url is not None:
            raise CannotStart(message) from None
        logger.warning("The OTEL_* variables are set, but nothing is sent. %s", message)
        return False
    return True


def _exporters(variable: str, environment: Mapping[str, str], *, wanted: bool) -> list[str]:
    """The exporters that a variable names; OTLP if it names none, and there is somewhere to send to."""
    text = environment.get(variable, "").strip()
    names = [name.strip() for name in text.split(",") if name.strip()] if text else ["otlp"] * wanted
    if names == ["none"]:
        return []
    for name in names:
        if name not in _EXPORTERS:
            known = ", ".join((*_EXPORTERS, "none"))
            raise InvalidSetting(f"{variable}: {name!r} is not supported; choose from {known}.")
    return names


def _check_protocol(environment: Mapping[str, str]) -> None:
    protocol = environment.get("OTEL_EXPORTER_OTLP_PROTOCOL", "http/protobuf")
    if protocol != "http/protobuf":
        variable = "OTEL_EXPORTER_OTLP_PROTOCOL"
        raise InvalidSetting(f"{variable}: {protocol!r} is not supported; use http/protobuf, on port 4318 by default.")


def _is_set_up() -> bool:
    if not is_sdk_in_use():
        return False
    from opentelemetry import trace  # noqa: PLC0415 - 8 ms, and few servers export

    provider = trace.get_tracer_provider()
    return type(provider).__module__.startswith("opentelemetry.sdk")


def _set_up(
    url: str | None, service: str, traces: list[str], figures: list[str], environment: Mapping[str, str]
) -> None:
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - 150 ms with the rest, and rarely wanted

    named = "OTEL_SERVICE_NAME" in environment or "service.name=" in environment.get("OTEL_RESOURCE_ATTRIBUTES", "")
    resource = Resource.create({} if named else {"service.name": service})
    if traces:
        _set_up_traces(url, traces, resource)
    if figures:
        _set_up_metrics(url, figures, resource)


def _set_up_traces(url: str | None, exporters: list[str], resource: Any) -> None:
    from opentelemetry import trace  # noqa: PLC0415 - loaded with the SDK
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - as above
    from opentelemetry.sdk.trace.export import (  # noqa: PLC0415 - as above
        BatchSpanProcessor,
        ConsoleSpanExporter,
        SimpleSpanProcessor,
    )

    provider = TracerProvider(resource=resource)
    for name in exporters:
        if name == "console":  # stdout is the protocol's pipe over stdio
            provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=sys.stderr)))
        else:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - an extra
                OTLPSpanExporter,
            )

            provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=_endpoint(url, "traces"))))
    trace.set_tracer_provider(provider)


def _set_up_metrics(url: str | None, exporters: list[str], resource: Any) -> None:
    from opentelemetry import metrics  # noqa: PLC0415 - loaded with the SDK
    from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415 - as above
    from opentelemetry.sdk.metrics.export import (  # noqa: PLC0415 - as above
        ConsoleMetricExporter,
        PeriodicExportingMetricReader,
    )
    from opentelemetry.sdk.metrics.view import ExplicitBucketHistogramAggregation, View  # noqa: PLC0415 - as above

    readers: list[PeriodicExportingMetricReader] = []
    for name in exporters:
        if name == "console":
            readers.append(PeriodicExportingMetricReader(ConsoleMetricExporter(out=sys.stderr)))
        else:
            from opentelemetry.exporter.otlp.proto.http.metric_exporter import (  # noqa: PLC0415 - an extra
                OTLPMetricExporter,
            )

            readers.append(PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=_endpoint(url, "metrics"))))
    buckets = View(instrument_name=DURATION, aggregation=ExplicitBucketHistogramAggregation(BUCKETS))
    metrics.set_meter_provider(MeterProvider(readers, resource=resource, views=[buckets]))


def _endpoint(url: str | None, signal: str) -> str | None:
    """The address of a signal below the collector's; None leaves it to the variables."""
    return None if url is None else f"{url.rstrip('/')}/v1/{signal}"
