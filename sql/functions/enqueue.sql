-- weir.enqueue(queue_name, kind, args, key, headers, delay, run_at, priority, unique_key, unique_for, is_unique, ...)
-- Enqueues a job, in the caller's transaction: a message whose payload is the job's arguments and whose header "kind"
-- names what handles it. All that queues do with messages they do with jobs. One that is neither tracked nor unique
-- costs what a message costs.
--
-- A unique job is enqueued unless one of the same key is there. The key is `unique_key`, or with `is_unique` the kind
-- and the arguments. It counts until the job is finished: done, a dead letter, cancelled, purged, or without a group
-- that is to have it; or, with `unique_for`, for that long from the time it was enqueued. While another transaction
-- that enqueued the key is open, it waits: when that commits, its job is there; when it rolls back, this one is
-- enqueued.
--
-- Parameters:
--   queue_name  the queue
--   kind        what handles it, 1 to 255 octets
--   args        its arguments, any JSON value, kept as weir.send keeps a payload
--   key         as send takes it
--   headers     a JSON object; not with the name "job"
--   delay       not delivered before this has passed; at most 10 years
--   run_at      not delivered before this time; at once when it is past. It takes the place of a delay
--   priority    as send takes it
--   unique_key  makes it unique by this; at most 1,024 octets
--   unique_for  makes it unique for so long, 1 millisecond to 10 years; null = until it is finished
--   is_unique   true makes it unique by its kind and arguments, unless there is a unique_key
--   tracked     true: what happens to it can be asked, see weir.job
-- Returns: the job's id, which is its message's; that of the job that is there already when it is not enqueued.
-- Raises: WR001, WR006, WR007, WR008, WR020, WR050; unique jobs also WR012, and 40P01 when two transactions enqueue the
-- same keys in different orders by several calls, or the ring of keys turns between
-- Locks: ROW EXCLUSIVE on the queue's open segment, and the unique key, until the transaction ends.
create or replace function weir.enqueue(
    queue_name text,
    kind text,
    args json default '{}',
    key text default null,
    headers jsonb default null,
    delay interval default null,
    run_at timestamptz default null,
    priority int default null,
    unique_key text default null,
    unique_for interval default null,
    is_unique boolean default false,
    tracked boolean default false)
returns bigint
language plpgsql
as $$
declare
    v_id bigint;
begin
    if unique_key is null and unique_for is null and is_unique is not true and tracked is not true and run_at is null
        and octet_length(kind) between 1 and 255 and (headers is null or not headers ? 'job') then
        headers := coalesce(headers || pg_catalog.jsonb_build_object('kind', kind),
            pg_catalog.jsonb_build_object('kind', kind));
        if weir_internal.direct(queue_name) then
            return weir_log.send(queue_name, args, key, headers, delay, priority, null);
        end if;
        execute 'select ' || weir_internal.call('send', queue_name, '$1, $2, $3, $4, $5, null')
        into v_id using args, key, headers, delay, priority;
        return v_id;
    end if;
    execute 'select ids[1] from ' || weir_internal.call('enqueue', queue_name,
        'array[$1], array[$2], case when $3 is not null then array[$3] end,
         case when $4 is not null then array[$4] end, case when $5 is not null then array[$5] end, $6, $7,
         case when $8 is not null then array[$8] end, $9, $10, $11')
    into v_id
    using kind, args, key, headers, run_at, delay, priority, unique_key,
        unique_key is null and (is_unique is true or unique_for is not null), unique_for, tracked is true;
    return v_id;
end
$$;
create or replace function weir.enqueue(
    queue_name bpchar,
    kind text,
    args jsonb,
    key text default null,
    headers jsonb default null,
    delay interval default null,
    run_at timestamptz default null,
    priority int default null,
    unique_key text default null,
    unique_for interval default null,
    is_unique boolean default false,
    tracked boolean default false)
returns bigint
language sql
as $$
    select weir.enqueue(queue_name::text, kind, args::json, key, headers, delay, run_at, priority, unique_key,
        unique_for, is_unique, tracked)
$$;
