CREATE TABLE noema_cards (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	user_id INTEGER NOT NULL, 
	note_id INTEGER NOT NULL, 
	deck_id INTEGER NOT NULL, 
	ordinal INTEGER NOT NULL, 
	position BIGINT NOT NULL, 
	queue SMALLINT NOT NULL, 
	state SMALLINT NOT NULL, 
	step SMALLINT, 
	stability DOUBLE, 
	difficulty DOUBLE, 
	due DATETIME, 
	last_review DATETIME, 
	reps INTEGER NOT NULL, 
	lapses INTEGER NOT NULL, 
	buried_until DATETIME, 
	created_at DATETIME NOT NULL, 
	FOREIGN KEY(user_id) REFERENCES noema_users (id), 
	FOREIGN KEY(note_id) REFERENCES noema_notes (id) ON DELETE CASCADE, 
	FOREIGN KEY(deck_id) REFERENCES noema_decks (id)
);
INSERT INTO "noema_cards" VALUES(1,1,1,2,0,1,2,2,NULL,12.5,5.25,'2026-11-14 03:00:00.000000','2026-11-04 10:00:00.000000',2,0,NULL,'2026-11-01 09:00:00.000000');
INSERT INTO "noema_cards" VALUES(2,1,2,2,0,2,1,1,0,2.3065,2.118,'2026-11-15 10:10:00.000000','2026-11-15 10:00:00.000000',1,0,NULL,'2026-11-01 09:00:00.000000');
INSERT INTO "noema_cards" VALUES(3,1,3,2,0,3,0,0,NULL,NULL,NULL,NULL,NULL,0,0,NULL,'2026-11-01 09:00:00.000000');
INSERT INTO "noema_cards" VALUES(9,2,7,4,0,1,3,0,NULL,NULL,NULL,NULL,NULL,0,0,NULL,'2026-11-02 09:00:00.000000');
CREATE TABLE noema_decks (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	user_id INTEGER NOT NULL, 
	name VARCHAR(255) NOT NULL, 
	name_key TEXT NOT NULL, 
	description TEXT NOT NULL, 
	preset JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	FOREIGN KEY(user_id) REFERENCES noema_users (id)
);
INSERT INTO "noema_decks" VALUES(1,1,'Languages','languages','','{"new_per_day": 7}','2026-11-01 08:00:00.000000');
INSERT INTO "noema_decks" VALUES(2,1,'Languages::French','languages::french','Words','{"learning_steps": [60, 600]}','2026-11-01 08:00:00.000000');
INSERT INTO "noema_decks" VALUES(4,2,'Bob','bob','','{}','2026-11-02 08:00:00.000000');
CREATE TABLE noema_note_types (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	user_id INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	is_cloze BOOLEAN NOT NULL, 
	fields JSON NOT NULL, 
	templates JSON NOT NULL, 
	css TEXT NOT NULL, 
	FOREIGN KEY(user_id) REFERENCES noema_users (id)
);
INSERT INTO "noema_note_types" VALUES(1,1,'Basic',0,'["Front", "Back"]','[["Card 1", "{{Front}}", "{{FrontSide}}<hr id=answer>{{Back}}"]]','');
INSERT INTO "noema_note_types" VALUES(2,2,'Basic',0,'["Front", "Back"]','[["Card 1", "{{Front}}", "{{FrontSide}}<hr id=answer>{{Back}}"]]','');
CREATE TABLE noema_notes (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	user_id INTEGER NOT NULL, 
	deck_id INTEGER NOT NULL, 
	type_id INTEGER NOT NULL, 
	field_values JSON NOT NULL, 
	tags TEXT NOT NULL, 
	guid VARCHAR(255) NOT NULL, 
	text TEXT NOT NULL, 
	first_key BIGINT NOT NULL, 
	created_at DATETIME NOT NULL, 
	modified_at DATETIME NOT NULL, 
	FOREIGN KEY(user_id) REFERENCES noema_users (id), 
	FOREIGN KEY(deck_id) REFERENCES noema_decks (id), 
	FOREIGN KEY(type_id) REFERENCES noema_note_types (id)
);
INSERT INTO "noema_notes" VALUES(1,1,2,1,'["the cheese", "le fromage"]',' food dairy ','guid-1','the cheese
le fromage',1001,'2026-11-01 09:00:00.000000','2026-11-03 09:00:00.000000');
INSERT INTO "noema_notes" VALUES(2,1,2,1,'["the dog", "le chien"]',' animals ','guid-2','the dog
le chien',1002,'2026-11-01 09:00:00.000000','2026-11-03 09:00:00.000000');
INSERT INTO "noema_notes" VALUES(3,1,2,1,'["the bread", "le pain"]','','guid-3','the bread
le pain',1003,'2026-11-01 09:00:00.000000','2026-11-03 09:00:00.000000');
INSERT INTO "noema_notes" VALUES(7,2,4,2,'["question", "answer"]',' food ','guid-7','question
answer',1007,'2026-11-01 09:00:00.000000','2026-11-03 09:00:00.000000');
CREATE TABLE noema_reviews (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	user_id INTEGER NOT NULL, 
	card_id INTEGER NOT NULL, 
	rating SMALLINT NOT NULL, 
	reviewed_at DATETIME NOT NULL, 
	duration_ms INTEGER NOT NULL, 
	state SMALLINT NOT NULL, 
	interval_s BIGINT NOT NULL, 
	last_interval_s BIGINT NOT NULL, 
	stability DOUBLE, 
	difficulty DOUBLE, 
	"key" VARCHAR(255), 
	"before" JSON, 
	FOREIGN KEY(user_id) REFERENCES noema_users (id)
);
INSERT INTO "noema_reviews" VALUES(1,1,1,3,'2026-11-03 10:00:00.000000',4000,0,86400,0,2.3065,2.118,NULL,NULL);
INSERT INTO "noema_reviews" VALUES(2,1,1,3,'2026-11-04 10:00:00.000000',5000,2,777600,86400,12.5,5.25,'card_1-2',NULL);
INSERT INTO "noema_reviews" VALUES(3,1,2,1,'2026-11-15 09:00:00.000000',3000,0,60,0,0.212,6.413,NULL,NULL);
INSERT INTO "noema_reviews" VALUES(4,1,2,3,'2026-11-15 10:00:00.000000',3000,0,600,0,2.3065,2.118,NULL,'{"schedule": {"state": 0, "step": null, "stability": null, "difficulty": null, "due": null, "last_review": null}, "reps": 0, "lapses": 0, "buried_until": null, "buried": [], "leech": false}');
INSERT INTO "noema_reviews" VALUES(6,1,77,4,'2026-11-02 10:00:00.000000',3000,0,600,0,2.3065,2.118,NULL,NULL);
CREATE TABLE noema_undone (
	review_id INTEGER NOT NULL, 
	undone_at DATETIME NOT NULL, 
	PRIMARY KEY (review_id), 
	FOREIGN KEY(review_id) REFERENCES noema_reviews (id)
);
INSERT INTO "noema_undone" VALUES(3,'2026-11-15 09:30:00.000000');
CREATE TABLE noema_users (
	id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	name VARCHAR(255) NOT NULL, 
	preferences JSON NOT NULL, 
	created_at DATETIME NOT NULL, 
	UNIQUE (name)
);
INSERT INTO "noema_users" VALUES(1,'local','{"timezone": "Europe/Paris", "session_minutes": 15}','2026-11-01 08:00:00.000000');
INSERT INTO "noema_users" VALUES(2,'bob','{}','2026-11-02 08:00:00.000000');
CREATE TABLE noema_version (version_num VARCHAR(32) NOT NULL, CONSTRAINT noema_version_pkc PRIMARY KEY (version_num));
INSERT INTO "noema_version" VALUES('0001_collection');
CREATE UNIQUE INDEX noema_decks_by_name ON noema_decks (user_id, name_key);
CREATE INDEX noema_note_types_by_name ON noema_note_types (user_id, name);
CREATE UNIQUE INDEX noema_notes_by_guid ON noema_notes (user_id, guid);
CREATE INDEX noema_notes_by_first ON noema_notes (user_id, first_key);
CREATE INDEX noema_notes_by_deck ON noema_notes (deck_id);
CREATE UNIQUE INDEX noema_cards_by_note ON noema_cards (note_id, ordinal);
CREATE INDEX noema_cards_by_due ON noema_cards (deck_id, queue, due, id);
CREATE INDEX noema_cards_by_position ON noema_cards (deck_id, queue, position, id);
CREATE INDEX noema_cards_by_user ON noema_cards (user_id, id);
CREATE INDEX noema_reviews_by_time ON noema_reviews (user_id, reviewed_at, id);
CREATE INDEX noema_reviews_by_card ON noema_reviews (card_id, reviewed_at);
CREATE UNIQUE INDEX noema_reviews_by_key ON noema_reviews (user_id, "key") WHERE key IS NOT NULL;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('noema_users',2);
INSERT INTO "sqlite_sequence" VALUES('noema_decks',4);
INSERT INTO "sqlite_sequence" VALUES('noema_note_types',2);
INSERT INTO "sqlite_sequence" VALUES('noema_notes',7);
INSERT INTO "sqlite_sequence" VALUES('noema_cards',50);
INSERT INTO "sqlite_sequence" VALUES('noema_reviews',6);
