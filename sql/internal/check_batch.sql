-- weir_internal.check_batch(p_queue, p_bytes_max, p_payloads, p_bodies, p_keys, p_headers)
-- Refuses a batch that cannot be sent; see check_message.
--
-- Parameters:
--   p_queue      name of the queue, for the error
--   p_bytes_max  limit of one message
--   p_payloads   one-dimensional, at most 100,000, each a JSON text, or null where there is a body
--   p_bodies     null, or as long as p_payloads
--   p_keys       null, or as long as p_payloads
--   p_headers    null, or as long as p_payloads
-- Returns: nothing.
-- Raises: WR006, WR007, WR008, 22P05, 22P02
-- Locks: none
create or replace function weir_internal.check_batch(
    p_queue text, p_bytes_max int, p_payloads text[], p_bodies bytea[], p_keys text[], p_headers jsonb[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
    if p_payloads is null then
        raise exception 'the payloads for queue "%" are null', p_queue
            using errcode = 'WR007', hint = 'Give an array of JSON values.';
    end if;
    if array_ndims(p_payloads) > 1 or array_lower(p_payloads, 1) <> 1 or cardinality(p_payloads) > 100000 then
        raise exception 'the payloads for queue "%" are an array % of % elements', p_queue,
            array_dims(p_payloads), cardinality(p_payloads)
            using errcode = 'WR006',
            hint = 'Give an array of one dimension that begins at 1, with at most 100,000 elements.';
    end if;
    if array_ndims(p_keys) > 1 or array_lower(p_keys, 1) <> 1
        or array_ndims(p_headers) > 1 or array_lower(p_headers, 1) <> 1
        or array_ndims(p_bodies) > 1 or array_lower(p_bodies, 1) <> 1 then
        raise exception 'the keys, headers or bodies for queue "%" are arrays %, % and %', p_queue,
            coalesce(array_dims(p_keys), 'null'), coalesce(array_dims(p_headers), 'null'),
            coalesce(array_dims(p_bodies), 'null')
            using errcode = 'WR006', hint = 'Give arrays of one dimension that begin at 1, or null.';
    end if;
    if cardinality(p_keys) <> cardinality(p_payloads) or cardinality(p_headers) <> cardinality(p_payloads)
        or cardinality(p_bodies) <> cardinality(p_payloads) then
        raise exception 'a batch for queue "%" has % payloads, % keys, % headers and % bodies', p_queue,
            cardinality(p_payloads), coalesce(cardinality(p_keys)::text, 'no'),
            coalesce(cardinality(p_headers)::text, 'no'), coalesce(cardinality(p_bodies)::text, 'no')
            using errcode = 'WR006',
            hint = 'Give one key, headers object or body for each payload (null elements are allowed), or none at all.';
    end if;
    perform weir_internal.check_message(p_queue, p_bytes_max, u.payload, u.body, u.key, u.headers)
    from unnest(p_payloads, p_bodies, p_keys, p_headers) as u (payload, body, key, headers)
    where u.payload is null or u.body is not null or u.headers is not null -- a call takes more than a look
        or octet_length(u.key) > 1024 or octet_length(u.payload) > p_bytes_max or strpos(u.payload, E'\\u') > 0;
end
$$;
