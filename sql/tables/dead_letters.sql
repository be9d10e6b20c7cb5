-- weir_internal.dead_letters
-- Messages a group gave up on: rejected, or past their attempts. Rows leave by redrive, discard and drop_group only.
create table if not exists weir_internal.dead_letters (
    queue_no    int not null references weir_internal.queues on delete cascade, -- the queue
    group_no    int not null,               -- the group that gave up; other groups are not concerned
    id          bigint not null,            -- the message
    key         text,                       -- as sent
    headers     jsonb,                      -- as sent
    payload     text,                       -- JSON as sent; null: it has a body
    body        bytea,                      -- as sent
    enqueued_at timestamptz not null,       -- when it was sent
    attempts    int not null,               -- deliveries it had
    died_at     timestamptz not null,       -- when the group gave up
    reason      text,                       -- the last error, as nack or reject told it
    primary key (group_no, id)
);
create index if not exists dead_letters_queue on weir_internal.dead_letters (queue_no);
