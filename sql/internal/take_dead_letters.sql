-- weir_internal.take_dead_letters(q, g, p_ids, p_since)
-- Removes up to 10,000 of a group's dead letters. What another transaction is removing is passed over.
--
-- Parameters:
--   q        the queue
--   g        the group
--   p_ids    which, all of them present; null = the oldest
--   p_since  only those that were sent at or after it; the others stay
-- Returns: the messages, attempts zero; null when there are none.
-- Raises: WR006, WR017
-- Locks: the rows, until the transaction ends.
create or replace function weir_internal.take_dead_letters(
    q weir_internal.queues, g weir_internal.groups, p_ids bigint[], p_since timestamptz)
returns weir_internal.delayed_row[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_messages weir_internal.delayed_row[];
    v_missing bigint[];
begin
    if array_ndims(p_ids) > 1 then
        raise exception 'dead letters % of queue "%"', p_ids, q.name
            using errcode = 'WR006', hint = 'Give the ids as an array of one dimension.';
    elsif p_ids is not null then
        v_missing := array(
            select i from unnest(p_ids) i
            where not exists (select from weir_internal.dead_letters d
                              where d.queue_no = q.no and d.group_no = g.no and d.id = i));
        if cardinality(v_missing) > 0 then
            raise exception 'group "%" of queue "%" has no dead letters %', g.name, q.name, v_missing
                using errcode = 'WR017', hint = format('select id from weir.dead_letters(%L, %L)', q.name, g.name);
        end if;
    end if;
    with taken as (
        delete from weir_internal.dead_letters
        where queue_no = q.no and group_no = g.no and id = any(array(
            select d.id from weir_internal.dead_letters d
            where d.queue_no = q.no and d.group_no = g.no and (p_ids is null or d.id = any(p_ids))
                and d.enqueued_at >= p_since
            order by d.id limit 10000 for update skip locked))
        returning *)
    select array_agg(row(null, q.no, g.no, null, t.id, 0, t.key, t.headers, t.payload, t.body, t.enqueued_at, null)
                     ::weir_internal.delayed_row order by t.id)
    into v_messages from taken t;
    return v_messages;
end
$$;
