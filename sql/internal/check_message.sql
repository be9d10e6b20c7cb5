-- weir_internal.check_message(p_queue, p_bytes_max, p_payload, p_body, p_key, p_headers)
-- Refuses a message that cannot be sent. Called only when a cheap look found something to check. That a payload is JSON
-- has been checked by the type json, but for the characters that PostgreSQL has no place for, which are escaped: \u0000
-- and half of a character.
--
-- Parameters:
--   p_queue      name of the queue, for the error
--   p_bytes_max  limit of the octets of payload or body plus those of the headers as jsonb
--   p_payload    the JSON text (a JSON null is a value); null where there is a body
--   p_body       bytes; null where there is a payload
--   p_key        at most 1,024 octets
--   p_headers    a JSON object, or null
-- Returns: nothing.
-- Raises: WR006, WR007, WR008, 22P05, 22P02
-- Locks: none
create or replace function weir_internal.check_message(
    p_queue text, p_bytes_max int, p_payload text, p_body bytea, p_key text, p_headers jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
    v_bytes bigint := coalesce(octet_length(p_payload), octet_length(p_body))
        + coalesce(pg_column_size(p_headers), 0);
begin
    if v_bytes is null then
        raise exception 'a payload for queue "%" is null', p_queue
            using errcode = 'WR007', hint = 'Send a JSON value; the JSON null is one: ''null''::jsonb.';
    end if;
    if p_payload is not null and p_body is not null then
        raise exception 'a message for queue "%" has a payload and a body', p_queue
            using errcode = 'WR006', hint = 'Send JSON as the payload, or bytes as the body.';
    end if;
    if strpos(p_payload, E'\\u') > 0 then
        perform p_payload::jsonb;
    end if;
    if p_bytes_max = 0 then
        raise exception 'queue "%" takes no messages from weir.send and its kin', p_queue
            using errcode = 'WR006',
            hint = 'It belongs to a face, which numbers its messages itself. Send with that: pgmq.send.';
    end if;
    if v_bytes > p_bytes_max then
        raise exception 'a message for queue "%" has % octets, the limit is %', p_queue, v_bytes, p_bytes_max
            using errcode = 'WR008',
            hint = 'Send a reference to data kept elsewhere, or raise message_bytes_max with weir.configure_queue.';
    end if;
    if octet_length(p_key) > 1024 then
        raise exception 'a key for queue "%" has % octets, the limit is 1024', p_queue, octet_length(p_key)
            using errcode = 'WR006', hint = 'Use a shorter key, or a digest of it.';
    end if;
    if jsonb_typeof(p_headers) <> 'object' then
        raise exception 'headers for queue "%" are a JSON %, not an object', p_queue, jsonb_typeof(p_headers)
            using errcode = 'WR006', hint = 'Give headers as {"name": value}.';
    end if;
end
$$;
