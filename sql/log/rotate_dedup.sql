-- weir_log.rotate_dedup(p_bytes), weir_log.carry_keys(p_left, p_open)
-- rotate_dedup: one step of the ring of dedup keys and keys of unique jobs. carry_keys: copies the keys that still
-- count from the older table to the open one.
--
-- Parameters:
--   p_bytes  the ring turns when a table is as large
--   p_left   the older table
--   p_open   the open one
-- Returns: rotate_dedup: how many things it did, 0 or 1.
-- Raises: none
-- Locks: as weir_log.turn_ring.
create or replace function weir_log.rotate_dedup(p_bytes bigint default 16777216)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
    return weir_log.turn_ring('dedup', p_bytes,
        coalesce((select max(dedup_window) from weir_internal.queues), interval '0'));
end
$$;
create or replace function weir_log.carry_keys(p_left text, p_open text)
returns void
language plpgsql
as $$
begin
    execute format(
        'with waiting as materialized (
             select d.queue_no, array_agg(d.id order by d.id) as ids, array_agg(d.txid order by d.id) as txids
             from %1$s d where d.at = ''infinity'' group by d.queue_no),
         unfinished as materialized (
             select q.no as queue_no, s.id from waiting w
             join weir_internal.queues q on q.no = w.queue_no
             cross join lateral weir_log.job_state_of(q, w.ids, w.txids) s where s.state <> ''cancelled''),
         kept as materialized (
             select d.* from %1$s d
             join weir_internal.queues q on q.no = d.queue_no
             left join unfinished u on u.queue_no = d.queue_no and u.id = d.id
             where case when d.txid is null then d.at > $1 - q.dedup_window
                        when d.at < ''infinity'' then d.at > $1
                        else u.id is not null end)
         insert into %2$s select * from kept order by queue_no, key
         on conflict (queue_no, key) do nothing', p_left, p_open)
    using weir_internal.clock();
end
$$;
