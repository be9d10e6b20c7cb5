-- weir_log.held_claim(q, p_claim, p_ids)
-- The state of a claim of a queue, for its holder.
--
-- Parameters:
--   q        the queue
--   p_claim  the claim
--   p_ids    messages of it; null = all
-- Returns: as claim_state; asked, the messages as a multirange, null for all.
-- Raises: WR009, WR010, WR011
-- Locks: ACCESS SHARE on the claim log.
create or replace function weir_log.held_claim(
    q weir_internal.queues, p_claim bigint, p_ids bigint[], out parts weir_internal.claim[], out ids int8multirange,
    out done int8multirange, out taken int8multirange, out deadline timestamptz, out parked boolean,
    out asked int8multirange)
language plpgsql
as $$
begin
    select s.parts, s.ids, s.done, s.taken, s.deadline, s.parked into parts, ids, done, taken, deadline, parked
    from weir_log.claim_state(p_claim) s;
    if parts is null then
        if p_claim not between 1 and coalesce(pg_sequence_last_value('weir_internal.claim_numbers'), 0) then
            raise exception 'there is no claim %', p_claim
                using errcode = 'WR009', hint = 'Give a claim_id that receive returned for this queue.';
        end if;
        raise exception 'claim % is not held any more', p_claim
            using errcode = 'WR010',
            hint = 'It was finished, or given to another consumer, some time ago. Receive again.';
    elsif (parts[1]).queue_no <> q.no then
        raise exception 'claim % is not one of queue "%"', p_claim, q.name
            using errcode = 'WR009', hint = 'Give a claim_id that receive returned for this queue.';
    elsif not exists (select from weir_internal.groups where no = (parts[1]).group_no) then
        raise exception 'the group of claim % was dropped', p_claim
            using errcode = 'WR010', hint = 'Nothing is left to do: its messages are no one''s any more.';
    end if;
    if p_ids is not null then
        asked := coalesce((select range_agg(int8range(i, i + 1)) from unnest(p_ids) i
                           where i < 9223372036854775807), '{}');
        if not asked <@ ids or 9223372036854775807 = any(p_ids) then
            raise exception 'claim % does not hold the messages %', p_claim,
                array(select i from unnest(p_ids) i where not i <@ ids)
                using errcode = 'WR011', hint = 'Give each message with the claim_id that it came with.';
        end if;
    end if;
end
$$;
