-- weir.stored_message
-- A message as the queue holds it, and where it stands with each group, as get returns it. Its details have, of each
-- group, those that are known of: attempts (deliveries so far), claim_id, since (when it was claimed, parked or given
-- up), until (end of the lease, or when it is due), pid (of the session that received), behind (the message of its key
-- that is first) and reason.
do $$
begin
    if to_regtype('weir.stored_message') is null then
        create type weir.stored_message as (
            id          bigint,       -- as send returned it
            key         text,         -- null when the message was sent without one
            payload     jsonb,        -- the JSON that was sent; null: see body
            headers     jsonb,        -- as sent, an object, or null
            enqueued_at timestamptz,  -- when send was called
            states      jsonb,        -- {"group": "waiting" | "claimed" | "delayed" | "parked" | "dead" | "done", ...}
            details     jsonb,        -- what else is known: {"group": {...}, ...}; see above
            body        bytea,        -- of a message that was sent as bytes; of JSON that jsonb cannot hold: its text
            payload_text text         -- the JSON text, character by character; null of bytes
        );
    end if;
end
$$;
