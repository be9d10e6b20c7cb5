-- weir_internal.read_jobs(p_queue, p_jobs)
-- Takes jobs apart that are written as JSON.
--
-- Parameters:
--   p_queue  name of the queue, for the error
--   p_jobs   objects, as weir.enqueue_batch takes them
-- Returns: one row: an array a field, one element a job.
-- Raises: WR006, WR007
-- Locks: none
create or replace function weir_internal.read_jobs(
    p_queue text, p_jobs json[],
    out kinds text[], out args json[], out keys text[], out headers jsonb[], out due timestamptz[],
    out unique_keys text[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_wrong text;
begin
    if p_jobs is null or array_ndims(p_jobs) > 1 then
        raise exception 'the jobs for queue "%" are an array %', p_queue, coalesce(array_dims(p_jobs), 'null')
            using errcode = 'WR007', hint = 'Give an array of JSON objects, of one dimension.';
    end if;
    select coalesce('the field ' || quote_ident(f.name), 'a JSON ' || coalesce(json_typeof(j), 'value that is null'))
    into v_wrong
    from unnest(p_jobs) j
    left join lateral json_object_keys(case when json_typeof(j) = 'object' then j end) f (name) on true
    where json_typeof(j) is distinct from 'object'
        or f.name not in ('kind', 'args', 'key', 'headers', 'run_at', 'unique_key')
    limit 1;
    if found then
        raise exception 'a job for queue "%" is or has %', p_queue, v_wrong
            using errcode = 'WR006',
            hint = 'Give objects of "kind" and, as needed, "args", "key", "headers", "run_at" and "unique_key".';
    end if;
    select coalesce(array_agg(r.kind order by o), '{}'),
        coalesce(array_agg(coalesce(j -> 'args', '{}') order by o), '{}'),
        case when count(r.key) > 0 then array_agg(r.key order by o) end,
        case when count(r.headers) > 0 then array_agg(r.headers order by o) end,
        case when count(r.run_at) > 0 then array_agg(r.run_at order by o) end,
        case when count(r.unique_key) > 0 then array_agg(r.unique_key order by o) end
    into kinds, args, keys, headers, due, unique_keys
    from unnest(p_jobs) with ordinality u (j, o)
    cross join lateral json_to_record(j) r (
        kind text, key text, headers jsonb, run_at timestamptz, unique_key text);
end
$$;
