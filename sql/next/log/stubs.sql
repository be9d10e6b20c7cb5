create or replace function weir_log.end_jobs(q weir_internal.queues, p_messages weir_internal.delayed_row[], p_what int, p_results jsonb[], p_reason text) returns void language plpgsql as $$ begin end $$;
create or replace function weir_log.admit(q weir_internal.queues, p_count int) returns void language plpgsql as $$ begin end $$;
create or replace function weir_log.drop_cancelled(p weir_internal.peeked, p_out weir.message_record[], p_max int, p_lease interval, p_now timestamptz, p_limited boolean) returns weir.message_record[] language plpgsql as $$ begin return p_out; end $$;
create or replace function weir_log.receive_limited(p weir_internal.peeked, p_max int, p_lease interval, p_now timestamptz) returns weir.message_record[] language plpgsql as $$ begin return weir_log.claim_all(p, p_max, p_lease, p_now, true); end $$;
create or replace function weir_log.configure_limits(q weir_internal.queues, o weir_internal.groups, g weir_internal.groups) returns weir_internal.groups language plpgsql as $$ begin return g; end $$;
create or replace function weir_log.clear_key_queues(g weir_internal.groups) returns void language plpgsql as $$ begin end $$;
create or replace function weir_internal.start_backlog(p_queue int) returns regclass language plpgsql as $$ begin return null; end $$;
create or replace function weir_internal.end_backlog(q weir_internal.queues) returns void language plpgsql as $$ begin end $$;
create or replace function weir_internal.end_rate(g weir_internal.groups) returns void language plpgsql as $$ begin end $$;
create or replace function weir_internal.start_rate(g weir_internal.groups) returns regclass language plpgsql as $$ begin return null; end $$;
create or replace function weir_log.lock_cursor(p_key bigint)
returns void
language plpgsql
as $$
begin
    for i in 1 .. 20 loop
        begin
            perform pg_advisory_xact_lock(p_key);
            return;
        exception
            when deadlock_detected then
                null; -- the other gives up: a receive that holds one lane waits for another some milliseconds only
        end;
    end loop;
    perform pg_advisory_xact_lock(p_key);
end
$$;
