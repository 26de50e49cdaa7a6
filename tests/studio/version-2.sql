
ALTER TABLE nugget ADD COLUMN dropped INTEGER NOT NULL DEFAULT 0;  -- no longer in the key
ALTER TABLE nugget ADD COLUMN ord INTEGER;  -- place in the key, null if the id tells
CREATE TABLE key_edit (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    item INTEGER NOT NULL REFERENCES item,
    assessor INTEGER NOT NULL REFERENCES assessor,
    what TEXT NOT NULL CHECK (what IN ('add', 'reword', 'drop', 'importance', 'undo')),
    old_nugget INTEGER REFERENCES nugget,  -- the nugget that was there, null if none was
    old_importance TEXT,
    new_nugget INTEGER REFERENCES nugget,  -- the nugget that is there now, null if none is
    new_importance TEXT,
    concerned INTEGER NOT NULL,            -- judgements and decisions that this changed
    undoes INTEGER UNIQUE REFERENCES key_edit,
    supersedes INTEGER UNIQUE REFERENCES key_edit,  -- the edit before, of the same question
    time TEXT NOT NULL,
    CHECK ((what = 'undo') = (undoes IS NOT NULL))
);
CREATE INDEX key_edit_item ON key_edit (item);
CREATE INDEX key_edit_old ON key_edit (old_nugget);
CREATE INDEX key_edit_new ON key_edit (new_nugget);
CREATE INDEX nugget_dropped ON nugget (item) WHERE dropped;
CREATE TRIGGER nugget_words BEFORE UPDATE OF id, item, nugget, descriptions ON nugget
BEGIN SELECT RAISE(ABORT, 'the words of nuggets are never changed'); END;
CREATE TRIGGER nugget_DELETE BEFORE DELETE ON nugget
BEGIN SELECT RAISE(ABORT, 'nuggets stay, also when they leave the key'); END;

CREATE TRIGGER key_edit_UPDATE BEFORE UPDATE ON key_edit
BEGIN SELECT RAISE(ABORT, 'rows of key_edit are never changed'); END;

CREATE TRIGGER key_edit_DELETE BEFORE DELETE ON key_edit
BEGIN SELECT RAISE(ABORT, 'rows of key_edit are never changed'); END;
