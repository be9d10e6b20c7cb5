-- weir_log.get(p_queue, p_ids)
-- Shows messages, wherever in the queue they are, and how each group stands to them: all in one snapshot. If a ring
-- turned meanwhile, it is read again.
--
-- Parameters:
--   p_queue  name of the queue
--   p_ids    the messages, 1 to 1,000
-- Returns: one row a message that the queue holds, in the order of p_ids; see weir.get.
-- Raises: WR001, WR006, WR012, WR019
-- Locks: ACCESS SHARE on the log and the claim log.
create or replace function weir_log.get(p_queue text, p_ids bigint[])
returns setof weir.stored_message
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC' -- the times of details are texts
set plan_cache_mode = force_generic_plan
set jit = off
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
    q weir_internal.queues := weir_log.find_queue(p_queue);
    v_now timestamptz := weir_internal.clock();
    v_rings bigint[];
    v_out weir.stored_message[];
begin
    perform weir_internal.check_isolation('get');
    if p_ids is null or cardinality(p_ids) not between 1 and 1000 or array_ndims(p_ids) > 1
        or array_position(p_ids, null) is not null then
        raise exception 'get of % messages of queue "%", or of null', coalesce(cardinality(p_ids), 0), p_queue
            using errcode = 'WR006', hint = 'Give 1 to 1,000 ids that send returned, as an array of one dimension.';
    end if;
    loop
        v_rings := weir_log.ring_states();
        v_out := array(select row(m.*)::weir.stored_message from weir_log.read_messages(q, p_ids, v_now) m);
        exit when weir_log.ring_states() = v_rings;
    end loop;
    return query select * from unnest(v_out);
end
$$;
