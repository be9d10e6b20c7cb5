-- weir_internal.check_dedup_keys(p_queue, p_window, p_count, p_dedup_keys)
-- Refuses dedup keys that cannot be.
--
-- Parameters:
--   p_queue       name of the queue, for the error
--   p_window      its dedup window; '' = none
--   p_count       how many messages there are
--   p_dedup_keys  one a message, at most 1,024 octets each; null elements allowed
-- Returns: nothing.
-- Raises: WR006
-- Locks: none
create or replace function weir_internal.check_dedup_keys(
    p_queue text, p_window text, p_count int, p_dedup_keys text[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_octets int;
begin
    if p_window = '' then
        raise exception 'queue "%" has no dedup window', p_queue
            using errcode = 'WR006',
            hint = format('select weir.configure_queue(%L, dedup_window => ''5 minutes'')', p_queue);
    end if;
    if p_dedup_keys is null or array_ndims(p_dedup_keys) > 1 or array_lower(p_dedup_keys, 1) <> 1
        or cardinality(p_dedup_keys) <> p_count then
        raise exception 'the dedup keys of % messages for queue "%" are an array %', p_count, p_queue,
            coalesce(array_dims(p_dedup_keys), case when p_dedup_keys is null then 'null' else 'of none' end)
            using errcode = 'WR006',
            hint = 'Give an array of one dimension that begins at 1, a key for each message (null elements allowed).';
    end if;
    v_octets := (select max(octet_length(k)) from unnest(p_dedup_keys) k);
    if v_octets > 1024 then
        raise exception 'a dedup key for queue "%" has % octets, the limit is 1024', p_queue, v_octets
            using errcode = 'WR006', hint = 'Use a shorter key, or a digest of it.';
    end if;
end
$$;
