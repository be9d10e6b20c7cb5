-- weir.enqueue_batch(queue_name, jobs, delay, priority, unique_for, is_unique, tracked)
-- Enqueues many jobs at once, all or none, in the caller's transaction; see weir.enqueue.
--
-- Parameters:
--   queue_name  the queue
--   jobs        at most 100,000 JSON objects: {"kind": text, "args"?: any, "key"?: text, "headers"?: object,
--               "run_at"?: timestamp, "unique_key"?: text}
--   delay       of those without run_at: not delivered before this has passed
--   priority    of all of them, as send takes it
--   unique_for  how long unique keys count; null = until the job is finished
--   is_unique   true: those without unique_key are unique by kind and arguments
--   tracked     true: what happens to them can be asked, see weir.job
-- Returns: one row a job, in their order: its id; or the id of the job that is there already, and repeated = true.
-- Raises: WR001, WR006, WR007, WR008, WR020, WR050; unique jobs also WR012 and 40P01
-- Locks: ROW EXCLUSIVE on the queue's open segment, and the unique keys, until the transaction ends.
create or replace function weir.enqueue_batch(
    queue_name text,
    jobs json[],
    delay interval default null,
    priority int default null,
    unique_for interval default null,
    is_unique boolean default false,
    tracked boolean default false)
returns table (id bigint, repeated boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_ids bigint[];
    v_repeated boolean[];
begin
    execute 'select e.* from weir_internal.read_jobs($1, $2) j cross join lateral '
        || weir_internal.call('enqueue', queue_name,
            'j.kinds, j.args, j.keys, j.headers, j.due, $3, $4, j.unique_keys, $5, $6, $7')
        || ' e'
    into v_ids, v_repeated
    using queue_name, jobs, delay, priority,
        is_unique is true or unique_for is not null, unique_for, tracked is true;
    return query select u.id, u.repeated from unnest(v_ids, v_repeated) u (id, repeated);
end
$$;
create or replace function weir.enqueue_batch(
    queue_name bpchar,
    jobs jsonb[],
    delay interval default null,
    priority int default null,
    unique_for interval default null,
    is_unique boolean default false,
    tracked boolean default false)
returns table (id bigint, repeated boolean)
language sql
as $$
    select * from weir.enqueue_batch(queue_name::text, jobs::json[], delay, priority, unique_for, is_unique, tracked)
$$;
