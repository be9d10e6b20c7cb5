-- weir_log.trim_rest()
-- Deletes from `rest` what nobody needs any more, in up to 50 lanes and up to 1,000 records of each, and truncates it
-- when it is empty.
-- trim_rest_of_lane: does it in one lane.
--
-- Parameters:
--   p_queue, p_lane  the lane
-- Returns: how many records it deleted, or 1 for a truncation.
-- Raises: none; what goes wrong with one queue is reported.
-- Locks: ROW EXCLUSIVE on `rest`, or ACCESS EXCLUSIVE, tried.
create or replace function weir_log.trim_rest()
returns int
language plpgsql
as $$
declare
    l record;
    v_done int := 0;
    v_last int;
begin
    if pg_relation_size('weir_log.rest') = 0 then
        return 0;
    end if;
    select t.queue_no into v_last from weir_log.rest t order by t.queue_no desc limit 1;
    for l in
        select * from weir_log.lanes_in(3, 0, -2, 25)
        union
        select * from weir_log.lanes_in(3, floor(random() * v_last)::int, 2147483647, 25)
    loop
        begin
            v_done := v_done + weir_log.trim_rest_of_lane(l.queue_no, l.lane);
        exception
            when others then
                raise warning 'the rest of queue "%" is kept: %',
                    (select name from weir_internal.queues where no = l.queue_no), sqlerrm;
        end;
    end loop;
    return v_done + weir_internal.truncate_if_empty('weir_log.rest');
end
$$;
create or replace function weir_log.trim_rest_of_lane(p_queue int, p_lane int)
returns int
language plpgsql
as $$
declare
    v_cursors weir_internal.claim[];
    v_since timestamptz[];
    v_claims weir_internal.claim[];
    v_done int;
begin
    select array_agg(k.c), array_agg(k.since) into v_cursors, v_since from weir_log.lane_cursors(p_queue, p_lane) k;
    v_claims := array(
        select u from unnest(v_cursors) c
        cross join lateral weir_log.unfinished(c.group_no, c.lane, c.stripe, c.low, 'infinity', null) u);
    delete from weir_log.rest where ctid = any(array(
        select t.ctid
        from (select r.ctid, r.* from weir_log.rest r where r.queue_no = p_queue and r.lane = p_lane
              order by r.seg, r.txid, r.id limit 1000) t
        where not exists (select from generate_subscripts(v_cursors, 1) i
                          where weir_log.is_unclaimed(v_cursors[i], v_since[i], t.seg, t.txid, t.id, t.enqueued_at))
            and not exists (select from unnest(v_claims) u
                            where coalesce((u.src).seg, u.seg) = t.seg
                                and weir_log.has_any(u.ids, t.ids, t.id, t.n))));
    get diagnostics v_done = row_count;
    return v_done;
end
$$;
