-- weir.finish_many(queue_name, claim_ids, ids, results)
-- Finishes jobs of several claims in one call and one commit, with their results. What cannot be finished is left to a
-- weir.finish of its own, which says why; the others are done.
--
-- Parameters:
--   queue_name  the queue
--   claim_ids   one a job: the claim it came with
--   ids         the jobs
--   results     null, or one a job (null elements allowed)
-- Returns: one element a job, in their order: 1; 0 = it was finished already; null = not done, ask finish.
-- Raises: WR001, WR006, WR008, WR012, and what enqueueing raises where a workflow goes on (WR009, WR010 and WR011
-- within make it leave jobs out)
-- Locks: the claims and the jobs, until the transaction ends.
create or replace function weir.finish_many(
    queue_name text, claim_ids bigint[], ids bigint[], results jsonb[] default null)
returns int[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_out int[] := array_fill(null::int, array[coalesce(cardinality(ids), 0)]);
    v_finish text := 'select ' || weir_internal.call('finish', queue_name, '$1, $2, $3');
    v_claim bigint;
    v_places int[];
    v_done bigint[];
begin
    if cardinality(claim_ids) is distinct from cardinality(ids) or cardinality(results) <> cardinality(ids)
        or 1 < any(array[array_ndims(claim_ids), array_ndims(ids), array_ndims(results)]) then
        raise exception 'finish_many of % claims, % jobs and % results', coalesce(cardinality(claim_ids), 0),
            coalesce(cardinality(ids), 0), coalesce(cardinality(results)::text, 'no')
            using errcode = 'WR006',
            hint = 'Give arrays of one dimension: a claim_id for each job, and a result for each or none at all.';
    end if;
    for v_claim, v_places in
        select c, array_agg(i::int order by i) from unnest(claim_ids) with ordinality u (c, i) group by c order by c
    loop
        begin
            execute v_finish into v_done
            using v_claim, array(select ids[i] from unnest(v_places) i),
                array(select results[i] from unnest(v_places) i);
            for i in 1 .. cardinality(v_places) loop
                v_out[v_places[i]] := (ids[v_places[i]] = any(v_done))::int;
            end loop;
        exception
            when sqlstate 'WR009' or sqlstate 'WR010' or sqlstate 'WR011' then
                null;
        end;
    end loop;
    return v_out;
end
$$;
