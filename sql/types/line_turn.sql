-- weir_internal.line_turn
-- One row of the `turns` table, which is only appended to on the way of messages. `what` says what the row records:
--   0  what a receive delivered (line ''): pos is how far it went along the rows of what = 1
--   1  the line waits for its turn; in the order of no
--   2  the line waits until fewer messages of its key are claimed
--   3  the line has come to its end
-- The newest row of a line tells how it stands. What it has of messages stands in `lines`, beyond pos.
do $$
begin
    if to_regtype('weir_internal.line_turn') is null then
        create type weir_internal.line_turn as (
            group_id    int,           -- the group
            line        text,          -- as weir_internal.line_message says; '': all of the group
            no          bigint,        -- rises; of what = 0: below the numbers of the claims it is about
            what        smallint,      -- see above
            pos         bigint,        -- of a line: the no of its last message that has left it
            ids         bigint[],      -- what = 0, with a key_concurrency_max: the messages delivered
            lines       text[]         -- and the line of each
        );
    end if;
end
$$;
