-- weir_internal.queues
-- The queues of this database. Their logs are tables of their own: see internal/create_queue_tables.sql.
create table if not exists weir_internal.queues (
    -- names the queue's tables (q<no>_log_0 ...) and its advisory locks
    no                int primary key,
    name              text not null unique,             -- what users call it; names the queue's functions
    lanes             int not null,                     -- of all priorities together
    message_bytes_max int not null default 1048576,     -- largest payload plus headers, octets as stored
    segment_bytes     bigint not null default 67108864, -- a log segment is closed beyond this size
    claims_bytes      bigint not null default 16777216, -- a table of the claim log is left beyond this size
    group_ids         int not null default 0,           -- the last group id given out
    created_at        timestamptz not null default now(), -- when it was created
    paused            boolean not null default false,   -- no group is delivered anything, later ones included
    priorities        int not null default 1,           -- levels; each has lanes / priorities lanes of its own
    aging             interval not null default '1 minute', -- by so much earlier counts a message of a level higher
    ttl               interval not null default '0',    -- what was sent longer ago is not delivered; 0: no matter when
    retention         interval not null default '0',    -- what all groups have finished is kept so long, for seek
    birth             oid[] not null,                   -- weir_internal.birth_of(no) as it was where the queue was made
    dedup_window      interval default '5 minutes',     -- how long a dedup key counts; null: the queue has none
    backlog_max       bigint,                           -- messages its slowest group may be behind by; null: no limit
    job_retention     interval not null default '1 day', -- how long what happened to tracked jobs is kept at least
    constraint queue_no_range check (no between 1 and 65535)
);
