-- weir_internal.check_log_settings(l)
-- Checks the settings of a log.
--
-- Parameters:
--   l  the log
-- Returns: nothing.
-- Raises: WR005, WR006
-- Locks: none
create or replace function weir_internal.check_log_settings(l weir_internal.logs)
returns void
language plpgsql
as $$
begin
    if l.name is null or l.name !~ '^[a-z][a-z0-9_]{0,39}$' then
        raise exception 'log name % is not valid', coalesce(quote_literal(left(l.name, 100)), 'null')
            using errcode = 'WR005', hint = 'Use 1 to 40 characters of a-z, 0-9 and "_", the first a letter.';
    elsif l.segment_bytes not between 65536 and 1099511627776 then
        raise exception 'segment_bytes % is out of range', l.segment_bytes
            using errcode = 'WR006', hint = 'Give 64 KiB (65536) to 1 TiB.';
    elsif l.claims_bytes not between 65536 and 1099511627776 then
        raise exception 'claims_bytes % is out of range', l.claims_bytes
            using errcode = 'WR006', hint = 'Give 64 KiB (65536) to 1 TiB.';
    elsif l.retention not between interval '0' and interval '10 years' then
        raise exception 'retention % is out of range', l.retention
            using errcode = 'WR006', hint = 'Give 0 to 10 years.';
    end if;
end
$$;
