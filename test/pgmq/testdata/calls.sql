-- Calls that PGMQ 1.13 and the face answer alike: columns, types, rows, notices and errors. One statement a paragraph.
-- Times are compared to the nearest 1,000 seconds.

select pgmq.create('q')

select pgmq.create('q')

select * from pgmq.create_non_partitioned('Mixed Case.1')

select pgmq.create_unlogged(queue_name => 'u')

select pgmq.create(repeat('x', 48))

select pgmq.create('a;b')

select pgmq.create(null)

select pgmq.validate_queue_name('q')

select pgmq.format_table_name('Q x', 'a')

select pgmq.format_table_name('it''s', 'q')

select pgmq.acquire_queue_lock('q')

select queue_name, is_partitioned, is_unlogged, created_at from pgmq.list_queues()

select * from pgmq.list_queues()

select pgmq.list_queues() where false

select queue_name, is_partitioned, is_unlogged, created_at from pgmq.meta

select pgmq.send('q', '{"no": 1}')

select * from pgmq.send('q', '{"no": 2}', '{"h": [1, 2]}'::jsonb)

select * from pgmq.send(queue_name => 'q'::text, msg => '{"no": 3}'::jsonb, delay => 0)

select * from pgmq.send('q', '{"no": 4}', 5000)

select * from pgmq.send('q', '{"no": 5}', now() + interval '2000 seconds')

select * from pgmq.send('q', '{"no": 6}', '{"h": null}', 3000)

select * from pgmq.send('q', '{"no": 7}', null, now() - interval '20 seconds')

select * from pgmq.send(queue_name => 'q', msg => '"text"', headers => '"any json"', delay => -5)

select * from pgmq.send('q', null)

select * from pgmq.send('q', 'null')

select * from pgmq.send('q', 'not json')

select * from pgmq.send('q', '1', null::int)

select * from pgmq.send('q', '1', null::jsonb, null::timestamptz)

select * from pgmq.send('Mixed Case.1', '1')

select * from pgmq.send('MIXED CASE.1', '2')

select * from pgmq.send_batch('q', array['{"no": 12}', '{"no": 13}', null]::jsonb[])

select * from pgmq.send_batch('q', array['{"no": 15}', '{"no": 16}']::jsonb[], array['{"x": 1}', null]::jsonb[])

select * from pgmq.send_batch('q', array['{"no": 17}']::jsonb[], 2000)

select * from pgmq.send_batch('q', array['{"no": 18}']::jsonb[], now() + interval '3000 seconds')

select * from pgmq.send_batch('q', array['{"no": 19}', '{"no": 20}']::jsonb[], array['{"x": 1}', '{"x": 2}']::jsonb[], 4000)

select * from pgmq.send_batch(queue_name => 'q', msgs => array['{"no": 21}']::jsonb[], headers => null, delay => now())

select * from pgmq.send_batch('q', '{}')

select * from pgmq.send_batch('q', null)

select * from pgmq.send_batch('q', array['1', '2']::jsonb[], array['{}']::jsonb[])

select * from pgmq.send_batch('q', array['1', '2']::jsonb[], '{}'::jsonb[])

select * from pgmq.send_batch('q', array[array['{"no": 22}', '{"no": 23}']]::jsonb[])

select * from pgmq.send('q', '1', '1')

select queue_name, queue_length, newest_msg_age_sec < 60 as newest, oldest_msg_age_sec < 60 as oldest, total_messages, scrape_time, queue_visible_length, default_partition_length from pgmq.metrics('q')

select queue_name, queue_length, total_messages, queue_visible_length from pgmq.metrics_all()

select * from pgmq.q_q

select msg_id, read_ct, enqueued_at, last_read_at, vt, message, headers from pgmq.read('q', 1000, 2)

select * from pgmq.read(queue_name => 'q'::text, vt => 2000, qty => 1, conditional => '{}'::jsonb)

select pgmq.read('q', 3000, 1)

select * from pgmq.read('q', 1000, 0)

select * from pgmq.read('q', 1000, -1)

select * from pgmq.read('q', null, 1)

select * from pgmq.read_with_poll('q', 1000, 1, 1, 10)

select * from pgmq.read_with_poll(queue_name => 'u', vt => 1000, qty => 1, max_poll_seconds => 0, poll_interval_ms => 1)

select * from pgmq.q_q

select * from pgmq.read('q', 0, 2)

select * from pgmq.read('q', 0, 2)

select * from pgmq.read('q', -1000, 1)

select pgmq.delete('q', 1)

select pgmq.delete('q', 1)

select * from pgmq.delete(queue_name => 'q'::text, msg_id => 999::bigint)

select pgmq.delete('q', null::bigint)

select pgmq.delete('q', 9223372036854775807), pgmq.delete('q', -1), pgmq.archive('q', 0)

select * from pgmq.set_vt('q', array[-9223372036854775808, 9223372036854775807]::bigint[], 1)

select * from pgmq.delete('q', array[2, 2, 3, 4, 998])

select * from pgmq.delete('q', '{}'::bigint[])

select * from pgmq.delete('q', null::bigint[])

select * from pgmq.delete('q', array[null, 5]::bigint[])

select pgmq.archive('q', 7)

select pgmq.archive('q', 7)

select pgmq.archive('q', 17)

select * from pgmq.archive(queue_name => 'q'::text, msg_ids => array[8, 12, 999]::bigint[])

select msg_id, read_ct, enqueued_at, last_read_at, archived_at, vt, message, headers from pgmq.a_q

select * from pgmq.set_vt('q', 13, 3000)

select * from pgmq.set_vt('q', 13, 2000)

select * from pgmq.set_vt('q', 13, 0)

select * from pgmq.set_vt('q', 6, 0)

select * from pgmq.set_vt('q', 999, 0)

select * from pgmq.set_vt('q', 13::bigint, now() + interval '7000 seconds')

select * from pgmq.set_vt('q', array[9, 10, 15, 999]::bigint[], 5000)

select * from pgmq.set_vt('q', array[9, 15]::bigint[], now() - interval '1000 seconds')

select * from pgmq.set_vt('q', 9, null::int)

select * from pgmq.set_vt('q', array[9]::bigint[], null::int)

select * from pgmq.q_q

select * from pgmq.read('q', 1000, 100)

select * from pgmq.read('q', 1000, 100)

select queue_name, queue_length, total_messages, queue_visible_length from pgmq.metrics('q')

update pgmq.q_q set vt = now() - interval '1 second' where msg_id in (9, 15)

select * from pgmq.pop('q')

select * from pgmq.pop(queue_name => 'q'::text, qty => 10)

select * from pgmq.pop('q', 10)

delete from pgmq.q_q where msg_id = 20

select msg_id, read_ct, last_read_at, vt, message, headers from pgmq.q_q

select pgmq.purge_queue('q')

select pgmq.purge_queue('q')

select * from pgmq.send('q', '{"after": "purge"}')

select * from pgmq.read('q', 1000, 10)

select queue_name, queue_length, total_messages, queue_visible_length from pgmq.metrics('q')

select queue_name, queue_length, newest_msg_age_sec, oldest_msg_age_sec, total_messages, queue_visible_length from pgmq.metrics('u')

select pgmq.create_fifo_indexes_all()

select pgmq.detach_archive('q')

select pgmq.convert_archive_partitioned('none')

select * from pgmq.send('none', '1')

select * from pgmq.send_batch('none', array['1']::jsonb[])

select * from pgmq.send('none', '1', 100)

select * from pgmq.read('none', 1, 1)

select * from pgmq.read_with_poll('none', 1, 1)

select * from pgmq.pop('none')

select pgmq.delete('none', 1)

select pgmq.delete('none', array[1])

select pgmq.archive('none', 1)

select pgmq.archive('none', array[1])

select * from pgmq.set_vt('none', 1, 1)

select * from pgmq.set_vt('none', array[1], 1)

select pgmq.metrics('none')

select pgmq.purge_queue('none')

select pgmq.create_fifo_index('none')

select * from pgmq.q_none

select pgmq.drop_queue('none')

select pgmq.drop_queue('none', false)

select pgmq.drop_queue('u', true)

select pgmq.drop_queue('Mixed Case.1')

select pgmq.drop_queue(queue_name => 'q')

select * from pgmq.a_q

select pgmq.create('q')

select pgmq.send('q', '{"again": 1}')

select * from pgmq.read('q', 1000, 10)

select pgmq.validate_topic_pattern('logs.*.error')

select pgmq.validate_topic_pattern(null)

select pgmq.validate_topic_pattern('')

select pgmq.validate_topic_pattern(repeat('x', 256))

select pgmq.validate_topic_pattern('a b')

select pgmq.validate_topic_pattern('.a')

select pgmq.validate_topic_pattern('a.')

select pgmq.validate_topic_pattern('a..b')

select pgmq.validate_topic_pattern('a.**')

select pgmq.validate_topic_pattern('a.##')

select pgmq.validate_topic_pattern('a.#*')

select pgmq.validate_topic_pattern('a.*#')

select pgmq.validate_routing_key('a.b-c_d.1')

select pgmq.validate_routing_key(null)

select pgmq.validate_routing_key(repeat('x', 256))

select pgmq.validate_routing_key('a.*')

select pgmq.validate_routing_key('.a')

select pgmq.validate_routing_key('a.')

select pgmq.validate_routing_key('a..b')

select pgmq.create('t1')

select pgmq.create('t2')

select pgmq.bind_topic('logs.*', 't1')

select pgmq.bind_topic('logs.*', 't1')

select pgmq.bind_topic(pattern => 'logs.#', queue_name => 't1')

select pgmq.bind_topic('#.error', 't2')

select pgmq.bind_topic('a.*.c', 't2')

select pgmq.bind_topic('bad..pattern', 't1')

select pgmq.bind_topic('logs.*', 'none')

select pgmq.bind_topic('logs.*', null)

select pgmq.bind_topic('logs.*', '')

select * from pgmq.list_topic_bindings()

select * from pgmq.list_topic_bindings('t1')

select * from pgmq.list_topic_bindings('none')

select * from pgmq.test_routing('logs.api.error')

select * from pgmq.test_routing('logs')

select * from pgmq.test_routing('a.b.c')

select * from pgmq.test_routing('a..c')

select pgmq.send_topic('logs.error', '{"no": 1}')

select pgmq.send_topic('logs.error', '{"no": 2}', 1000)

select pgmq.send_topic('logs.error', '{"no": 3}', '{"h": 1}', 0)

select pgmq.send_topic('logs.error', '{"no": 4}', null, 0)

select pgmq.send_topic('nobody', '{"no": 5}')

select pgmq.send_topic('logs.error', null)

select pgmq.send_topic('logs.error', '1', -1)

select pgmq.send_topic('logs.error', '1', null::int)

select pgmq.send_topic('logs.', '1')

select * from pgmq.send_batch_topic('logs.error', array['{"no": 6}', '{"no": 7}']::jsonb[])

select * from pgmq.send_batch_topic('logs.error', array['{"no": 8}']::jsonb[], array['{"h": 2}']::jsonb[])

select * from pgmq.send_batch_topic('logs.error', array['{"no": 9}']::jsonb[], 2000)

select * from pgmq.send_batch_topic('logs.error', array['{"no": 10}']::jsonb[], now() + interval '3000 seconds')

select * from pgmq.send_batch_topic('logs.error', array['{"no": 11}']::jsonb[], array['{"h": 3}']::jsonb[], 2000)

select * from pgmq.send_batch_topic('logs.error', array['{"no": 12}']::jsonb[], null, now() - interval '1 second')

select * from pgmq.send_batch_topic('nobody', array['{"no": 13}']::jsonb[])

select * from pgmq.send_batch_topic('logs.error', null)

select * from pgmq.send_batch_topic('logs.error', array['1']::jsonb[], array['1', '2']::jsonb[])

select msg_id, vt, message, headers from pgmq.q_t1

select msg_id, vt, message, headers from pgmq.q_t2

select pgmq.unbind_topic('logs.*', 't1')

select pgmq.unbind_topic('logs.*', 't1')

select pgmq.unbind_topic(null, 't1')

select pgmq.unbind_topic('logs.*', '')

select pattern, queue_name, compiled_regex from pgmq.topic_bindings

select pgmq.drop_queue('t2')

select pattern, queue_name from pgmq.topic_bindings

select pgmq.enable_notify_insert('none')

select pgmq.disable_notify_insert('none')

select pgmq.enable_notify_insert('t1', -1)

select pgmq.update_notify_insert('t1', 100)

select pgmq.enable_notify_insert('t1')

select * from pgmq.list_notify_insert_throttles()

select pgmq.update_notify_insert('t1', -1)

select pgmq.update_notify_insert('none', 1)

select pgmq.update_notify_insert(queue_name => 't1', throttle_interval_ms => 100000)

select pgmq.send('t1', '{"no": 14}')

select * from pgmq.list_notify_insert_throttles()

select queue_name, throttle_interval_ms from pgmq.notify_insert_throttle

select pgmq.enable_notify_insert('t1', 0)

select * from pgmq.list_notify_insert_throttles()

select pgmq.disable_notify_insert('t1')

select pgmq.disable_notify_insert('t1')

select * from pgmq.list_notify_insert_throttles()

select pgmq.enable_notify_insert('t1', 10)

select pgmq.drop_queue('t1')

select * from pgmq.list_notify_insert_throttles()

select pgmq.create('g')

select count(*) from pgmq.send_batch('g', array(select jsonb_build_object('no', i) from generate_series(1, 12) i), array(select case when i % 4 < 3 then jsonb_build_object('x-pgmq-group', 'g' || i % 4) end from generate_series(1, 12) i))

select msg_id, read_ct, vt, message, headers from pgmq.read('g', 1000, 2, '{"no": 7}')

select msg_id, read_ct, message from pgmq.read('g', 1000, 2, '{"none": 7}')

select msg_id, read_ct, message from pgmq.read(queue_name => 'g', vt => 0, qty => 2, conditional => '{}')

select msg_id, read_ct, vt, last_read_at, message, headers from pgmq.read_grouped('g', 1000, 4)

select msg_id, read_ct, message from pgmq.read_grouped('g', 1000, 4)

select msg_id, read_ct, message from pgmq.read_grouped('g', 1000, 4)

select msg_id, read_ct, message from pgmq.read_grouped('g', 1000, 4)

select msg_id from pgmq.set_vt('g', array(select i::bigint from generate_series(1, 12) i), 0)

select msg_id, read_ct from pgmq.read_grouped_rr('g', 1000, 5)

select msg_id, read_ct from pgmq.read_grouped_rr('g', 1000, 50)

select msg_id, read_ct from pgmq.read_grouped_rr('g', 1000, 50)

select pgmq.delete('g', array(select i::bigint from generate_series(1, 5) i))

select msg_id, read_ct from pgmq.read_grouped_rr('g', 1000, 50)

select msg_id from pgmq.set_vt('g', array(select i::bigint from generate_series(1, 12) i), 0)

select msg_id, read_ct from pgmq.read_grouped_head('g', 1000, 3)

select msg_id, read_ct from pgmq.read_grouped_head('g', 1000, 30)

select msg_id, read_ct from pgmq.read_grouped_head('g', 1000, 30)

select msg_id, read_ct from pgmq.read_grouped_with_poll('g', 1000, 30, 1, 10)

select msg_id, read_ct from pgmq.read_grouped_rr_with_poll(queue_name => 'g', vt => 1000, qty => 30, max_poll_seconds => 1, poll_interval_ms => 10)

select msg_id, read_ct from pgmq.read_grouped_head_with_poll('g', 1000, 30, 1)

select msg_id, read_ct from pgmq.read_with_poll('g', 1000, 30, 1, 10, '{"no": 12}')

select pgmq.delete('g', 9)

select pgmq.archive('g', 10)

select msg_id, read_ct, vt, message from pgmq.q_g

select queue_length, queue_visible_length from pgmq.metrics('g')

select * from pgmq.read_grouped('g', 1, 0)

select * from pgmq.read_grouped('g', null, 1)

select * from pgmq.read_grouped('none', 1, 1)

select * from pgmq.read_grouped_rr('none', 1, 1)

select * from pgmq.read_grouped_head('none', 1, 1)
