-- weir_internal.still_held(p_queue, p_ids, p_txids)
-- Of jobs that hold keys, those that still do.
--
-- Parameters:
--   p_queue  queue number
--   p_ids    jobs, null elements allowed
--   p_txids  of each, the transaction that sent it where it holds its key until it is finished; else null
-- Returns: p_ids, with null for each job that is finished.
-- Raises: none
-- Locks: ACCESS SHARE on the log and the claim log.
create or replace function weir_internal.still_held(p_queue int, p_ids bigint[], p_txids xid8[])
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_held bigint[];
begin
    if not exists (select from unnest(p_ids, p_txids) u (id, txid) where u.id is not null and u.txid is not null) then
        return p_ids;
    end if;
    execute format(
        'select array_agg(s.id) from weir_internal.q%s_standing(
             array(select u.id from unnest($1, $2) u (id, txid) where u.txid is not null and u.id is not null),
             array(select u.txid from unnest($1, $2) u (id, txid) where u.txid is not null and u.id is not null)) s
         where s.state <> ''cancelled''', p_queue)
    into v_held using p_ids, p_txids;
    return array(
        select case when u.txid is null then u.id else h.id end
        from unnest(p_ids, p_txids) with ordinality u (id, txid, i)
        left join (select distinct unnest(v_held) as id) h on h.id = u.id
        order by u.i);
end
$$;
