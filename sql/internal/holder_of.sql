-- weir_internal.holder_of(p_table, p_mode)
-- Who keeps rotation from locking a table: of the transactions that hold a lock in its way, the oldest; where rotation
-- wants to truncate, also a session that dumps the database, as lock_or_skip then takes no such lock.
--
-- Parameters:
--   p_table  the table, qualified
--   p_mode   the lock that is wanted: 'share' or 'access exclusive'
-- Returns: one row: what it is, its process id, the age of its transaction and its last statement, which PostgreSQL
-- shows only to those it may; all null when nobody is in the way.
-- Raises: none
-- Locks: none
create or replace function weir_internal.holder_of(
    p_table text, p_mode text, out what text, out pid int, out age interval, out query text)
language sql
set search_path = pg_catalog, pg_temp
as $$
    select h.what, h.pid, weir_internal.clock() - h.since, h.query
    from (
        select coalesce('prepared transaction ' || quote_literal(p.gid), 'transaction of process ' || l.pid) as what,
            l.pid, coalesce(a.xact_start, p.prepared) as since, a.query
        from pg_locks l
        left join pg_stat_activity a on a.pid = l.pid
        left join pg_locks x on l.pid is null and x.pid is null and x.locktype = 'transactionid'
            and x.virtualtransaction = l.virtualtransaction
        left join pg_prepared_xacts p on p.transaction = x.transactionid
        where l.locktype = 'relation' and l.granted and l.relation = to_regclass(p_table)
            and l.database = (select oid from pg_database where datname = current_database())
            and l.pid is distinct from pg_backend_pid()
            and (p_mode = 'access exclusive' or l.mode not in ('AccessShareLock', 'RowShareLock', 'ShareLock'))
        union all
        select 'pg_dump of process ' || d.pid, d.pid, a.backend_start, a.query
        from weir_internal.dumping() d join pg_stat_activity a on a.pid = d.pid
        where p_mode = 'access exclusive'
    ) h
    order by h.since limit 1
$$;
