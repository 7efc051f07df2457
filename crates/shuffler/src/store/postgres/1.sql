-- Rounds that are not finished.
CREATE TABLE rounds (
    context     bytea PRIMARY KEY,      -- SHA-256 of task, round, model and keys
    number      bigint GENERATED ALWAYS AS IDENTITY UNIQUE, -- names the round's partitions
    signed      bytea NOT NULL,         -- the round as the server signed it
    server      bytea NOT NULL,
    record_len  bigint NOT NULL,
    min_batch   bigint NOT NULL,
    -- 'short': it ended below the minimum, and takes nothing any more
    state       text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'short', 'sealed')),
    batch       bytea,
    count       bigint,
    CHECK ((state = 'sealed') = (batch IS NOT NULL AND count IS NOT NULL))
);

-- Which replica brings a round to its end. Apart from the rounds, so that intake does not wait for it.
CREATE TABLE leases (
    context     bytea PRIMARY KEY,
    holder      bytea,
    until       timestamptz NOT NULL DEFAULT '-infinity'
);

-- A partition for each round, dropped with it. The digest is the report's; nothing says when it came.
CREATE TABLE reports (
    round       bigint NOT NULL,
    digest      bytea NOT NULL,
    body        bytea NOT NULL,
    PRIMARY KEY (round, digest)
) PARTITION BY LIST (round);
-- What is encrypted does not become shorter.
ALTER TABLE reports ALTER COLUMN body SET STORAGE EXTERNAL;

-- The order of a batch: digests, 32 bytes each, in rows of some thousands. Filled by the transaction that seals.
CREATE TABLE sequence (
    round       bigint NOT NULL,
    place       bigint NOT NULL,
    digests     bytea NOT NULL,
    PRIMARY KEY (round, place)
) PARTITION BY LIST (round);
ALTER TABLE sequence ALTER COLUMN digests SET STORAGE EXTERNAL;

-- SHA-256 of the context of each round that is over: it has no second batch.
CREATE TABLE finished (context bytea PRIMARY KEY);

-- Since when a key is not the newest any more, in milliseconds since 1970.
CREATE TABLE retired (public bytea PRIMARY KEY, since bigint NOT NULL);

-- Since when a key is the newest, in milliseconds since 1970.
CREATE TABLE activated (public bytea PRIMARY KEY, since bigint NOT NULL);

-- Tasks that a server has signed a round of.
CREATE TABLE tasks (server bytea NOT NULL, task bytea NOT NULL, PRIMARY KEY (server, task));
