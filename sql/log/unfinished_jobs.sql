-- weir_log.unfinished_jobs(q, p_ids, p_txids)
-- Of jobs that have unique keys, those that still have them.
--
-- Parameters:
--   q        the queue
--   p_ids    jobs, null elements allowed
--   p_txids  of each, the transaction that sent it where it has its key until it is finished; else null
-- Returns: p_ids, with null for each job that is finished or was cancelled.
-- Raises: none
-- Locks: ACCESS SHARE on the log and the claim log.
create or replace function weir_log.unfinished_jobs(q weir_internal.queues, p_ids bigint[], p_txids xid8[])
returns bigint[]
language plpgsql
as $$
declare
    v_asked bigint[];
    v_txids xid8[];
    v_left bigint[];
begin
    select array_agg(u.id order by u.id), array_agg(u.txid order by u.id) into v_asked, v_txids
    from unnest(p_ids, p_txids) u (id, txid) where u.id is not null and u.txid is not null;
    if v_asked is null then
        return p_ids;
    end if;
    v_left := array(select s.id from weir_log.job_state_of(q, v_asked, v_txids) s where s.state <> 'cancelled');
    return array(
        select case when u.txid is null or u.id = any(v_left) then u.id end
        from unnest(p_ids, p_txids) with ordinality u (id, txid, i) order by u.i);
end
$$;
