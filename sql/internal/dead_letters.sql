-- weir_internal.dead_letters(queue_name, group_name, max, after)
-- Lists a group's dead letters by id.
--
-- Parameters:
--   queue_name  the queue
--   group_name  the group
--   max         1 to 10,000 rows at most
--   after       only ids above this: to page on, give the last id of the page before
-- Returns: one row a message; attempts counts its deliveries, reason is what nack or reject was told last.
-- Raises: WR001, WR003, WR006
-- Locks: none
create or replace function weir_internal.dead_letters(
    queue_name text, group_name text default 'default', max int default 100, after bigint default 0)
returns table (
    id bigint, key text, payload jsonb, headers jsonb, enqueued_at timestamptz, attempts int,
    died_at timestamptz, reason text, body bytea, payload_text text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
    q weir_internal.queues := weir_internal.find_queue(queue_name);
    g weir_internal.groups := weir_internal.find_group(q, group_name);
begin
    if max is null or max not between 1 and 10000 or after is null then
        raise exception 'max % or after % is out of range', coalesce(max::text, 'null'), coalesce(after::text, 'null')
            using errcode = 'WR006', hint = 'Ask for 1 to 10,000 dead letters, after an id (0 = from the first).';
    end if;
    return query
    select d.id, d.key, j.payload, d.headers, d.enqueued_at, d.attempts, d.died_at, d.reason,
        coalesce(d.body, case when j.payload is null then convert_to(d.payload, 'UTF8') end), d.payload
    from weir_internal.dead_letters d
    cross join lateral (select weir_internal.jsonb_of(d.payload) as payload) j
    where d.queue_no = q.no and d.group_no = g.no and d.id > after
    order by d.id limit max;
end
$$;
