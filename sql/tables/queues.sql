-- weir_internal.queues
-- The queues. Read by every call, written by administration only.
create table if not exists weir_internal.queues (
    no                int primary key,                  -- never used again
    name              text not null unique,             -- what users call it
    log_no            int not null references weir_internal.logs, -- where new messages go
    origin            oid[] not null,                   -- the log's
    key_lanes         int not null default 16,          -- lanes of messages with keys
    key_epochs        int[] not null default '{16}',    -- of each number of lanes there was, the last counts
    keyed             boolean not null default false,   -- a key was sent: see tables/keyed_queues.sql
    priorities        int not null default 1,           -- levels; messages without keys of level p are in lane p
    aging             interval not null default '1 minute', -- by so much earlier counts a message of a level higher
    message_bytes_max int not null default 1048576,     -- octets of the largest text or bytes plus headers
    paused            boolean not null default false,   -- no group is delivered anything, later ones included
    ttl               interval not null default '0',    -- what was sent longer ago is not delivered; 0: no matter when
    dedup_window      interval default '5 minutes',     -- how long a dedup key counts; null: it takes none
    backlog_max       bigint,                           -- messages its slowest group may be behind by; null: no limit
    backlog_sequence  regclass,                         -- how many more may be sent without counting: see log/admit.sql
    waiting           regclass not null,                -- who waits for a message: see log/wake.sql
    special           regclass not null,                -- whether receives must look aside: see log/mark_special.sql
    job_retention     interval not null default '1 day', -- how long what happened to tracked jobs is kept at least
    created_at        timestamptz not null default now(), -- when it was created
    moving_from       int references weir_internal.logs, -- the log that it is leaving, see move_queue; null: none
    moving_origin     oid[],                            -- that log's
    moving_by         xid8,                             -- the transaction that began to move it
    moving_waits      text[],                           -- who may still go by what was so before: see continue_moves
    moving_seen       pg_snapshot,                      -- taken when there was nobody left of these
    moving_closed     boolean                           -- true: nobody sends to the log that it is leaving any more
);
create index if not exists queues_moving on weir_internal.queues (no) where moving_from is not null;
