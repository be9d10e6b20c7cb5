-- pgmq._pick(p_queue, p_how, p_condition, p_qty), pgmq._read_picked(p_queue, p_vt, p_how, p_condition, p_qty),
-- pgmq._poll_picked(p_queue, p_vt, p_how, p_condition, p_qty, p_seconds, p_every)
-- Reads that do not take what comes first. _pick: which messages it shall be. It lists the whole queue, as PGMQ does.
-- _read_picked: takes each of them from where it stands, if it may still be read, and keeps it among the delayed until
-- p_vt seconds have passed, as pgmq.set_vt. Of a group, which is what the header x-pgmq-group says, the messages behind
-- one that somebody else has taken meanwhile are left. Reads by group take turns, so that none sees half of another.
-- _poll_picked: waits until there is something to pick. It locks nothing before, and ends when it has tried to read,
-- with or without success: else its locks would keep others out while it sleeps.
--
-- Parameters:
--   p_queue      the queue
--   p_how        'condition'; 'grouped': of the oldest groups all; 'rr': of each group one, then one more; 'head': of
--                each group one
--   p_condition  what the messages must contain
--   p_vt         seconds; 0 or less: whoever reads next may have them
--   p_qty        messages at most; null = all
--   p_seconds    it waits so long at most
--   p_every      it looks again after so many milliseconds
-- Returns: _pick: messages and their groups, in the order in which they are taken; _read_picked: the messages, in the
-- same order.
-- Raises: 42P01, 23502, 2201W, WR012, WR016, WR019
-- Locks: as pgmq.set_vt; with groups one on the queue, until the transaction ends: who has to wait for it for more than
-- 0.1 seconds gets nothing.
create or replace function pgmq._pick(p_queue text, p_how text, p_condition jsonb, p_qty int)
returns table (id bigint, fifo_group text)
language sql
as $$
    with listed as materialized (
        select l.msg_id, l.vt <= weir_internal.clock() as readable,
            coalesce(l.headers ->> 'x-pgmq-group', '_default_fifo_group') as fifo_group,
            p_how <> 'condition' or l.message @> p_condition as meant
        from pgmq._list(p_queue) l
    ),
    ranked as (
        select l.*, min(l.msg_id) over (partition by l.fifo_group) as head,
            min(l.msg_id) filter (where l.readable) over (partition by l.fifo_group) as first,
            count(*) filter (where l.readable) over (partition by l.fifo_group order by l.msg_id) as place
        from listed l
        where l.meant
    )
    select r.msg_id, r.fifo_group from ranked r
    where r.readable and (p_how = 'condition' or r.head = r.first and (p_how <> 'head' or r.msg_id = r.head))
    order by case when p_how = 'rr' then r.place end, case when p_how in ('grouped', 'rr') then r.head end, r.msg_id
    limit p_qty
$$;
create or replace function pgmq._read_picked(p_queue text, p_vt int, p_how text, p_condition jsonb, p_qty int)
returns setof pgmq.message_record
language plpgsql
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
set jit = off
as $$
declare
    q weir_internal.queues := pgmq._find(p_queue);
    g weir_internal.groups := pgmq._group(q);
    m pgmq.message_record;
    p record;
    v_tries int := 0;
    v_taken text[] := '{}'; -- groups of which somebody else has taken something
begin
    perform weir_internal.check_isolation('read');
    if g.paused or g.queue_paused then
        return;
    end if;
    if p_how <> 'condition' then
        while not pg_try_advisory_xact_lock(weir_internal.message_lock(q.no, 0)) loop
            v_tries := v_tries + 1;
            if v_tries > 50 then
                return;
            end if;
            perform pg_sleep(0.002);
        end loop;
    end if;
    for p in select * from pgmq._pick(p_queue, p_how, p_condition, p_qty) loop
        continue when p.fifo_group = any(v_taken);
        perform pgmq._check_vt(q, weir_internal.clock() + make_interval(secs => p_vt));
        m := pgmq._take_out(q, g, p.id, 'read');
        if m.msg_id is not null then
            m.read_ct := m.read_ct + 1;
            m.last_read_at := weir_internal.clock();
            m.vt := m.last_read_at + make_interval(secs => p_vt);
            perform pgmq._delay(q, g.no, array[m], m.vt);
            return next m;
        elsif p_how <> 'condition' then
            v_taken := v_taken || p.fifo_group;
        end if;
    end loop;
end
$$;
create or replace function pgmq._poll_picked(
    p_queue text, p_vt int, p_how text, p_condition jsonb, p_qty int, p_seconds int, p_every int)
returns setof pgmq.message_record
language plpgsql
as $$
declare
    v_stop timestamptz := clock_timestamp() + make_interval(secs => p_seconds);
begin
    while clock_timestamp() < v_stop loop
        if exists (select from pgmq._pick(p_queue, p_how, p_condition, p_qty)) then
            return query select * from pgmq._read_picked(p_queue, p_vt, p_how, p_condition, p_qty);
            return;
        end if;
        perform pg_sleep(p_every::numeric / 1000);
    end loop;
end
$$;
