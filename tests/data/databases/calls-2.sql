
CREATE TABLE toolcharter_calls (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        time DOUBLE PRECISION NOT NULL,
        server TEXT NOT NULL,
        tool TEXT NOT NULL,
        caller TEXT NOT NULL,
        agent TEXT NOT NULL,
        outcome TEXT NOT NULL,
        ms DOUBLE PRECISION NOT NULL,
        tokens BIGINT NOT NULL,
        cached BOOLEAN NOT NULL,
        trace_id TEXT NOT NULL,
        correlation_id TEXT NOT NULL,
        error_type TEXT,
        error TEXT,
        error_id TEXT,
        details TEXT NOT NULL,
        size INTEGER NOT NULL
    );
CREATE INDEX toolcharter_calls_time ON toolcharter_calls (time, size);
CREATE INDEX toolcharter_calls_caller ON toolcharter_calls (caller, id);
CREATE TABLE toolcharter_call_counts (
        step INTEGER NOT NULL,
        slot INTEGER NOT NULL,
        server TEXT NOT NULL,
        tool TEXT NOT NULL,
        caller TEXT NOT NULL,
        agent TEXT NOT NULL,
        outcome TEXT NOT NULL,
        cached BOOLEAN NOT NULL,
        bucket INTEGER NOT NULL,
        calls BIGINT NOT NULL,
        tokens BIGINT NOT NULL,
        PRIMARY KEY (step, slot, server, tool, caller, agent, outcome, cached, bucket)
    );

INSERT INTO toolcharter_calls VALUES
    (7, 1794900000.0, 'todo', 'add_task', 'user:ana', 'claude', 'ok', 1.5, 20, 0, 't', 'c', NULL, NULL, NULL, '{}', 300);
INSERT INTO toolcharter_call_counts VALUES (1, 29915000, 'todo', 'add_task', 'user:ana', 'claude', 'ok', 0, 3, 1, 20);
