-- Deadlines became part of a round. Before, they followed from the configuration: a round that is
-- open gets the default grace, which the server extends once when it starts.
ALTER TABLE rounds ADD COLUMN gives_up INTEGER NOT NULL DEFAULT 0;
ALTER TABLE rounds ADD COLUMN extended INTEGER NOT NULL DEFAULT 0 CHECK (extended IN (0, 1));
UPDATE rounds SET gives_up = closes + 120000;
