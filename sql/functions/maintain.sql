-- weir.maintain(every, steps)
-- Gives space back and does whatever else must be done from time to time: internal/maintenance_steps.sql has the list.
-- Anyone may call it at any time, any number at once; what another session does at this moment is passed over. Delivery
-- does not depend on it. Call it about once a second: `call weir.maintain()`. It commits after each step, so that it
-- holds nothing while it goes on, and therefore cannot be called within a transaction. It goes on while there is more
-- to do, for up to a second.
--
-- Parameters:
--   every  0 to 1 hour: when anybody began a call less than this ago, do nothing. So a hundred workers that each call
--          it once a second cost what one does; 0, the default, is for who calls it alone
-- Returns: in steps, how much it did; 0 = nothing to do now.
-- Raises: WR006, WR012, WR015 in a transaction block
-- Locks: those of weir.maintain_step, each until its step is committed.
create or replace procedure weir.maintain(every interval default '0', inout steps int default 0)
language plpgsql
as $$
declare
    v_until timestamptz := pg_catalog.clock_timestamp() operator(pg_catalog.+) interval '1 second';
    v_names text[];
    v_logs text[];
    v_round int;
begin
    begin
        commit; -- fails in any case: within a transaction block for that, else because of this block's handler
    exception
        when invalid_transaction_termination then
            if sqlerrm operator(pg_catalog.=) 'invalid transaction termination' then
                raise exception 'maintain was called within a transaction'
                    using errcode = 'WR015',
                    hint = 'It commits after each step. Send "call weir.maintain()" by itself.';
            end if;
    end;
    steps := 0;
    select pg_catalog.array_agg(m.step_name), pg_catalog.array_agg(m.log_name) into v_names, v_logs
    from weir.maintenance(every) m;
    commit;
    loop
        v_round := 0;
        for i in 1 .. coalesce(pg_catalog.cardinality(v_names), 0) loop
            v_round := v_round operator(pg_catalog.+) weir.maintain_step(v_names[i], v_logs[i]);
            commit;
        end loop;
        steps := steps operator(pg_catalog.+) v_round;
        exit when (v_round operator(pg_catalog.=) 0)
            or (pg_catalog.clock_timestamp() operator(pg_catalog.>) v_until);
    end loop;
end
$$;
