-- weir_internal.lock_holders()
-- Sessions that hold an advisory lock of Weir's for longer than its calls do: outside of a transaction, which no call
-- does, or in one that has been open for a minute. There a claim's own lock is passed over: whoever acks keeps that
-- until he commits, and nobody waits for it.
--
-- Returns: one row a session and group; group_no is null for locks that belong to none. in_transaction tells whether a
-- transaction is open; role_name, age and query as far as the engine's owner may see them.
-- Raises: none
-- Locks: none
create or replace function weir_internal.lock_holders()
returns table (pid int, role_name text, group_no int, in_transaction boolean, age interval, query text)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    v_seen int[]; -- what commits at this moment seems to hold locks outside of a transaction, too, but not twice
begin
    perform pg_stat_clear_snapshot();
    v_seen := array(
        select distinct l.pid from pg_locks l
        where l.locktype = 'advisory' and l.objsubid = 1 and l.virtualtransaction ~ '/0$'
            and l.classid::bigint >> 16 between 22373 and 22399);
    return query
    select l.pid, coalesce(min(a.usename), 'unknown'), k.group_no, bool_or(v.pid is not null),
        weir_internal.clock() - min(a.xact_start), min(left(a.query, 200))
    from pg_locks l
    cross join lateral (select l.classid::bigint << 32 | l.objid::bigint as key) b
    cross join lateral (
        select case b.key >> 48 when 22374 then (b.key >> 24 & 16777215)::int
                    when 22376 then (b.key & 2147483647)::int when 22377 then (b.key & 2147483647)::int
               end as group_no) k
    left join pg_stat_activity a on a.pid = l.pid
    left join pg_locks v on v.pid = l.pid and v.locktype = 'virtualxid' and v.granted
        and v.virtualtransaction = l.virtualtransaction
    where l.locktype = 'advisory' and l.granted and l.objsubid = 1 and l.pid is not null
        and l.database = (select d.oid from pg_database d where d.datname = current_database())
        and b.key >> 48 between 22373 and 22399
        and case when v.pid is null then coalesce(a.state, 'idle') = 'idle' and l.pid = any(v_seen)
                 else a.xact_start < weir_internal.clock() - interval '1 minute'
                     and b.key >> 48 not in (22373, 22375) end
    group by l.pid, k.group_no;
end
$$;
