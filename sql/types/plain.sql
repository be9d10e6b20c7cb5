-- weir_internal.plain
-- What one statement tells a receive that is as plain as nearly all are: see log/receive_plainly.sql.
do $$ begin if to_regtype('weir_internal.plain') is null then
create type weir_internal.plain as (
    queue_no    int,
    group_no    int,
    since       timestamptz,
    cursor_id   bigint,      -- the lane's cursor, and what it holds
    prev        pg_snapshot,
    cur         pg_snapshot,
    seg         bigint,
    low         bigint,
    next_expiry timestamptz,
    total       bigint,
    txid        xid8,        -- the position behind which the lane is read
    pos         bigint,
    now         pg_snapshot, -- the snapshot of this moment
    record      weir_internal.log_record -- the next record, when one message is wanted
);
end if; end $$;
