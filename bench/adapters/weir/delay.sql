-- Sends a batch that is due in a year. $1: how many.
select count(*) from weir.send_batch('bench', array_fill('{"v":"abcdefghijklmn"}'::json, array[$1::int]),
    delay => '1 year')
