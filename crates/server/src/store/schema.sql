-- One file is one population: whatever tasks are run with it, the ledger is that of all of them.

CREATE TABLE tasks (
    hash        BLOB PRIMARY KEY,       -- of the task's encoding
    encoding    BLOB NOT NULL,
    state       BLOB NOT NULL           -- what the server remembers from round to round, exactly
) STRICT, WITHOUT ROWID;

CREATE TABLE models (
    hash        BLOB PRIMARY KEY,       -- SHA-256 of the safetensors bytes
    bytes       BLOB NOT NULL
) STRICT;

CREATE TABLE rounds (
    task        BLOB NOT NULL REFERENCES tasks(hash),
    round       INTEGER NOT NULL,
    model       BLOB NOT NULL,          -- the weights that gradients are taken at
    keys        BLOB NOT NULL,          -- what reports are sealed to, the list that all clients are shown
    opens       INTEGER NOT NULL,       -- milliseconds since 1970
    closes      INTEGER NOT NULL,
    status      TEXT NOT NULL CHECK (status IN ('open', 'done', 'expired', 'abandoned')),
    epsilon     REAL NOT NULL,          -- of everything charged up to this round, rounded up
    epsilon_lower REAL NOT NULL,
    gives_up    INTEGER NOT NULL DEFAULT 0, -- when the round ends without a batch, in milliseconds since 1970
    extended    INTEGER NOT NULL DEFAULT 0 CHECK (extended IN (0, 1)), -- whether that was put off, which happens once
    PRIMARY KEY (task, round)
) STRICT, WITHOUT ROWID;

-- At most one round is open, whoever writes to this file.
CREATE UNIQUE INDEX one_open_round ON rounds (status) WHERE status = 'open';

-- A row for each round that was opened, written in the same transaction; never deleted.
CREATE TABLE ledger (
    task        BLOB NOT NULL,
    round       INTEGER NOT NULL,
    entry       TEXT NOT NULL,          -- the round as accounting knows it, in JSON
    PRIMARY KEY (task, round)
) STRICT, WITHOUT ROWID;

CREATE TABLE batches (
    id          BLOB PRIMARY KEY,
    task        BLOB NOT NULL,
    round       INTEGER NOT NULL,
    model       BLOB NOT NULL,
    keys        BLOB NOT NULL,          -- SHA-256 of the round's list
    accepted    INTEGER NOT NULL,
    rejected    INTEGER NOT NULL,
    UNIQUE (task, round)                -- one batch a round
) STRICT, WITHOUT ROWID;

CREATE TABLE report_ids (
    task        BLOB NOT NULL,
    round       INTEGER NOT NULL,
    id          BLOB NOT NULL,
    PRIMARY KEY (task, round, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE metrics (
    task        BLOB NOT NULL,
    round       INTEGER NOT NULL,
    accuracy    REAL,                   -- of the model after the round, where it was evaluated
    answer      BLOB,                   -- hash of the model to use after the round
    PRIMARY KEY (task, round)
) STRICT, WITHOUT ROWID;
