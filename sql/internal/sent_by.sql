-- weir_internal.sent_by(q, p_id)
-- The transaction that sent a message, as far as the queue holds it. It reads the log from end to end.
--
-- Parameters:
--   q     the queue
--   p_id  the message
-- Returns: the transaction; null when the message is not there.
-- Raises: none
-- Locks: ACCESS SHARE on the log.
create or replace function weir_internal.sent_by(q weir_internal.queues, p_id bigint)
returns xid8
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
    v_txid xid8;
begin
    if to_regclass(format('weir_internal.q%s_jobs_ring', q.no)) is not null then
        execute format('select txid from weir_internal.q%s_events(array[$1]) where what = 0 limit 1', q.no)
        into v_txid using p_id;
    end if;
    if v_txid is null then
        execute (
            select 'select t.txid from (' || string_agg(format(
                       'select l.txid from weir_internal.q%1$s_log_%2$s l
                        where l.id >= $1 and (l.ids is null and l.id - l.n < $1 or $1 = any(l.ids))', q.no, k),
                       ' union all ')
                   || format(' union all select l.txid from weir_internal.q%1$s_later l where l.id = $1
                               union all select ''1'' from weir_internal.q%1$s_parked p where p.id = $1
                               union all select ''1'' from weir_internal.lined_up(%1$s, null, $1)) t limit 1',
                   q.no)
            from generate_series(0, 2) k)
        into v_txid using p_id;
    end if;
    return v_txid;
end
$$;
