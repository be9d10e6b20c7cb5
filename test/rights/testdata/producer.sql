-- A role that may produce to the queue "mine".
select weir_internal.gate('send', 'other'); -- fail 42501
select * from weir_log.log_0; -- fail 42501
select * from weir_log.delayed; -- fail 42501
truncate weir_log.claims_0; -- fail 42501
select weir_log.append_claim(null); -- fail 42501
select weir_log.send('mine', '1', null, null, null, null); -- fail 42501
select weir_log.settle('other', {other_claim}, null, 'ack', null, null); -- fail 42501
select weir_log.purge('mine', null); -- fail 42501
select nextval('weir_internal.record_numbers'); -- fail 42501
select weir_internal.make_gates(null, null); -- fail 42501
create function weir_gates.f() returns int language sql as 'select 1'; -- fail 42501
select weir.list_tokens(); -- fail 42501
select weir.find_token(sha256('x')); -- fail 42501
select weir.create_token('mine', sha256('x'), verbs => '{admin}'); -- fail 42501
select weir.revoke_token('mine'); -- fail 42501
select * from weir_internal.tokens; -- fail 42501
select weir.send('mine', '1', 'key', '{"a": 1}', '1 second'); -- ok
select weir.send_batch('mine', array['1', '2']::jsonb[]); -- ok
select weir.send_batch('mine', '{1,2}'); -- ok
select weir.send('mine', '\x00'::bytea); -- ok
select weir_gates."send:mine"('{"a"', null, null, null, null); -- fail 22P02
select weir.send('mine', '1', dedup_key => 'a'); -- ok
select weir.send_once('mine', array['1', '2']::jsonb[], array['a', 'b']); -- ok
select weir.enqueue('mine', 'k', '{"a": 1}', 'key'); -- ok
select weir.enqueue('mine', 'k', is_unique => true, tracked => true); -- ok
select weir.enqueue_batch('mine', array['{"kind": "k"}']::jsonb[], unique_for => '1 hour', tracked => true); -- ok
select weir.job('mine', {first}); -- ok
select weir.start_chain('mine', array['{"kind": "a"}', '{"kind": "b"}']::jsonb[]); -- ok
select weir.start_batch('mine', array['{"kind": "a"}']::jsonb[], '{"kind": "b"}'); -- ok
select weir.workflow('mine', 1); -- ok
select weir.start_workflow('other', array['{"kind": "a"}']::jsonb[]); -- fail 42501
select weir.workflow('other', 1); -- fail 42501
select weir_log.start_workflow('other', array['{"kind": "a"}']::jsonb[], null); -- fail 42501
select * from weir_internal.workflow_steps; -- fail 42501
select * from weir_internal.schedules; -- fail 42501
select weir.schedule('s', 'mine', 'k', cron => '@daily'); -- fail 42501
select weir.list_schedules(); -- fail 42501
select weir.fire_schedules(); -- fail 42501
select weir.enqueue('other', 'k'); -- fail 42501
select weir.enqueue('other', 'k', tracked => true); -- fail 42501
select weir.enqueue_batch('other', array['{"kind": "k"}']::jsonb[]); -- fail 42501
select weir.job('other', {first}); -- fail 42501
select weir_gates."job:other"({first}); -- fail 42501
select * from weir_log.jobs_0; -- fail 42501
select * from weir_log.dedup_0; -- fail 42501
select weir_log.admit(null, 1); -- fail 42501
select weir.finish('mine', {claim}, {first}); -- fail 42501
select weir.progress('mine', {claim}, {first}); -- fail 42501
select weir.snooze('mine', {claim}); -- fail 42501
select weir.cancel('mine', {first}); -- fail 42501
select weir.cancelled('mine', array[{claim}]); -- fail 42501
select weir.send_once('other', array['1']::jsonb[], array['a']); -- fail 42501
select weir_gates."send_once:other"(array['1']::json[], array['a'], null, null, null, null); -- fail 42501
select weir.version(); -- ok
select weir_gates."receive:mine"('default', 1, '1 min'); -- fail 42501
select weir_gates."send:other"('1', null, null, null, null); -- fail 42501
select weir.route('news'); -- ok
select weir.publish('news', '1'); -- ok
select weir.publish('both', '1'); -- fail 42501
select weir.publish_batch('news', array['1']::jsonb[]); -- ok
select weir.publish_batch('both', array['1']::jsonb[]); -- fail 42501
select weir.send('other', '1'); -- fail 42501
select weir.send_batch('other', array['1']::jsonb[]); -- fail 42501
select weir.send('none', '1'); -- fail WR001
select weir.receive('mine'); -- fail 42501
select weir.receive_records('mine'); -- fail 42501
select weir.pop('mine'); -- fail 42501
select weir.ack_all('mine', {claim}); -- fail 42501
select weir.nack('mine', {claim}); -- fail 42501
select weir.reject('mine', {claim}, array[{first}]::bigint[]); -- fail 42501
select weir.extend('mine', {claim}, '1 hour'); -- fail 42501
select weir.mark_waiting('mine'); -- fail 42501
select weir.peek('mine'); -- fail 42501
select weir.get('mine', {first}); -- fail 42501
select weir.get_many('mine', array[{first}]); -- fail 42501
select weir.dead_letters('mine'); -- fail 42501
select weir.claims('mine'); -- fail 42501
select weir.parked_keys('mine'); -- fail 42501
select weir.delayed('mine'); -- fail 42501
select weir.list_workflows('mine'); -- fail 42501
select weir.stats('mine'); -- fail 42501
select weir.list_queues(); -- fail 42501
select weir.list_groups('mine'); -- fail 42501
select weir.purge('mine'); -- fail 42501
select weir.drop_queue('mine'); -- fail 42501
select weir.create_group('mine', 'g'); -- fail 42501
select weir.bind('a', 'mine'); -- fail 42501
select weir.list_bindings(); -- fail 42501
select weir.create_queue('new'); -- fail 42501
select weir.grant_produce('mine', '{role}'); -- fail 42501
select weir_gates."receive:mine"('default', 1, '1 minute'); -- fail 42501
select weir_gates."ack_all:mine"({claim}); -- fail 42501
select weir_gates."administer:mine"('purge', '{}'); -- fail 42501
select weir_gates."send:other"('1', null, null, null, null); -- fail 42501
select weir_internal.change_right('other', '{role}', 'admin', true); -- fail 42501
select * from weir_internal.queues; -- fail 42501
insert into weir_internal.bindings values ('#', 1, '', '%'); -- fail 42501
create function weir_internal.f() returns int language sql as 'select 1'; -- fail 42501
