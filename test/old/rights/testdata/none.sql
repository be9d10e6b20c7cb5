-- A role without any right: it can do and see nothing.
select weir.list_tokens(); -- fail 42501
select weir.find_token(sha256('x')); -- fail 42501
select weir.create_token('mine', sha256('x'), verbs => '{admin}'); -- fail 42501
select weir.revoke_token('mine'); -- fail 42501
select * from weir_internal.tokens; -- fail 42501
select weir.version(); -- fail 42501
select weir.queue_function('mine', 'send'); -- fail 42501
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
select weir.schedule('s', '@daily', 'mine', 'k'); -- fail 42501
select weir.unschedule('others'); -- fail 42501
select weir.list_schedules(); -- fail 42501
select weir.fire_schedules(); -- fail 42501
select weir.next_times('@daily'); -- fail 42501
select weir.finish('mine', {claim}, {first}); -- fail 42501
select weir.progress('mine', {claim}, {first}); -- fail 42501
select weir.snooze('mine', {claim}); -- fail 42501
select weir.cancel('mine', {first}); -- fail 42501
select weir.cancelled('mine', array[{claim}]); -- fail 42501
select weir_internal.read_jobs('mine', null); -- fail 42501
select weir.receive('mine'); -- fail 42501
select weir.peek('mine'); -- fail 42501
select weir.stats(); -- fail 42501
select weir.list_queues(); -- fail 42501
select weir.create_queue('new'); -- fail 42501
select weir.drop_queue('mine'); -- fail 42501
select weir.bind('a', 'mine'); -- fail 42501
select weir.publish('news', '1'); -- fail 42501
select weir.maintain(); -- fail 42501
select weir.grant_admin('mine', '{role}'); -- fail 42501
select weir_internal."send:mine"('1', null, null, null, null); -- fail 42501
select weir_internal."admin:mine"('drop_queue', '{}'); -- fail 42501
select weir_internal.queue_function('send', 'mine'); -- fail 42501
select * from weir_internal.queues; -- fail 42501
select * from weir_internal.q1_log_0; -- fail 42501
select nextval('weir_internal.q1_ids'); -- fail 42501
create table weir.t (a int); -- fail 42501
create table weir_internal.t (a int); -- fail 42501
