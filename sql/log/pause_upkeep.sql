-- weir_log.pause_upkeep()
-- Keeps maintain from judging what is needed of the log until the transaction ends, for who makes more of it needed: a
-- group that begins, or goes back. What was judged not to be needed before is not there for it: readers of segments
-- that were given up are sent to `rest`, as maintain would do next.
--
-- Returns: nothing.
-- Raises: none
-- Locks: the upkeep of the log, shared, until the transaction ends.
create or replace function weir_log.pause_upkeep()
returns void
language plpgsql
as $$
begin
    perform pg_advisory_xact_lock_shared(weir_internal.rotation_lock(l.no))
    from weir_internal.logs l where l.schema_name = 'weir_log';
    perform weir_log.leave_segments();
end
$$;
