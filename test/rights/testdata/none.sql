-- A role without any right: it can do and see nothing.
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
select weir.version(); -- fail 42501
select weir.send('mine', '1'); -- fail 42501
select weir.enqueue('mine', 'k'); -- fail 42501
select weir.enqueue('mine', 'k', tracked => true); -- fail 42501
select weir.enqueue_batch('mine', array['{"kind": "k"}']::jsonb[]); -- fail 42501
select weir.job('mine', {first}); -- fail 42501
select weir.workflow('mine', 1); -- fail 42501
select weir.claims('mine'); -- fail 42501
select weir.parked_keys('mine'); -- fail 42501
select weir.delayed('mine'); -- fail 42501
select weir.list_workflows('mine'); -- fail 42501
select weir.start_chain('mine', array['{"kind": "a"}']::jsonb[]); -- fail 42501
select weir.schedule('s', 'mine', 'k', cron => '@daily'); -- fail 42501
select weir.unschedule('others'); -- fail 42501
select weir.list_schedules(); -- fail 42501
select weir.fire_schedules(); -- fail 42501
select weir_internal.read_jobs('mine', null); -- fail 42501
select weir.next_times('@daily'); -- fail 42501
select weir.finish('mine', {claim}, {first}); -- fail 42501
select weir.progress('mine', {claim}, {first}); -- fail 42501
select weir.snooze('mine', {claim}); -- fail 42501
select weir.cancel('mine', {first}); -- fail 42501
select weir.cancelled('mine', array[{claim}]); -- fail 42501
select weir.receive('mine'); -- fail 42501
select weir.peek('mine'); -- fail 42501
select weir.stats(); -- fail 42501
select weir.list_queues(); -- fail 42501
select weir.create_queue('new'); -- fail 42501
select weir.drop_queue('mine'); -- fail 42501
select weir.bind('a', 'mine'); -- fail 42501
select weir.publish('news', '1'); -- fail 42501
select weir.grant_admin('mine', '{role}'); -- fail 42501
select weir_gates."send:mine"('1', null, null, null, null); -- fail 42501
select weir_gates."administer:mine"('drop_queue', '{}'); -- fail 42501
select * from weir_internal.queues; -- fail 42501
create table weir.t (a int); -- fail 42501
create table weir_internal.t (a int); -- fail 42501
