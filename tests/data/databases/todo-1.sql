CREATE TABLE todo_tasks (
	id CHAR(32) NOT NULL, 
	user_id VARCHAR(255) NOT NULL, 
	title VARCHAR(255) NOT NULL, 
	description TEXT, 
	is_completed BOOLEAN NOT NULL, 
	created_at DATETIME NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "todo_tasks" VALUES('6f1de3a05c1b4a559d0c0e6a3f1f7c11','ana','Buy milk','Two bottles',0,'2026-11-15 10:00:00.000000');
INSERT INTO "todo_tasks" VALUES('6f1de3a05c1b4a559d0c0e6a3f1f7c12','ana','Call',NULL,1,'2026-11-15 11:00:00.000000');
CREATE TABLE todo_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT todo_version_pkc PRIMARY KEY (version_num));
INSERT INTO "todo_version" VALUES('0001_tasks');
CREATE INDEX todo_tasks_by_user ON todo_tasks (user_id, created_at, id);
