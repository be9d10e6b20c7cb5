-- pgmq._span_shift(p_ids), pgmq._span_key(p_group, p_ids), pgmq._span_keys(p_group, p_id),
-- pgmq._alone_key(p_group, p_id)
-- By what the claims that hold a message are found. The ids of a claim span a range; ranges of up to 1, 8, 64, 512 ...
-- ids are classes, and in its class a range has the number of the block of that size in which it begins. So what holds
-- an id begins, in each class, in the id's block or in the one before, whose keys follow each other. The group is
-- added, since all queues count from 1; keys that fall together cost a look and nothing worse.
--
-- Who looks for claims compares nothing else that an index has, and one range of keys after the other (offset 0), or a
-- plan that was made when the claim log was empty walks all of it. For the same reason the key is not null where the
-- group is: a comparison of it must not imply the condition of the cursors' index.
--
-- Parameters:
--   p_group  the group
--   p_ids    the ids of a claim
--   p_id     a message
-- Returns: _span_shift: the logarithm of the size of its blocks; _span_key: the key of that range; _span_keys: of each
-- class the first and the last key of ranges that may hold the message; _alone_key: the key of a claim of it alone.
-- Raises: none
-- Locks: none
create or replace function pgmq._span_shift(p_ids int8multirange)
returns bigint language sql immutable
as $$
    select ('{0,3,6,9,12,16,24,50}'::bigint[])[1 + width_bucket(upper(p_ids) - lower(p_ids),
        '{2,9,65,513,4097,65537,16777217}'::bigint[])]
$$;
create or replace function pgmq._span_key(p_group int, p_ids int8multirange)
returns bigint language sql immutable
as $$
    select (pgmq._span_shift(p_ids) << 57) + ((coalesce(p_group, 0)::bigint & 1048575) << 36)
        + ((lower(p_ids) >> pgmq._span_shift(p_ids)::int) & 68719476735)
$$;
create or replace function pgmq._span_keys(p_group int, p_id bigint)
returns table (first bigint, last bigint) language sql immutable rows 8
as $$
    select b.key - case when s > 0 then 1 else 0 end, b.key
    from unnest('{0,3,6,9,12,16,24,50}'::bigint[]) s
    cross join lateral (
        select (s << 57) + ((p_group::bigint & 1048575) << 36) + ((p_id >> s::int) & 68719476735) as key) b
$$;
create or replace function pgmq._alone_key(p_group int, p_id bigint)
returns bigint language sql immutable
as $$ select ((p_group::bigint & 1048575) << 36) + (p_id & 68719476735) $$;
