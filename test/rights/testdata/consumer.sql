-- A role that may consume from the queue "mine", where it has the claim {claim} of three messages.
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
select weir.ack('mine', {claim}, {first}); -- ok
select weir.ack('mine', {claim}, array[{first}]::bigint[]); -- ok
select weir.ack_and_receive('mine', {claim}, array[{first}]::bigint[], 'second'); -- ok
select weir.ack('other', {other_claim}, {first}); -- fail 42501
select weir.ack('other', {other_claim}, array[{first}]::bigint[]); -- fail 42501
select weir.ack_and_receive('other', null, null); -- fail 42501
select weir.list_tokens(); -- fail 42501
select weir.find_token(sha256('x')); -- fail 42501
select weir.create_token('mine', sha256('x'), verbs => '{admin}'); -- fail 42501
select weir.revoke_token('mine'); -- fail 42501
select * from weir_internal.tokens; -- fail 42501
select weir.receive('mine', 'default', 1, '1 minute'); -- ok
select weir.receive('mine', 'second', 1); -- ok
select weir.receive_records('mine', max => 1); -- ok
select weir.pop('mine'); -- ok
select weir.peek('mine'); -- ok
select weir.get('mine', {first}); -- ok
select weir.get_many('mine', array[{first}]); -- ok
select weir.stats('mine'); -- ok
select weir.stats(); -- ok
select weir.list_queues(); -- ok
select weir.list_groups('mine'); -- ok
select weir.dead_letters('mine'); -- ok
select weir.claims('mine'); -- ok
select weir.parked_keys('mine'); -- ok
select weir.delayed('mine'); -- ok
select weir.list_workflows('mine'); -- ok
select weir.claims('other'); -- fail 42501
select weir.parked_keys('other'); -- fail 42501
select weir.delayed('other'); -- fail 42501
select weir.list_workflows('other'); -- fail 42501
select weir.mark_waiting('mine'); -- ok
select weir.extend('mine', {claim}, '1 hour'); -- ok
select weir.progress('mine', {claim}, {first} + 2, '1'); -- ok
select weir.cancelled('mine', array[{claim}]); -- ok
select weir.job('mine', {first}); -- ok
select weir.workflow('mine', 1); -- ok
select weir.start_workflow('mine', array['{"kind": "a"}']::jsonb[]); -- fail 42501
select weir.list_schedules('mine'); -- ok
select weir.fire_schedules(); -- ok
select weir.next_times('@daily'); -- ok
select weir.schedule('s', 'mine', 'k', cron => '@daily'); -- fail 42501
select weir.unschedule('others'); -- fail 42501
select weir.list_schedules('other'); -- fail 42501
select weir.snooze('mine', {claim}, array[]::bigint[]); -- ok
select weir.finish('mine', {claim}, {first} + 2, '1'); -- ok
select weir.finish_many('mine', array[{claim}], array[{first} + 2]); -- ok
select weir.settle_many('mine', '{release}', array[{other_claim}], array['{(,)}'::int8multirange]); -- ok
select weir.enqueue('mine', 'k'); -- fail 42501
select weir.enqueue_batch('mine', array['{"kind": "k"}']::jsonb[]); -- fail 42501
select weir.cancel('mine', {first}); -- fail 42501
select weir.progress('other', {other_claim}, {first}); -- fail 42501
select weir.cancelled('other', array[{other_claim}]); -- fail 42501
select weir.job('other', {first}); -- fail 42501
select weir.snooze('other', {other_claim}); -- fail 42501
select weir.finish('other', {other_claim}, {first}); -- fail 42501
select weir.finish_many('other', array[{other_claim}], array[{first}]); -- fail 42501
select * from weir_internal.cancellations; -- fail 42501
select weir_gates."enqueue:mine"(null, null, null, null, null, null, null, null, false, null, false); -- fail 42501
select weir_log.append_job_event(null); -- fail 42501
select * from weir_log.jobs_0; -- fail 42501
select weir_log.finish('other', {other_claim}, array[{first}], null); -- fail 42501
select weir.nack('mine', {claim}, array[{first} + 2]::bigint[]); -- ok
select weir.reject('mine', {claim}, array[{first} + 1]::bigint[]); -- ok
select weir.ack_all('mine', {claim}); -- ok
select weir.send('mine', '1'); -- fail 42501
select weir.send_batch('mine', array['1']::jsonb[]); -- fail 42501
select weir.send_once('mine', array['1']::jsonb[], array['a']); -- fail 42501
select weir.publish('news', '1'); -- fail 42501
select weir.route('news'); -- fail 42501
select weir.receive('other'); -- fail 42501
select weir.receive_records('other'); -- fail 42501
select weir.pop('other'); -- fail 42501
select weir.peek('other'); -- fail 42501
select weir.get('other', {first}); -- fail 42501
select weir.get_many('other', array[{first}]); -- fail 42501
select weir.settle_many('other', '{release}', array[{other_claim}], array['{(,)}'::int8multirange]); -- fail 42501
select weir.stats('other'); -- fail 42501
select weir.list_groups('other'); -- fail 42501
select weir.dead_letters('other'); -- fail 42501
select weir.mark_waiting('other'); -- fail 42501
select weir.ack_all('other', {other_claim}); -- fail 42501
select weir.nack('other', {other_claim}); -- fail 42501
select weir.reject('other', {other_claim}, array[{first}]::bigint[]); -- fail 42501
select weir.extend('other', {other_claim}, '1 hour'); -- fail 42501
select weir.redrive('mine', 'default'); -- fail 42501
select weir.discard('mine', 'default'); -- fail 42501
select weir.pause('mine'); -- fail 42501
select weir.purge('mine'); -- fail 42501
select weir.create_group('mine', 'g'); -- fail 42501
select weir.drop_group('mine', 'default'); -- fail 42501
select weir.configure_group('mine', 'default', 3); -- fail 42501
select weir.configure_queue('mine', 2048); -- fail 42501
select weir.rename_queue('mine', 'theirs'); -- fail 42501
select weir.drop_queue('mine'); -- fail 42501
select weir.grant_consume('other', '{role}'); -- fail 42501
select weir.unbind('news', 'mine'); -- fail 42501
select weir_gates."receive:other"('default', 1, '1 minute'); -- fail 42501
select weir_gates."ack_all:other"({other_claim}); -- fail 42501
select weir_gates."peek:other"('default', 1); -- fail 42501
select weir_gates."administer:mine"('purge', '{}'); -- fail 42501
select weir_internal.administer('mine', 'purge', '{}'); -- fail 42501
select * from weir_internal.dead_letters; -- fail 42501
