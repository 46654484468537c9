CREATE TABLE toolcharter_idempotency (
	server VARCHAR(64) NOT NULL, 
	caller TEXT NOT NULL, 
	"key" VARCHAR(255) NOT NULL, 
	tool VARCHAR(128) NOT NULL, 
	arguments VARCHAR(64) NOT NULL, 
	answer TEXT, 
	expires_at BIGINT NOT NULL, 
	PRIMARY KEY (server, caller, "key")
);
INSERT INTO "toolcharter_idempotency" VALUES('todo','user:ana','k1','add_task','digest','{}',4102444800);
CREATE TABLE toolcharter_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT toolcharter_version_pkc PRIMARY KEY (version_num));
INSERT INTO "toolcharter_version" VALUES('0001_idempotency');
CREATE INDEX toolcharter_idempotency_by_expiry ON toolcharter_idempotency (expires_at);
