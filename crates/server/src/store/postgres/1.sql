-- One schema is one population: whatever tasks are run with it, the ledger is that of all of them.

-- Grows with every transaction that writes, so that a replica sees what others did, and no two write at once.
CREATE TABLE revision (one boolean PRIMARY KEY DEFAULT true CHECK (one), number bigint NOT NULL);
INSERT INTO revision (number) VALUES (1);

CREATE TABLE tasks (
    hash        bytea PRIMARY KEY,      -- of the task's encoding
    encoding    bytea NOT NULL,
    state       bytea NOT NULL          -- what the server remembers from round to round, exactly
);

CREATE TABLE models (
    hash        bytea PRIMARY KEY,      -- SHA-256 of the safetensors bytes
    bytes       bytea NOT NULL
);

CREATE TABLE rounds (
    task        bytea NOT NULL REFERENCES tasks (hash),
    round       bigint NOT NULL,
    model       bytea NOT NULL,         -- the weights that gradients are taken at
    keys        bytea NOT NULL,         -- what reports are sealed to, the list that all clients are shown
    opens       bigint NOT NULL,        -- milliseconds since 1970
    closes      bigint NOT NULL,
    status      text NOT NULL CHECK (status IN ('open', 'done', 'expired', 'abandoned')),
    epsilon     double precision NOT NULL, -- of everything charged up to this round, rounded up
    epsilon_lower double precision NOT NULL,
    gives_up    bigint NOT NULL,        -- when the round ends without a batch
    extended    boolean NOT NULL,       -- whether that was put off, which happens once
    held        bigint NOT NULL DEFAULT 0, -- until when a replica may still be receiving the batch
    PRIMARY KEY (task, round)
);

-- At most one round is open, whoever writes.
CREATE UNIQUE INDEX one_open_round ON rounds (status) WHERE status = 'open';

-- A row for each round that was opened, written in the same transaction; never deleted.
CREATE TABLE ledger (
    task        bytea NOT NULL,
    round       bigint NOT NULL,
    entry       text NOT NULL,          -- the round as accounting knows it, in JSON
    PRIMARY KEY (task, round)
);

CREATE TABLE batches (
    id          bytea PRIMARY KEY,
    task        bytea NOT NULL,
    round       bigint NOT NULL,
    model       bytea NOT NULL,
    keys        bytea NOT NULL,         -- SHA-256 of the round's list
    accepted    bigint NOT NULL,
    rejected    bigint NOT NULL,
    UNIQUE (task, round)                -- one batch a round
);

CREATE TABLE report_ids (
    task        bytea NOT NULL,
    round       bigint NOT NULL,
    id          bytea NOT NULL,
    PRIMARY KEY (task, round, id)
);

CREATE TABLE metrics (
    task        bytea NOT NULL,
    round       bigint NOT NULL,
    accuracy    double precision,       -- of the model after the round, where it was evaluated
    answer      bytea,                  -- hash of the model to use after the round
    PRIMARY KEY (task, round)
);
