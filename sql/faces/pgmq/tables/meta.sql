-- The queues, as PGMQ's clients read them. Each is a queue of the engine too, called pgmq. and the name in lower case.
create table if not exists pgmq.meta (
    queue_name     varchar unique not null,             -- as it was given
    is_partitioned boolean not null,                    -- it was made by create_partitioned
    is_unlogged    boolean not null,                    -- it was made by create_unlogged
    created_at     timestamptz default now() not null   -- when it was created
);
