-- weir_internal.carry_over(p_queue, p_ring, p_left, p_open)
-- Copies what must not be forgotten from the older table of a ring to the open one: the keys of unique jobs that still
-- count, and the events of tracked jobs that have not ended.
--
-- Parameters:
--   p_queue  queue number
--   p_ring   'dedup' or 'jobs'
--   p_left   the older table, which nobody writes to
--   p_open   the open one
-- Returns: 1 when it copied something, 0 when there was nothing; -1 when somebody was in the way.
-- Raises: none
-- Locks: ROW EXCLUSIVE on the open table; rows of keys that are being taken, tried for 20 ms.
create or replace function weir_internal.carry_over(p_queue int, p_ring text, p_left text, p_open text)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set lock_timeout = '20ms'
as $$
declare
    v_count bigint;
begin
    if p_ring = 'dedup' then
        execute format(
            'with kept as materialized (
                 select d.key, d.id, d.at, d.txid from %1$s d
                 where d.txid is not null and d.at > $1 and d.at < ''infinity''
                 union all
                 select d.key, d.id, d.at, d.txid from weir_internal.q%3$s_standing(
                     array(select id from %1$s where txid is not null and at = ''infinity'' order by id),
                     array(select txid from %1$s where txid is not null and at = ''infinity'' order by id)) s
                 join %1$s d on d.id = s.id and d.txid is not null and d.at = ''infinity''
                 where s.state in (''waiting'', ''running''))
             insert into %2$s (key, id, at, txid) select * from kept order by key
             on conflict (key) do nothing', p_left, p_open, p_queue)
        using weir_internal.clock();
    else
        execute format(
            'with begun as materialized (
                 select o.id, o.txid from %1$s o where o.what = 0
                     and not exists (select from %1$s e where e.id = o.id and e.what = 2)
                     and not exists (select from %2$s e where e.id = o.id and e.what = 2)),
             kept as materialized (
                 select s.id from weir_internal.q%3$s_standing(
                     array(select id from begun order by id), array(select txid from begun order by id)) s)
             insert into %2$s select o.* from %1$s o join kept using (id)', p_left, p_open, p_queue);
    end if;
    get diagnostics v_count = row_count;
    return (v_count > 0)::int;
exception
    when lock_not_available then
        return -1;
end
$$;
