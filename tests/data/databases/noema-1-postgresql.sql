CREATE TABLE noema_users (
    id BIGSERIAL NOT NULL, 
    name VARCHAR(255) NOT NULL, 
    preferences JSON NOT NULL, 
    created_at TIMESTAMP WITH TIME ZONE NOT NULL, 
    PRIMARY KEY (id), 
    UNIQUE (name)
);

CREATE TABLE noema_decks (
    id BIGSERIAL NOT NULL, 
    user_id BIGINT NOT NULL, 
    name VARCHAR(255) NOT NULL, 
    name_key TEXT NOT NULL, 
    description TEXT NOT NULL, 
    preset JSON NOT NULL, 
    created_at TIMESTAMP WITH TIME ZONE NOT NULL, 
    PRIMARY KEY (id), 
    FOREIGN KEY(user_id) REFERENCES noema_users (id)
);

CREATE UNIQUE INDEX noema_decks_by_name ON noema_decks (user_id, name_key);

CREATE TABLE noema_note_types (
    id BIGSERIAL NOT NULL, 
    user_id BIGINT NOT NULL, 
    name TEXT NOT NULL, 
    is_cloze BOOLEAN NOT NULL, 
    fields JSON NOT NULL, 
    templates JSON NOT NULL, 
    css TEXT NOT NULL, 
    PRIMARY KEY (id), 
    FOREIGN KEY(user_id) REFERENCES noema_users (id)
);

CREATE INDEX noema_note_types_by_name ON noema_note_types (user_id, name);

CREATE TABLE noema_notes (
    id BIGSERIAL NOT NULL, 
    user_id BIGINT NOT NULL, 
    deck_id BIGINT NOT NULL, 
    type_id BIGINT NOT NULL, 
    field_values JSON NOT NULL, 
    tags TEXT NOT NULL, 
    guid VARCHAR(255) NOT NULL, 
    text TEXT NOT NULL, 
    first_key BIGINT NOT NULL, 
    created_at TIMESTAMP WITH TIME ZONE NOT NULL, 
    modified_at TIMESTAMP WITH TIME ZONE NOT NULL, 
    PRIMARY KEY (id), 
    FOREIGN KEY(user_id) REFERENCES noema_users (id), 
    FOREIGN KEY(deck_id) REFERENCES noema_decks (id), 
    FOREIGN KEY(type_id) REFERENCES noema_note_types (id)
);

CREATE UNIQUE INDEX noema_notes_by_guid ON noema_notes (user_id, guid);

CREATE INDEX noema_notes_by_first ON noema_notes (user_id, first_key);

CREATE INDEX noema_notes_by_deck ON noema_notes (deck_id);

CREATE TABLE noema_cards (
    id BIGSERIAL NOT NULL, 
    user_id BIGINT NOT NULL, 
    note_id BIGINT NOT NULL, 
    deck_id BIGINT NOT NULL, 
    ordinal INTEGER NOT NULL, 
    position BIGINT NOT NULL, 
    queue SMALLINT NOT NULL, 
    state SMALLINT NOT NULL, 
    step SMALLINT, 
    stability DOUBLE PRECISION, 
    difficulty DOUBLE PRECISION, 
    due TIMESTAMP WITH TIME ZONE, 
    last_review TIMESTAMP WITH TIME ZONE, 
    reps INTEGER NOT NULL, 
    lapses INTEGER NOT NULL, 
    buried_until TIMESTAMP WITH TIME ZONE, 
    created_at TIMESTAMP WITH TIME ZONE NOT NULL, 
    PRIMARY KEY (id), 
    FOREIGN KEY(user_id) REFERENCES noema_users (id), 
    FOREIGN KEY(note_id) REFERENCES noema_notes (id) ON DELETE CASCADE, 
    FOREIGN KEY(deck_id) REFERENCES noema_decks (id)
);

CREATE UNIQUE INDEX noema_cards_by_note ON noema_cards (note_id, ordinal);

CREATE INDEX noema_cards_by_due ON noema_cards (deck_id, queue, due, id);

CREATE INDEX noema_cards_by_position ON noema_cards (deck_id, queue, position, id);

CREATE INDEX noema_cards_by_user ON noema_cards (user_id, id);

CREATE TABLE noema_reviews (
    id BIGSERIAL NOT NULL, 
    user_id BIGINT NOT NULL, 
    card_id BIGINT NOT NULL, 
    rating SMALLINT NOT NULL, 
    reviewed_at TIMESTAMP WITH TIME ZONE NOT NULL, 
    duration_ms INTEGER NOT NULL, 
    state SMALLINT NOT NULL, 
    interval_s BIGINT NOT NULL, 
    last_interval_s BIGINT NOT NULL, 
    stability DOUBLE PRECISION, 
    difficulty DOUBLE PRECISION, 
    key VARCHAR(255), 
    before JSON, 
    PRIMARY KEY (id), 
    FOREIGN KEY(user_id) REFERENCES noema_users (id)
);

CREATE INDEX noema_reviews_by_time ON noema_reviews (user_id, reviewed_at, id);

CREATE INDEX noema_reviews_by_card ON noema_reviews (card_id, reviewed_at);

CREATE UNIQUE INDEX noema_reviews_by_key ON noema_reviews (user_id, key) WHERE key IS NOT NULL;

CREATE TABLE noema_undone (
    review_id BIGINT NOT NULL, 
    undone_at TIMESTAMP WITH TIME ZONE NOT NULL, 
    PRIMARY KEY (review_id), 
    FOREIGN KEY(review_id) REFERENCES noema_reviews (id)
);
