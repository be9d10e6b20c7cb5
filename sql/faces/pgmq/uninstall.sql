-- Removes the face of PGMQ with its queues, messages and archives. Run by `weir face uninstall pgmq --yes`, or by psql
-- outside a transaction:
--     psql -v ON_ERROR_STOP=1 -f sql/faces/pgmq/uninstall.sql
-- One statement, but a queue a transaction, so that no number of queues takes more locks than there are. When it is
-- interrupted, run it again.
do $$
declare
    v_queue text;
begin
    if obj_description(to_regnamespace('pgmq'), 'pg_namespace') is distinct from 'Weir''s face of PGMQ 1.13' then
        return;
    end if;
    loop
        select m.queue_name into v_queue from pgmq.meta m limit 1;
        exit when v_queue is null;
        perform pgmq.drop_queue(v_queue);
        delete from pgmq.meta m where m.queue_name = v_queue; -- also of two names that differ in case alone
        commit;
    end loop;
    drop schema pgmq cascade;
    perform weir.drop_log('pgmq');
end
$$;
