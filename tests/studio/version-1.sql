
CREATE TABLE project (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    name TEXT NOT NULL,
    made TEXT NOT NULL,
    settings TEXT NOT NULL,           -- JSON
    state TEXT NOT NULL CHECK (state IN ('open', 'frozen', 'revealed')),
    set_digest TEXT NOT NULL,
    seed INTEGER NOT NULL,
    units INTEGER NOT NULL            -- how many there are to judge
);
CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    segment TEXT UNIQUE,              -- null for calibration, which is not of the set
    grp TEXT,
    source TEXT,
    context TEXT,
    refs TEXT NOT NULL,               -- JSON list
    ord INTEGER NOT NULL,
    outputs INTEGER NOT NULL,         -- how many there are
    calibration INTEGER NOT NULL DEFAULT 0,
    CHECK ((segment IS NULL) = calibration)
);
CREATE TABLE output (
    id INTEGER PRIMARY KEY,           -- in an order that says nothing of systems
    item INTEGER NOT NULL REFERENCES item,
    system TEXT NOT NULL,             -- not sent to browsers before the reveal
    text TEXT NOT NULL,
    hash TEXT NOT NULL,
    predicted REAL                    -- the value of a metric or model, more is better
);
CREATE INDEX output_item ON output (item);
CREATE TABLE dimension (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    settings TEXT NOT NULL            -- JSON
);
CREATE TABLE nugget (
    id INTEGER PRIMARY KEY,
    item INTEGER NOT NULL REFERENCES item,
    nugget TEXT NOT NULL,
    importance TEXT NOT NULL,
    descriptions TEXT NOT NULL,       -- JSON list
    UNIQUE (item, nugget)
);
CREATE TABLE draw (
    item INTEGER PRIMARY KEY REFERENCES item,
    round INTEGER NOT NULL,
    probability REAL NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX draw_round ON draw (round);
CREATE TABLE unit (
    id INTEGER PRIMARY KEY,
    task TEXT NOT NULL,
    item INTEGER NOT NULL REFERENCES item,
    outputs TEXT NOT NULL,            -- JSON list of ids, sorted
    round INTEGER NOT NULL,           -- 0 for calibration
    taken INTEGER NOT NULL DEFAULT 0, -- assessors who judged it or have a lease
    answer TEXT,                      -- JSON, the known answer of a calibration unit
    UNIQUE (task, item, outputs)
);
CREATE INDEX unit_round ON unit (round, taken);
CREATE TABLE assessor (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    token_hash TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL CHECK (role IN ('assessor', 'adjudicator', 'owner')),
    quota INTEGER,
    seed INTEGER NOT NULL,
    active INTEGER NOT NULL DEFAULT 1,
    made TEXT NOT NULL,
    frontier INTEGER NOT NULL DEFAULT 1,  -- earlier rounds have nothing for this assessor
    assigned INTEGER NOT NULL DEFAULT 0,
    judged INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE assignment (
    id INTEGER PRIMARY KEY,
    unit INTEGER NOT NULL REFERENCES unit,
    assessor INTEGER NOT NULL REFERENCES assessor,
    task TEXT NOT NULL,
    item INTEGER NOT NULL REFERENCES item,
    outputs TEXT NOT NULL,            -- JSON list of ids in the order shown
    reason TEXT NOT NULL,
    probability REAL,
    round INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    ord INTEGER NOT NULL,
    lease TEXT,                       -- when it ends; null if it has ended
    made TEXT NOT NULL,
    judged INTEGER,                   -- the newest judgement, if that is complete
    UNIQUE (assessor, unit)
);
CREATE INDEX assignment_unit ON assignment (unit);
CREATE INDEX assignment_open ON assignment (assessor, ord) WHERE judged IS NULL;
CREATE INDEX assignment_lease ON assignment (lease) WHERE judged IS NULL AND lease IS NOT NULL;
CREATE TABLE judgement (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    assignment INTEGER NOT NULL REFERENCES assignment,
    assessor INTEGER NOT NULL REFERENCES assessor,
    value TEXT,                       -- JSON; null if undone
    ms INTEGER NOT NULL,
    supersedes INTEGER UNIQUE REFERENCES judgement,
    time TEXT NOT NULL
);
CREATE INDEX judgement_assignment ON judgement (assignment);
CREATE TABLE adjudication (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    task TEXT NOT NULL,
    item INTEGER NOT NULL REFERENCES item,
    output INTEGER REFERENCES output,
    about TEXT NOT NULL,              -- a dimension or a nugget
    value TEXT,                       -- JSON; null if withdrawn
    assessor INTEGER NOT NULL REFERENCES assessor,
    seen TEXT NOT NULL,               -- JSON, the judgements that were shown
    supersedes INTEGER UNIQUE REFERENCES adjudication,
    time TEXT NOT NULL
);
CREATE INDEX adjudication_target ON adjudication (task, item, output, about);
CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    time TEXT NOT NULL,
    assessor INTEGER REFERENCES assessor,
    what TEXT NOT NULL,
    detail TEXT NOT NULL              -- JSON
);

CREATE TRIGGER judgement_UPDATE BEFORE UPDATE ON judgement
BEGIN SELECT RAISE(ABORT, 'rows of judgement are never changed'); END;

CREATE TRIGGER judgement_DELETE BEFORE DELETE ON judgement
BEGIN SELECT RAISE(ABORT, 'rows of judgement are never changed'); END;

CREATE TRIGGER adjudication_UPDATE BEFORE UPDATE ON adjudication
BEGIN SELECT RAISE(ABORT, 'rows of adjudication are never changed'); END;

CREATE TRIGGER adjudication_DELETE BEFORE DELETE ON adjudication
BEGIN SELECT RAISE(ABORT, 'rows of adjudication are never changed'); END;

CREATE TRIGGER event_UPDATE BEFORE UPDATE ON event
BEGIN SELECT RAISE(ABORT, 'rows of event are never changed'); END;

CREATE TRIGGER event_DELETE BEFORE DELETE ON event
BEGIN SELECT RAISE(ABORT, 'rows of event are never changed'); END;

CREATE TRIGGER draw_UPDATE BEFORE UPDATE ON draw
BEGIN SELECT RAISE(ABORT, 'rows of draw are never changed'); END;

CREATE TRIGGER draw_DELETE BEFORE DELETE ON draw
BEGIN SELECT RAISE(ABORT, 'rows of draw are never changed'); END;
