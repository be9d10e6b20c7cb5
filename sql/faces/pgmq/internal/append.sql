-- pgmq._append(p_queue, p_last, p_payloads, p_headers), pgmq._append_batch(p_queue, p_messages, p_headers)
-- Appends messages to a queue: _append a record, _append_batch as many as it takes. The ids of a batch are numbers of
-- the queue's sequence. Where another sender took some in between, the batch becomes several records, so that the ids
-- of each follow each other. No lock could give out a run of numbers without making senders wait until others commit.
--
-- Parameters:
--   p_queue     name of the queue
--   p_last      the id of the last message; null: the next, of one message
--   p_payloads  JSON texts, each may be null
--   p_messages  the same as jsonb
--   p_headers   one a message, or null
-- Returns: _append: the id of the last message; _append_batch: all ids.
-- Raises: 42P01, WR019
-- Locks: ROW EXCLUSIVE on the open segment, until the transaction ends.
create or replace function pgmq._append(p_queue text, p_last bigint, p_payloads text[], p_headers jsonb[])
returns bigint
language plpgsql
as $$
declare
    v_ring bigint;
    v_name text := 'pgmq.' || lower(p_queue);
    v_sequence text := pgmq._sequence(p_queue);
    v_id bigint;
begin
    loop
        v_ring := pg_sequence_last_value('weir_log_pgmq.log_ring');
        case v_ring % 3
            when 0 then v_id := pgmq._append_0(v_ring, v_name, v_sequence, p_last, p_payloads, p_headers);
            when 1 then v_id := pgmq._append_1(v_ring, v_name, v_sequence, p_last, p_payloads, p_headers);
            else v_id := pgmq._append_2(v_ring, v_name, v_sequence, p_last, p_payloads, p_headers);
        end case;
        if v_id is not null then
            if pg_sequence_last_value('pgmq._notifying') > 0 then
                perform pgmq._notify(p_queue);
            end if;
            return v_id;
        end if;
        perform pgmq._find(p_queue);
    end loop;
end
$$;
create or replace function pgmq._append_batch(p_queue text, p_messages jsonb[], p_headers jsonb[])
returns bigint[]
language plpgsql
as $$
declare
    v_texts text[] := p_messages::text[];
    v_count int := cardinality(p_messages);
    v_chunk int := case when pg_column_size(p_messages) > 131072 -- a claim of a few of them shall stay cheap
        then greatest(1, least(1000, 131072::bigint * v_count / pg_column_size(p_messages))) else 1000 end;
    v_sequence regclass := to_regclass(pgmq._sequence(p_queue));
    v_ids bigint[] := case when v_sequence is not null
        then array(select nextval(v_sequence) from generate_series(1, v_count)) end;
    r record;
begin
    if v_sequence is null then
        perform pgmq._find(p_queue);
    end if;
    if v_ids[v_count] - v_ids[1] = v_count - 1 and v_count <= v_chunk and array_ndims(p_messages) = 1 then
        perform pgmq._append(p_queue, v_ids[v_count], v_texts, p_headers);
        return v_ids;
    end if;
    for r in
        select max(c.id) as last, array_agg(c.payload order by c.i) as payloads,
            case when p_headers is not null then array_agg(c.header order by c.i) end as headers
        from (select u.*, (row_number() over (partition by u.id - u.i order by u.i) - 1) / v_chunk as chunk
              from unnest(v_ids, v_texts, p_headers) with ordinality u (id, payload, header, i)) c
        group by c.id - c.i, c.chunk order by last
    loop
        perform pgmq._append(p_queue, r.last, r.payloads, r.headers);
    end loop;
    return v_ids;
end
$$;
-- pgmq._sequence(p_queue)
-- The sequence that gives a queue's ids, as PGMQ calls it.
--
-- Parameters:
--   p_queue  name of the queue
-- Returns: its name, with its schema.
-- Raises: none
-- Locks: none
create or replace function pgmq._sequence(p_queue text)
returns text language sql immutable
as $$ select 'pgmq.' || quote_ident('q_' || lower(p_queue) || '_msg_id_seq') $$;
