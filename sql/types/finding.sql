-- weir.finding
-- Something that doctor() found.
do $$
begin
    if to_regtype('weir.finding') is null then
        create type weir.finding as (
            severity   text, -- 'error': messages wait or may get lost; 'warning': it gets worse; 'info': a note
            finding    text, -- what it is, one word for programs
            queue_name text, -- the queue; null: the whole database
            group_name text, -- the group, where one is concerned
            value      text, -- the figure or name that was found
            message    text, -- what that means
            cure       text  -- what to do
        );
    end if;
end
$$;
