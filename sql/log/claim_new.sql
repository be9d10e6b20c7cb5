-- weir_log.claim_new(q, g, c, p_claim, p_want, p_lease)
-- Claims the next messages of a lane or stripe. The caller holds the cursor's lock.
--
-- A cursor reads intervals: what is visible in snapshot cur and not in prev, in the order (segment, txid, id). When an
-- interval is exhausted, cur becomes prev and a new snapshot becomes cur. All is stored with the claim; an empty lane
-- writes nothing. What is too old or joins a key queue is passed over once: the cursor is stored behind it.
--
-- An ordered group claims in a lane of keys only when it has finished the lanes of earlier epochs. That is asked after
-- the interval's snapshot was taken: whatever its transaction found committed when it began was visible by then.
--
-- Parameters:
--   q        the queue
--   g        the group
--   c        the cursor, its low and next_expiry possibly moved on
--   p_claim  the claim to add to; null = a new one
--   p_want   messages
--   p_lease  how long they are the caller's
-- Returns: the records claimed; none when there is nothing.
-- Raises: none
-- Locks: ACCESS SHARE on the segments it reads, ROW EXCLUSIVE on the open table of the claim log.
create or replace function weir_log.claim_new(
    q weir_internal.queues, g weir_internal.groups, c weir_internal.claim, p_claim bigint, p_want int, p_lease interval)
returns weir.message_record[]
language plpgsql
as $$
declare
    s weir_internal.reading;
    r weir_internal.log_record;
    o weir.message_record;
    v_out weir.message_record[] := '{}';
    v_ids int8multirange := '{}';
    v_taken int := 0;
    v_skip int;
    v_hi bigint;               -- the open segment
    v_fresh boolean := c.finished; -- the interval ends now
    v_passed int := 0;         -- what was too old, had to wait for its key, or was set aside
    v_more boolean;            -- the segment has more of this interval
    v_epoch int;               -- ordered: the first lane of the epoch, when there are earlier ones
    v_overtaken boolean;       -- ordered: see weir_log.is_overtaken
begin
    if c.finished then
        c := weir_log.next_interval(c);
    end if;
    if g.ordered then
        c := weir_log.trim_inflight(g, c);
        if c.lane < 16 and (cardinality(c.inflight) > 0 or weir_log.is_parked(g, c.lane)) then
            return '{}'; -- messages without keys follow each other
        end if;
        if c.lane >= q.key_epochs[2] then
            v_epoch := (select max(e) from unnest(q.key_epochs) e where e <= c.lane);
            if weir_log.undrained_lane(q, g, v_epoch) is not null then
                return '{}';
            end if;
        end if;
    end if;
    if (g.ordered or g.limited) and weir_log.waits_for_leaving(q, g) then
        return '{}';
    end if;
    loop
        v_hi := pg_sequence_last_value('weir_log.log_ring');
        s := weir_log.read_interval(c, q.no, g.since, p_want - v_taken);
        v_more := s.more;
        v_passed := v_passed + s.passed;
        if s.records is not null then
            if v_taken = 0 then
                c.id := nextval('weir_internal.claim_numbers');
                c.claim := coalesce(p_claim, c.id);
            end if;
            v_overtaken := g.ordered and c.lane >= 16 and weir_log.is_overtaken(q, g, c.lane);
            foreach r in array s.records loop
                v_skip := weir_internal.claimed_of(r, c.txid, c.pos);
                o := weir_internal.slice(r, c.claim, v_skip, least(r.n - v_skip, p_want - v_taken));
                s.txid := r.txid;
                s.pos := coalesce(o.ids[o.n], o.first_id + o.n - 1);
                if g.keyed then
                    perform weir_log.set_aside(q, g, o);
                    v_passed := v_passed + o.n;
                    o.n := 0;
                elsif g.ordered and c.lane >= 16 then
                    v_passed := v_passed + o.n;
                    o := weir_log.hold_back(q, g, c, o, v_overtaken);
                    v_passed := v_passed - o.n;
                end if;
                if o.n > 0 then
                    if v_taken = 0 then
                        c.from_txid := r.txid;
                        c.from_pos := r.id - 1;
                    end if;
                    v_out := array_append(v_out, o);
                    v_taken := v_taken + o.n;
                    v_ids := v_ids + weir_internal.ids_of(o);
                end if;
                v_more := v_more or s.pos < r.id;
                exit when s.pos < r.id;
                if v_passed >= 1000 then
                    v_more := true; -- or it is the last record, and the next receive sees that
                    exit;
                end if;
            end loop;
        end if;
        c.txid := s.txid;
        c.pos := s.pos;
        if v_more then
            exit when v_taken >= p_want or v_passed >= 1000 or g.keyed and v_passed >= p_want;
        elsif c.seg < v_hi then
            exit when v_taken > 0; -- a claim stays within one segment
            c.seg := weir_log.next_segment(c.seg + 1, v_hi, c.prev);
            c.lo := least(c.seg, weir_log.next_segment(c.lo, v_hi, c.cur));
            c.txid := '0';
            c.pos := 0;
        else
            c.lo := weir_log.next_segment(c.lo, v_hi, c.cur);
            c.finished := v_taken > 0 or v_fresh;
            exit when c.finished;
            v_fresh := true;
            c := weir_log.next_interval(c);
            exit when v_epoch is not null and weir_log.undrained_lane(q, g, v_epoch) is not null
                or (g.ordered or g.limited) and weir_log.waits_for_leaving(q, g);
        end if;
    end loop;
    if v_taken > 0 then
        c.ids := v_ids;
        c.n := v_taken;
        c.src := null;
        perform weir_log.lease(g, c, 1, weir_internal.clock() + p_lease, v_out);
    elsif v_passed > 0 then
        perform weir_log.move_cursor(c);
    end if;
    return v_out;
end
$$;
