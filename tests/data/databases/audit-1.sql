CREATE TABLE toolcharter_audit (
	chain TEXT NOT NULL, 
	seq BIGINT NOT NULL, 
	time TEXT NOT NULL, 
	tool TEXT, 
	caller TEXT, 
	outcome TEXT NOT NULL, 
	record TEXT NOT NULL, 
	PRIMARY KEY (chain, seq)
);
INSERT INTO "toolcharter_audit" VALUES('c1',0,'2026-11-18T10:00:00.000+00:00','add_task','user:ana','ok','{}');
CREATE INDEX toolcharter_audit_time ON toolcharter_audit (time);
