-- weir_internal.moving_ack(p_queue, p_claim, p_id), moving_ack_ids(...), moving_ack_all(...), moving_nack(...),
-- moving_reject(...), moving_release(...), moving_snooze(...), moving_extend(...), moving_finish(...),
-- moving_progress(...), weir_internal.log_of_claim(p_queue, p_claim)
-- What the functions of a log of the same names do, on a queue that is moving: in the log in which the claim is.
-- log_of_claim: that log.
--
-- Parameters: as those; p_claim decides
-- Returns: as those; log_of_claim: its schema; of a claim that is in neither, that of the log that the queue is in.
-- Raises: as those.
-- Locks: as those.
create or replace function weir_internal.log_of_claim(p_queue text, p_claim bigint)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(p_queue);
    v_leaving text := weir_internal.moving_logs(q, 1);
    v_is_there boolean := false;
begin
    if v_leaving is not null then
        execute format('select (%s.claim_state($1)).parts is not null', v_leaving) into v_is_there using p_claim;
    end if;
    return case when v_is_there then v_leaving else weir_internal.moving_logs(q, 2) end;
end
$$;
do $do$
declare
    f record;
begin
    for f in
        select * from (values
            ('ack', 'p_id bigint', 'int'),
            ('ack_ids', 'p_ids bigint[]', 'int'),
            ('ack_all', null, 'int'),
            ('nack', 'p_ids bigint[], p_delay interval, p_reason text', 'int'),
            ('reject', 'p_ids bigint[], p_reason text', 'int'),
            ('release', 'p_ids bigint[]', 'int'),
            ('snooze', 'p_ids bigint[], p_delay interval', 'int'),
            ('extend', 'p_lease interval', 'timestamptz'),
            ('finish', 'p_ids bigint[], p_results jsonb[]', 'bigint[]'),
            ('progress', 'p_id bigint, p_progress jsonb, p_lease interval', 'boolean')) v (verb, arguments, result)
    loop
        execute format($text$
create or replace function weir_internal.moving_%1$s(p_queue text, p_claim bigint%2$s)
returns %3$s
language plpgsql
set search_path = pg_catalog, pg_temp
as $body$
declare
    v_out %3$s;
begin
    execute format('select %%s.%1$s($1, $2%4$s)', weir_internal.log_of_claim(p_queue, p_claim))
    into v_out using p_queue, p_claim%5$s;
    return v_out;
end
$body$$text$, f.verb, coalesce(', ' || f.arguments, ''), f.result,
            coalesce((
                select string_agg(', $' || i + 2, '' order by i)
                from generate_series(1, cardinality(string_to_array(f.arguments, ','))) i), ''),
            coalesce(', ' || regexp_replace(f.arguments, '(\w+) [a-z\[\]]+', '\1', 'g'), ''));
    end loop;
end
$do$;
