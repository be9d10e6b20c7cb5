-- weir.configure_log(log_name, segment_bytes, claims_bytes, retention)
-- Changes settings of a log.
--
-- Parameters: as weir.create_log; what is null stays as it is
-- Returns: nothing.
-- Raises: WR005, WR006
-- Locks: the log's row, until the transaction ends.
create or replace function weir.configure_log(
    log_name text,
    segment_bytes bigint default null,
    claims_bytes bigint default null,
    retention interval default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    l weir_internal.logs := weir_internal.find_log(log_name);
begin
    l.segment_bytes := coalesce(configure_log.segment_bytes, l.segment_bytes);
    l.claims_bytes := coalesce(configure_log.claims_bytes, l.claims_bytes);
    l.retention := coalesce(configure_log.retention, l.retention);
    perform weir_internal.check_log_settings(l);
    update weir_internal.logs w
    set segment_bytes = coalesce(configure_log.segment_bytes, w.segment_bytes),
        claims_bytes = coalesce(configure_log.claims_bytes, w.claims_bytes),
        retention = coalesce(configure_log.retention, w.retention)
    where w.no = l.no;
end
$$;
