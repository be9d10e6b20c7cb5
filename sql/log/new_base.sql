-- weir_log.new_base(), weir_log.at_base(c, b), weir_log.as_cursor(c, p_unfinished)
-- new_base: the row of group 0 at which lanes stand that have none of their own; it is not stored yet. at_base: a
-- cursor that has claimed all that the base has seen, moved there; its claim keeps its place.
-- as_cursor: a row without its claim if that is finished, since what tells so is not carried over.
--
-- Parameters:
--   c             the cursor
--   b             the base
--   p_unfinished  whether its claim is not finished
-- Returns: the row.
-- Raises: none
-- Locks: none
create or replace function weir_log.new_base()
returns weir_internal.claim
language plpgsql
as $$
declare
    b weir_internal.claim;
begin
    b.kind := 'c';
    b.id := nextval('weir_internal.claim_numbers');
    b.group_no := 0;
    b.lane := 0;
    b.stripe := 1;
    b.cur := weir_internal.snapshot();
    b.prev := b.cur;
    b.lo := weir_log.next_segment(0, pg_sequence_last_value('weir_log.log_ring'), b.cur);
    b.seg := b.lo;
    b.txid := '0';
    b.pos := 0;
    b.finished := true;
    b.due_at := '-infinity';
    b.due_id := 0;
    b.low := 0;
    b.next_expiry := 'infinity';
    return b;
end
$$;
create or replace function weir_log.at_base(c weir_internal.claim, b weir_internal.claim)
returns weir_internal.claim
language plpgsql
as $$
begin
    if c.claim is not null and c.src is null then
        c.src := row(c.seg, c.lane, c.from_txid, c.from_pos, c.txid, c.pos)::weir_internal.source;
    end if;
    c.prev := b.prev;
    c.cur := b.cur;
    c.lo := b.lo;
    c.seg := b.seg;
    c.txid := b.txid;
    c.pos := b.pos;
    c.finished := true;
    return c;
end
$$;
create or replace function weir_log.as_cursor(c weir_internal.claim, p_unfinished boolean)
returns weir_internal.claim
language plpgsql
as $$
begin
    if p_unfinished is not true then
        c.claim := null;
        c.ids := null;
        c.n := null;
        c.src := null;
        c.deadline := null;
        c.keys := null;
    end if;
    return c;
end
$$;
