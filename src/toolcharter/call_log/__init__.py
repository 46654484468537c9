"""The record of recent calls, for people who look at a server: each call in full, and figures of each minute.

entry      a call as it is kept
counts     the counts of a minute, and percentiles from them
lines      the log lines of calls that failed
ended_calls    calls of one server that have ended, until the log takes them
log        takes calls from the pipelines, and writes them in batches
store      the tables
database   SQLite or PostgreSQL
opening    opens the record that the settings choose
series     the figures of the last hour and day
feed       sends new calls to whoever looks
"""

from toolcharter.call_log.entry import CallEntry, CallFilter
from toolcharter.call_log.log import CallLog

__all__ = ["CallEntry", "CallFilter", "CallLog"]
