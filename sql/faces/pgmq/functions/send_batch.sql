-- pgmq.send_batch(queue_name, msgs, headers, delay), pgmq._validate_batch_params(msgs, headers)
-- Sends messages, all or none. Six forms: with or without headers, at once, after seconds, or not before a time.
-- _validate_batch_params: refuses a batch that cannot be sent.
--
-- Parameters:
--   queue_name  the queue
--   msgs        jsonb values, each may be null
--   headers     as many, or null
--   delay       seconds, or the time before which they are not read
-- Returns: their ids, in the order of msgs.
-- Raises: P0001, 42P01, 23502 for a delay that is null, WR019
-- Locks: ROW EXCLUSIVE on the open segment, or on `delayed`, until the transaction ends.
create or replace function pgmq._validate_batch_params(msgs jsonb[], headers jsonb[])
returns void
language plpgsql
as $$
begin
    if msgs is null or array_length(msgs, 1) is null then
        raise exception 'msgs cannot be NULL or empty' using errcode = 'P0001', hint = 'Give one message at least.';
    elsif coalesce(array_length(headers, 1), 0) <> array_length(msgs, 1) and headers is not null then
        raise exception 'headers array length (%) must match msgs array length (%)',
            coalesce(array_length(headers, 1), 0), array_length(msgs, 1)
            using errcode = 'P0001', hint = 'Give one headers object a message, or none at all.';
    end if;
end
$$;
create or replace function pgmq.send_batch(queue_name text, msgs jsonb[])
returns setof bigint
language plpgsql
as $$
begin
    perform pgmq._validate_batch_params(msgs, null);
    return query select unnest(pgmq._append_batch(queue_name, msgs, null));
end
$$;
create or replace function pgmq.send_batch(queue_name text, msgs jsonb[], headers jsonb[])
returns setof bigint
language plpgsql
as $$
begin
    perform pgmq._validate_batch_params(msgs, headers);
    return query select unnest(pgmq._append_batch(queue_name, msgs, headers));
end
$$;
create or replace function pgmq.send_batch(queue_name text, msgs jsonb[], delay integer)
returns setof bigint
language plpgsql
as $$
begin
    return query
    select * from pgmq.send_batch(queue_name, msgs, null, weir_internal.clock() + make_interval(secs => delay));
end
$$;
create or replace function pgmq.send_batch(queue_name text, msgs jsonb[], delay timestamptz)
returns setof bigint
language plpgsql
as $$
begin
    return query select * from pgmq.send_batch(queue_name, msgs, null, delay);
end
$$;
create or replace function pgmq.send_batch(queue_name text, msgs jsonb[], headers jsonb[], delay integer)
returns setof bigint
language plpgsql
as $$
begin
    return query
    select * from pgmq.send_batch(queue_name, msgs, headers, weir_internal.clock() + make_interval(secs => delay));
end
$$;
create or replace function pgmq.send_batch(queue_name text, msgs jsonb[], headers jsonb[], delay timestamptz)
returns setof bigint
language plpgsql
as $$
declare
    q weir_internal.queues;
    v_ids bigint[];
begin
    perform pgmq._validate_batch_params(msgs, headers);
    if delay <= weir_internal.clock() then
        return query select unnest(pgmq._append_batch(queue_name, msgs, headers));
        return;
    end if;
    q := pgmq._find(queue_name);
    v_ids := array(select nextval(pgmq._sequence(queue_name)::regclass) from generate_series(1, cardinality(msgs)));
    perform pgmq._delay(q, null, array(
        select row(u.id, 0, weir_internal.clock(), null, null, u.msg, u.header)::pgmq.message_record
        from unnest(v_ids, msgs, send_batch.headers) u (id, msg, header)), delay);
    if pg_sequence_last_value('pgmq._notifying') > 0 then
        perform pgmq._notify(queue_name);
    end if;
    return query select unnest(v_ids);
end
$$;
