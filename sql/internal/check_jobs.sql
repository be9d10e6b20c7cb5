-- weir_internal.check_jobs(p_queue, p_window, p_kinds, p_headers, p_delay, p_unique_keys, p_unique_for)
-- Refuses jobs that cannot be.
--
-- Parameters:
--   p_queue        name of the queue, for the error
--   p_window       its dedup window; '' = none
--   p_kinds        one a job, 1 to 255 octets
--   p_headers      null, or one a job
--   p_delay        null, or how long they wait
--   p_unique_keys  null when none is unique; else one a job, at most 1,024 octets
--   p_unique_for   null, or how long the keys count
-- Returns: nothing.
-- Raises: WR006, WR012, WR050
-- Locks: none
create or replace function weir_internal.check_jobs(
    p_queue text, p_window text, p_kinds text[], p_headers jsonb[], p_delay interval, p_unique_keys text[],
    p_unique_for interval)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_kind text;
begin
    select u.kind into v_kind from unnest(p_kinds) u (kind)
    where u.kind is null or octet_length(u.kind) not between 1 and 255 limit 1;
    if found then
        raise exception 'a job for queue "%" has the kind %', p_queue,
            coalesce(quote_literal(left(v_kind, 100)), 'null')
            using errcode = 'WR050', hint = 'Name what handles it, in 1 to 255 octets.';
    end if;
    if exists (select from unnest(p_headers) h where jsonb_typeof(h) = 'object' and h ? 'job') then
        raise exception 'a job for queue "%" has a header "job"', p_queue
            using errcode = 'WR006', hint = 'Weir keeps that header for itself. Name yours otherwise.';
    end if;
    if p_delay < interval '0' then
        raise exception 'delay % is out of range', p_delay
            using errcode = 'WR006', hint = 'Give a delay of 0 to 10 years.';
    end if;
    if p_unique_keys is null then
        return;
    end if;
    if p_window = '' then
        raise exception 'queue "%" has no dedup window, and so no unique jobs', p_queue
            using errcode = 'WR006',
            hint = format('select weir.configure_queue(%L, dedup_window => ''5 minutes'')', p_queue);
    end if;
    perform weir_internal.check_isolation('enqueue of unique jobs');
    if p_unique_for is not null and p_unique_for not between interval '1 millisecond' and interval '10 years' then
        raise exception 'jobs for queue "%" are unique for %', p_queue, p_unique_for
            using errcode = 'WR006', hint = 'Give 1 millisecond to 10 years, or null: until the job is finished.';
    end if;
    if exists (select from unnest(p_unique_keys) k where octet_length(k) > 1024) then
        raise exception 'a unique key for queue "%" has more than 1024 octets', p_queue
            using errcode = 'WR006', hint = 'Use a shorter key, or a digest of it.';
    end if;
end
$$;
