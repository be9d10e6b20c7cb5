-- pgmq._write_view()
-- What INSERT, UPDATE and DELETE of a view q_ do: send, set_vt and delete. The name of the queue is the trigger's
-- argument.
--
-- Returns: trigger
-- Raises: 0A000, and what those raise
-- Locks: as those
create or replace function pgmq._write_view()
returns trigger
language plpgsql
as $$
begin
    case tg_op
        when 'INSERT' then
            new.msg_id := (select s from pgmq.send(tg_argv[0], new.message, new.headers, new.vt) s);
        when 'DELETE' then
            return case when pgmq.delete(tg_argv[0], old.msg_id) then old end;
        else
            if (new.msg_id, new.read_ct, new.enqueued_at, new.last_read_at, new.message, new.headers)
                is distinct from (old.msg_id, old.read_ct, old.enqueued_at, old.last_read_at, old.message, old.headers)
            then
                raise exception 'only vt of a message in queue "%" can be changed', tg_argv[0]
                    using errcode = '0A000', hint = 'Send another message, and delete this one.';
            end if;
            if not exists (select from pgmq.set_vt(tg_argv[0], old.msg_id, new.vt)) then
                return null;
            end if;
    end case;
    return new;
end
$$;
