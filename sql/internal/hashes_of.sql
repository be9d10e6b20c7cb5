-- weir_internal.hash_of(p_key, p_lane), hashes_of(p_records, p_lane), ids_of(o)
-- What a claim row says of its messages: hashes of their key queues, by which a later claim sees that it may meet one
-- of them; and their ids.
--
-- Parameters:
--   p_key      a key, or null
--   p_lane     its lane
--   p_records  messages of that lane
--   o          messages
-- Returns: the hash; the hashes, each once; the ids.
-- Raises: none
-- Locks: none
create or replace function weir_internal.hash_of(p_key text, p_lane int)
returns int language sql immutable
as $$ select ('x' || substr(md5(coalesce('k' || p_key, 'l' || p_lane)), 1, 8))::bit(32)::int $$;
create or replace function weir_internal.hashes_of(p_records weir.message_record[], p_lane int)
returns int[]
language sql immutable
as $$
    select array_agg(distinct weir_internal.hash_of(k, p_lane))
    from unnest(p_records) o cross join lateral unnest(coalesce(o.keys, '{null}')) k
$$;
create or replace function weir_internal.ids_of(o weir.message_record)
returns int8multirange
language plpgsql immutable
as $$
begin
    if o.ids is null then
        return int8multirange(int8range(o.first_id, o.first_id + o.n));
    end if;
    return (select range_agg(int8range(i, i + 1)) from unnest(o.ids) i);
end
$$;
