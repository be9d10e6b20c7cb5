-- weir_log.lanes_in(p_table, p_queue, p_lane, p_max)
-- The lanes that have records in a table of the log, by as many descents in its index as there are lanes.
-- table_name: the name of such a table.
--
-- Parameters:
--   p_table          0 .. 2: of the ring, 3: rest
--   p_queue, p_lane  begin behind this lane
--   p_max            at most so many
-- Returns: lanes, in order.
-- Raises: none
-- Locks: ACCESS SHARE on the table.
create or replace function weir_log.lanes_in(p_table int, p_queue int, p_lane int, p_max int)
returns table (queue_no int, lane int)
language plpgsql
as $$
begin
    return query execute format(
        'with recursive l as (
             (select t.queue_no, t.lane from %1$s t where (t.queue_no, t.lane) > ($1, $2)
              order by t.queue_no, t.lane limit 1)
             union all
             select n.queue_no, n.lane from l
             cross join lateral (select t.queue_no, t.lane from %1$s t
                                 where (t.queue_no, t.lane) > (l.queue_no, l.lane)
                                 order by t.queue_no, t.lane limit 1) n)
         select * from l limit $3', weir_log.table_name(p_table))
    using p_queue, p_lane, p_max;
end
$$;
create or replace function weir_log.table_name(p_table int)
returns text
language sql
as $$ select case p_table when 3 then 'weir_log.rest' else 'weir_log.log_' || p_table end $$;
