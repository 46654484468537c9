"""The record of recent calls, for people who look at a server: each call in full, and figures of each minute.

entry      a call as it is kept
counts     the counts of a minute, and percentiles from them
lines      the log lines of calls that failed
log        takes calls from the pipelines, and writes them in batches
store      the tables
database   SQLite or PostgreSQL
opening    opens the record that the settings choose
series     the figures of the last hour and day
feed       sends new calls to whoever looks
"""

from mcp_core.call_log.entry import CallEntry, CallFilter, CallSource
from mcp_core.call_log.log import CallLog

__all__ = ["CallEntry", "CallFilter", "CallLog", "CallSource"]
