-- weir_log.peek_leaving(p_queue, p_group, p_now)
-- What peek tells a receive, of a queue that is leaving this log.
--
-- Parameters:
--   p_queue  name of the queue
--   p_group  name of the group
--   p_now    the time
-- Returns: the queue, the group if there is one, and how it stands.
-- Raises: WR001, WR019
-- Locks: none
create or replace function weir_log.peek_leaving(p_queue text, p_group text, p_now timestamptz)
returns weir_internal.peeked
language plpgsql
as $$
declare
    p weir_internal.peeked;
    g weir_internal.groups;
begin
    p.q := weir_log.find_queue(p_queue);
    select * into g from weir_internal.groups w where w.queue_no = (p.q).no and w.name = p_group;
    p.g := g;
    if (p.g).no is not null then
        p.aside_expiry := (weir_log.cursor(p.g, -1, 1)).next_expiry;
    end if;
    p.is_due := exists (select from weir_log.delayed d where d.queue_no = (p.q).no and d.due_at <= p_now);
    p.is_keyed := (p.q).keyed or exists (select from weir_internal.keyed_queues k where k.queue_no = (p.q).no);
    return p;
end
$$;
