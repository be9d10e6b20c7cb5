-- weir_log.adopt(p_log), weir_log.adopt_rings()
-- adopt: makes this log, which came in a dump, one of this cluster. All that was sent counts from now on as sent by the
-- transaction 1, which is in the past of every snapshot, whatever the ids of this cluster: the order is then that of
-- the segments and of the ids. A cursor goes on after the last message that it had claimed; what its group had not
-- finished up to there, or had not claimed because it was committed late, is delivered again in another way. Cursors
-- that have nothing to claim get no row: they stand at the new base, as after any turn of the claim log. Nobody else
-- uses the log meanwhile: all calls on its queues fail.
--
-- adopt_rings: sets the states of the rings. pg_dump reads sequences after its snapshot, and a rollback leaves them
-- changed, so they are made of what the tables say: table k holds the segment n, n % 3 = k, that was not moved to
-- `rest`; of the other rings both tables are read.
--
-- Parameters:
--   p_log  number of the log
-- Returns: nothing.
-- Raises: none
-- Locks: ACCESS EXCLUSIVE on the claim log and on free segments, ROW EXCLUSIVE on the log's other tables.
create or replace function weir_log.adopt(p_log int)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
    q weir_internal.queues;
    g weir_internal.groups;
    b weir_internal.claim;
    v_lane record;
    v_cursors weir_internal.claim[] := '{}';
begin
    perform weir_log.adopt_rings();
    update weir_internal.ended_epochs e set ended_by = pg_current_xact_id(), written_by = null
    from weir_internal.queues w where w.no = e.queue_no and w.log_no = p_log;
    for q in select * from weir_internal.queues w where p_log in (w.log_no, w.moving_from) order by w.no loop
        perform weir_log.adopt_delayed(q);
        for g in select * from weir_internal.groups w where w.queue_no = q.no order by w.no loop
            perform weir_log.adopt_claims(q, g);
        end loop;
        perform setval(q.backlog_sequence, 0) where q.backlog_sequence is not null; -- it is counted anew
    end loop;
    for v_lane in
        select distinct l.queue_no, l.lane from generate_series(0, 3) k
        cross join lateral weir_log.lanes_in(k, 0, 0, null) l where l.lane >= 0 order by 1, 2
    loop
        v_cursors := v_cursors || weir_log.adopt_lane(v_lane.queue_no, v_lane.lane);
    end loop;
    update weir_log.log_0 set txid = '1';
    update weir_log.log_1 set txid = '1';
    update weir_log.log_2 set txid = '1';
    update weir_log.rest set txid = '1';
    update weir_log.delayed set txid = '1';
    b := weir_log.new_base();
    truncate weir_log.claims_0, weir_log.claims_1;
    perform setval('weir_log.claims_ring', 0);
    insert into weir_log.claims_0 select c.* from unnest(v_cursors || b) c;
    update weir_internal.groups set start = b, start_by = '1'
    where queue_no in (select no from weir_internal.queues w where w.log_no = p_log);
    -- of queues that were moving nobody can send to this log any more
    update weir_internal.queues set moving_closed = true where moving_from = p_log;
end
$$;
create or replace function weir_log.adopt_rings()
returns void
language plpgsql
as $$
declare
    v_open bigint := (select max(no) from weir_log.segments);
    v_no bigint;
begin
    for k in 0 .. 2 loop
        select max(no) into v_no from weir_log.segments where no % 3 = k and freed_by is null;
        if v_no is null then
            execute format('truncate weir_log.log_%s', k);
            v_no := (select n from generate_series(v_open + 1, v_open + 3) n where n % 3 = k);
        end if;
        perform setval(format('weir_log.log_%s_segment', k), v_no);
    end loop;
    update weir_log.segments set opened_by = '1', sealed_by = case when sealed_by is not null then '1'::xid8 end,
        freed_by = case when freed_by is not null then '1'::xid8 end;
    perform setval('weir_log.log_ring', v_open);
    perform setval('weir_log.claims_ring', 1);
    perform setval('weir_log.dedup_ring', 1);
    perform setval('weir_log.jobs_ring', 1);
    delete from weir_log.carries;
end
$$;
