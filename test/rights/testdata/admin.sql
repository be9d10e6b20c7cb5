-- A role that may administer the queue "mine".
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
select weir.create_group('mine', 'g', ordered => true, start => 'end', max_attempts => 3, backoff_min => '2 s'); -- ok
select weir.configure_group('mine', 'g', max_attempts => 4, backoff_max => '1 hour'); -- ok
select weir.configure_queue('mine', message_bytes_max => 4096); -- ok
select weir.pause('mine', 'g'); -- ok
select weir.resume('mine'); -- ok
select weir.list_queues(); -- ok
select weir.list_groups('mine'); -- ok
select weir.stats('mine'); -- ok
select weir.stats(); -- ok
select weir.peek('mine'); -- ok
select weir.get('mine', {first}); -- ok
select weir.dead_letters('mine'); -- ok
select weir.claims('mine'); -- ok
select weir.parked_keys('mine'); -- ok
select weir.delayed('mine'); -- ok
select weir.list_workflows('mine'); -- ok
select weir.claims('other'); -- fail 42501
select weir.parked_keys('other'); -- fail 42501
select weir.delayed('other'); -- fail 42501
select weir.list_workflows('other'); -- fail 42501
select weir.redrive('mine', 'default'); -- ok
select weir.discard('mine', 'default'); -- ok
select weir.discard('mine', 'default', array[999]::bigint[]); -- fail WR017
select weir.job('mine', {first}); -- ok
select weir.workflow('mine', 1); -- ok
select weir.start_batch('mine', array['{"kind": "a"}']::jsonb[], '{"kind": "b"}'); -- fail 42501
select weir.cancel('mine', {first} + 15); -- ok
select weir.schedule('s', 'mine', 'k', cron => '@daily'); -- ok
select weir.pause_schedule('s'); -- ok
select weir.resume_schedule('s'); -- ok
select weir.list_schedules(); -- ok
select weir.fire_schedules(); -- ok
select weir.next_times('@daily'); -- ok
select weir.unschedule('s'); -- ok
select weir.schedule('s', 'other', 'k', cron => '@daily'); -- fail 42501
select weir.unschedule('others'); -- fail 42501
select weir.pause_schedule('others'); -- fail 42501
select weir.list_schedules('other'); -- fail 42501
select weir.configure_queue('mine', job_retention => '1 hour'); -- ok
select weir.enqueue('mine', 'k'); -- fail 42501
select weir.finish('mine', {claim}, {first}); -- fail 42501
select weir.cancel('other', {first}); -- fail 42501
delete from weir_internal.cancellations; -- fail 42501
select weir_log.cancel('mine', {first}, null); -- fail 42501
select weir.create_group('mine', 'g'); -- fail WR004
select weir.drop_group('mine', 'g'); -- ok
select weir.purge('mine'); -- ok
select weir.send('mine', '1'); -- fail 42501
select weir.receive('mine'); -- fail 42501
select weir.ack_all('mine', {claim}); -- fail 42501
select weir.grant_consume('mine', '{role}'); -- fail 42501
select weir.bind('a', 'mine'); -- fail 42501
select weir.create_queue('new'); -- fail 42501
select weir.create_group('other', 'g'); -- fail 42501
select weir.configure_group('other', 'default'); -- fail 42501
select weir.configure_queue('other'); -- fail 42501
select weir.pause('other'); -- fail 42501
select weir.resume('other'); -- fail 42501
select weir.purge('other'); -- fail 42501
select weir.redrive('other', 'default'); -- fail 42501
select weir.discard('other', 'default'); -- fail 42501
select weir.drop_group('other', 'default'); -- fail 42501
select weir.drop_queue('other'); -- fail 42501
select weir.get('other', {first}); -- fail 42501
select weir.rename_queue('other', 'theirs'); -- fail 42501
select weir_internal.rename_queue('other', 'theirs'); -- fail 42501
select weir.peek('other'); -- fail 42501
select weir.stats('other'); -- fail 42501
select weir_gates."administer:other"('purge', '{}'); -- fail 42501
select weir_gates."administer:mine"('create_queue', '{}'); -- fail WR006
select weir_internal.administer('other', 'purge', '{}'); -- fail 42501
select weir_internal.drop_queue('other'); -- fail 42501
select weir_gates."administer:mine"('create_group', '{"group_name": "x'') ; drop schema weir cascade; --"}'); -- fail WR005
update weir_internal.queues set paused = true; -- fail 42501
select weir.rename_queue('mine', 'renamed'); -- ok
select weir.stats('renamed'); -- ok
select weir.rename_queue('renamed', 'other'); -- fail WR002
select weir.rename_queue('renamed', 'mine'); -- ok
select weir.drop_queue('mine'); -- ok
select weir.version(); -- fail 42501
