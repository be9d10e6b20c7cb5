-- weir_internal.logs
-- The logs of this database. The tables and functions of each are in a schema of its own.
create table if not exists weir_internal.logs (
    no            int primary key,                  -- never used again
    name          text not null unique,             -- what users call it
    schema_name   text not null unique,             -- weir_log for `main`, else weir_log_<name>
    origin        oid[] not null,                   -- of two of its relations where it was made: see log/find_queue.sql
    unlogged      boolean not null default false,   -- its messages do not survive a crash of PostgreSQL
    segment_bytes bigint not null default 67108864, -- a segment is closed beyond this size
    claims_bytes  bigint not null default 16777216, -- a table of the claim log is left beyond this size
    retention     interval not null default '0',    -- what all groups have finished is kept so long, for seek
    created_at    timestamptz not null default now() -- when it was made
);
