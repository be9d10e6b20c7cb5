-- weir_log.keep_unique(q, p_ids, p_kinds, p_args, p_keys, p_unique, p_until)
-- Of jobs that are to be enqueued, tells which are there already, and takes the keys of the others.
--
-- Parameters:
--   q         the queue
--   p_ids     one a job, rising: the id that it is to get
--   p_kinds, p_args, p_keys  one a job; p_keys with null elements
--   p_unique  true: a job without a key is unique by its kind and arguments
--   p_until   until when the keys count; null = until the job is finished
-- Returns: one row: ids, in the order of the jobs, that of the job that is there already where one is; and repeated,
-- which those are.
-- Raises: 40P01
-- Locks: those of claim_unique_keys.
create or replace function weir_log.keep_unique(
    q weir_internal.queues, p_ids bigint[], p_kinds text[], p_args text[], p_keys text[], p_unique boolean,
    p_until timestamptz, out ids bigint[], out repeated boolean[])
language plpgsql
as $$
declare
    v_digests uuid[]; -- one a job; null: it is not unique
    v_keys uuid[];    -- those, each once and ascending
    v_first bigint[];
begin
    v_digests := array(
        select case when p_unique or u.key is not null then weir_internal.job_digest(u.kind, u.args::jsonb, u.key) end
        from unnest(p_kinds, p_args, p_keys) with ordinality u (kind, args, key, i) order by u.i);
    select array_agg(t.key order by t.key), array_agg(t.id order by t.key) into v_keys, v_first
    from (select u.key, min(u.id) as id from unnest(v_digests, p_ids) u (key, id)
          where u.key is not null group by u.key) t;
    if v_keys is not null then
        v_first := weir_log.claim_unique_keys(q, v_keys, v_first, coalesce(p_until, 'infinity'));
    end if;
    select array_agg(coalesce(f.id, u.id) order by u.id), array_agg(coalesce(f.id <> u.id, false) order by u.id)
    into ids, repeated
    from unnest(p_ids, v_digests) u (id, key)
    left join unnest(v_keys, v_first) f (key, id) using (key);
end
$$;
