-- Weir: installs the engine into the current database, or upgrades it. Run by `weir install`, or by psql:
--     psql -v ON_ERROR_STOP=1 -f sql/install.sql
-- The list is the table of contents. Tables change by numbered steps in upgrade/; everything else is replaced.
begin;
\ir prologue.sql

\ir internal/lock_tables.sql

-- Types
\ir types/message.sql
\ir types/message_record.sql
\ir types/stored_message.sql
\ir types/group_stats.sql
\ir types/finding.sql
\ir types/job_status.sql
\ir types/schedule_status.sql
\ir types/workflow_step.sql
\ir types/workflow_status.sql
\ir types/claim_status.sql
\ir types/parked_key.sql
\ir types/delayed_message.sql
\ir types/log_record.sql
\ir types/later_row.sql
\ir types/parked_row.sql
\ir types/line_message.sql
\ir types/line_turn.sql
\ir types/claim_range.sql
\ir types/claim.sql
\ir types/place.sql
\ir types/job_event.sql

-- Tables
\ir tables/installation.sql
\ir tables/queues.sql
\ir tables/groups.sql
\ir tables/segments.sql
\ir tables/samples.sql
\ir tables/dead_letters.sql
\ir tables/templates.sql
\ir tables/bindings.sql
\ir tables/tokens.sql
\ir tables/cancellations.sql
\ir tables/carries.sql
\ir tables/schedules.sql
\ir tables/workflows.sql
\ir tables/workflow_steps.sql
\ir tables/workflow_jobs.sql
\ir tables/workflow_ends.sql

-- Names, limits, errors
\ir internal/clock.sql
\ir internal/check_name.sql
\ir internal/creation_hint.sql
\ir internal/check_isolation.sql
\ir internal/check_message.sql
\ir internal/check_batch.sql
\ir internal/check_dedup_keys.sql
\ir internal/check_priority.sql
\ir internal/fail_unknown_group.sql
\ir internal/check_receive.sql
\ir internal/check_jobs.sql
\ir internal/read_jobs.sql
\ir internal/birth_of.sql
\ir internal/fail_restored.sql
\ir internal/fail_unknown.sql
\ir internal/check_many.sql
\ir internal/find_queue.sql
\ir internal/find_group.sql
\ir internal/ttl_start.sql
\ir internal/apply_ttl.sql
\ir internal/queue_function.sql
\ir internal/start_time.sql
\ir internal/check_queue_settings.sql
\ir internal/check_group_settings.sql
\ir internal/check_topic.sql
\ir internal/check_scope.sql

-- Locks and numbers
\ir internal/snapshot.sql
\ir internal/lock_class.sql
\ir internal/claim_lock.sql
\ir internal/lane_of.sql
\ir internal/spread.sql
\ir internal/digest_of.sql
\ir internal/job_digest.sql
\ir internal/count_ids.sql
\ir internal/to_micros.sql
\ir internal/due_at.sql
\ir internal/wait_turn.sql
\ir internal/rate_step.sql
\ir internal/rate_room.sql

-- Each queue's own functions: sending
\ir queue/wake.sql
\ir queue/append.sql
\ir queue/append_batch.sql
\ir queue/delay.sql
\ir queue/send.sql
\ir queue/send_batch.sql
\ir queue/await.sql
\ir queue/remember.sql
\ir queue/send_once.sql
\ir queue/hold.sql
\ir queue/note.sql
\ir queue/enqueue.sql

-- Each queue's own functions: cursors and claims
\ir queue/cursor.sql
\ir queue/put.sql
\ir queue/unfinished.sql
\ir queue/low.sql
\ir queue/checkpoint.sql
\ir queue/parked_lines.sql
\ir queue/claim.sql
\ir queue/claim_one.sql
\ir queue/claim_record.sql
\ir queue/reach.sql
\ir queue/late.sql
\ir queue/is_due.sql
\ir queue/claim_due.sql
\ir queue/skip_due.sql
\ir queue/fresh.sql
\ir queue/has_new.sql
\ir queue/sent_at.sql
\ir queue/probe.sql
\ir queue/unoccupied.sql
\ir queue/step_up.sql
\ir queue/end_parked.sql
\ir queue/claim_parked.sql
\ir queue/retry_ordered.sql
\ir queue/tally.sql
\ir queue/turn.sql
\ir queue/lines.sql
\ir queue/serve.sql
\ir queue/receive.sql
\ir queue/divide.sql
\ir queue/receive_many.sql

-- Each queue's own functions: settling
\ir queue/ack.sql
\ir queue/claim_state.sql
\ir queue/claim_messages.sql
\ir queue/retry.sql
\ir queue/settle_claim.sql
\ir queue/settle.sql
\ir queue/held.sql
\ir queue/ack_many.sql
\ir queue/extend_many.sql
\ir queue/settle_many.sql
\ir queue/finish.sql
\ir queue/workflow.sql

-- Each queue's own functions: looking at it and administering it
\ir queue/standing.sql
\ir queue/view.sql
\ir queue/admin.sql

-- Log and claims
\ir internal/next_segment.sql
\ir internal/has_passed.sql
\ir internal/slice.sql
\ir internal/due_record.sql
\ir internal/claim_state.sql
\ir internal/fail_missing.sql
\ir internal/claim_messages.sql
\ir internal/lease_again.sql
\ir internal/redeliver.sql
\ir internal/waiting_records.sql

-- Settling, retries, dead letters
\ir internal/next_under_way.sql
\ir internal/send_steps.sql
\ir internal/end_step.sql
\ir internal/end_jobs.sql
\ir internal/end_lost_steps.sql
\ir internal/read_steps.sql
\ir internal/start_workflow.sql
\ir internal/bury.sql
\ir internal/backoff.sql
\ir internal/retry.sql
\ir internal/settle.sql
\ir internal/extend_claim.sql
\ir internal/take_dead_letters.sql

-- Jobs
\ir internal/start_jobs.sql
\ir internal/still_held.sql
\ir internal/progress.sql
\ir internal/cancelled.sql
\ir internal/drop_cancelled.sql
\ir internal/attempt_of.sql
\ir internal/job.sql

-- Schedules
\ir internal/cron_field.sql
\ir internal/parse_cron.sql
\ir internal/next_time_of_day.sql
\ir internal/next_time.sql
\ir internal/following.sql
\ir internal/fire_schedule.sql
\ir internal/queue_of_schedule.sql
\ir internal/schedule.sql
\ir internal/change_schedule.sql

-- Ordered groups
\ir internal/line_of.sql
\ir internal/park.sql
\ir internal/park_record.sql
\ir internal/park_claim.sql
\ir internal/divert.sql
\ir internal/release_parked.sql

-- Lines of keys, of groups that are fair or limit each key
\ir internal/lined_up.sql
\ir internal/clear_lines.sql
\ir internal/start_lines.sql
\ir internal/trim_group_lines.sql
\ir internal/trim_lines.sql

-- Life of a queue
\ir internal/start_dedup.sql
\ir internal/start_backlog.sql
\ir internal/start_rings.sql
\ir internal/create_queue_tables.sql
\ir internal/expand_template.sql
\ir internal/generate_queue_functions.sql
\ir internal/start_tally.sql
\ir internal/start_limits.sql
\ir internal/create_cursors.sql

-- Rotation

\ir internal/dumping.sql
\ir internal/lock_or_skip.sql
\ir internal/move_claim.sql
\ir internal/move_claims.sql
\ir internal/drained_segments.sql
\ir internal/rotate_log.sql
\ir internal/mark_claims.sql
\ir internal/rotate_claims.sql
\ir internal/advance_idle.sql
\ir internal/trim_later.sql
\ir internal/trim_parked.sql
\ir internal/carry_over.sql
\ir internal/turn_ring.sql
\ir internal/rotate_dedup.sql
\ir internal/rotate_jobs.sql

-- Adopting what came in a dump
\ir internal/claimed_records.sql
\ir internal/adopt_messages.sql
\ir internal/adopt_claims.sql
\ir internal/adopt_lanes.sql
\ir internal/adopt_later.sql
\ir internal/adopt_log.sql
\ir internal/adopt_cursors.sql
\ir internal/adopt_queue.sql

-- Looking at a queue
\ir internal/visible_queues.sql
\ir internal/extrapolate.sql
\ir internal/lane_waiting.sql
\ir internal/slot_claimed.sql
\ir internal/sample_rows.sql
\ir internal/group_depth.sql
\ir internal/backlog.sql
\ir internal/admit.sql
\ir internal/take_sample.sql
\ir internal/rates.sql
\ir internal/holder_of.sql
\ir internal/rotation_blocker.sql
\ir internal/held_by.sql
\ir internal/stats.sql
\ir internal/examine_relations.sql
\ir internal/examine_queue.sql
\ir internal/examine_database.sql
\ir internal/peek.sql
\ir internal/state_of.sql
\ir internal/get.sql
\ir internal/claims.sql
\ir internal/parked_keys.sql
\ir internal/delayed.sql
\ir internal/list_workflows.sql
\ir internal/dead_letters.sql

-- Administering a queue
\ir internal/lock_lanes.sql
\ir internal/mark_lanes.sql
\ir internal/lock_claims.sql
\ir internal/end_claims.sql
\ir internal/end_place.sql
\ir internal/find_place.sql
\ir internal/replayed_ids.sql
\ir internal/take_unfinished.sql
\ir internal/move_cursors.sql
\ir internal/create_group.sql
\ir internal/configure_group.sql
\ir internal/drop_group.sql
\ir internal/configure_queue.sql
\ir internal/drop_queue_objects.sql
\ir internal/drop_queue.sql
\ir internal/rename_queue.sql
\ir internal/set_paused.sql
\ir internal/purge_group.sql
\ir internal/purge.sql
\ir internal/seek.sql
\ir internal/redrive.sql
\ir internal/discard.sql
\ir internal/sent_by.sql
\ir internal/cancel.sql
\ir internal/administer.sql
\ir internal/ask_admin.sql

-- Rights
\ir internal/rights.sql
\ir internal/held_rights.sql
\ir internal/functions_of.sql
\ir internal/complete_rights.sql
\ir internal/trim_rights.sql
\ir internal/change_right.sql

-- Leaving an older release behind
\ir internal/drop_obsolete_functions.sql
\ir internal/restore_grants.sql

-- Public: queues and groups
\ir functions/create_queue.sql
\ir functions/configure_queue.sql
\ir functions/drop_queue.sql
\ir functions/rename_queue.sql
\ir functions/list_queues.sql
\ir functions/create_group.sql
\ir functions/configure_group.sql
\ir functions/drop_group.sql
\ir functions/list_groups.sql
\ir functions/pause.sql
\ir functions/resume.sql
\ir functions/purge.sql
\ir functions/seek.sql

-- Public: messages
\ir functions/send.sql
\ir functions/send_batch.sql
\ir functions/send_once.sql
\ir functions/receive.sql
\ir functions/receive_records.sql
\ir functions/ack.sql
\ir functions/nack.sql
\ir functions/reject.sql
\ir functions/extend.sql
\ir functions/release.sql
\ir functions/receive_many.sql
\ir functions/ack_many.sql
\ir functions/extend_many.sql
\ir functions/settle_many.sql
\ir functions/pop.sql
\ir functions/mark_waiting.sql
\ir functions/peek.sql
\ir functions/get.sql
\ir functions/get_many.sql
\ir functions/claims.sql
\ir functions/parked_keys.sql
\ir functions/delayed.sql
\ir functions/queue_function.sql

-- Public: jobs
\ir functions/enqueue.sql
\ir functions/enqueue_batch.sql
\ir functions/finish.sql
\ir functions/finish_many.sql
\ir functions/progress.sql
\ir functions/snooze.sql
\ir functions/job.sql
\ir functions/cancel.sql
\ir functions/cancelled.sql

-- Public: workflows
\ir functions/start_workflow.sql
\ir functions/start_chain.sql
\ir functions/start_batch.sql
\ir functions/workflow.sql
\ir functions/list_workflows.sql

-- Public: schedules
\ir functions/schedule.sql
\ir functions/unschedule.sql
\ir functions/pause_schedule.sql
\ir functions/resume_schedule.sql
\ir functions/list_schedules.sql
\ir functions/next_times.sql
\ir functions/fire_schedules.sql

-- Public: dead letters
\ir functions/dead_letters.sql
\ir functions/redrive.sql
\ir functions/discard.sql

-- Public: topics
\ir functions/bind.sql
\ir functions/unbind.sql
\ir functions/list_bindings.sql
\ir functions/route.sql
\ir functions/publish.sql
\ir functions/publish_batch.sql

-- Public: rights
\ir functions/grant_produce.sql
\ir functions/revoke_produce.sql
\ir functions/grant_consume.sql
\ir functions/revoke_consume.sql
\ir functions/grant_admin.sql
\ir functions/revoke_admin.sql

-- Public: tokens of the HTTP server
\ir functions/create_token.sql
\ir functions/revoke_token.sql
\ir functions/list_tokens.sql
\ir functions/find_token.sql

-- Public: operation
\ir functions/stats.sql
\ir functions/doctor.sql
\ir functions/maintain.sql
\ir functions/adopt.sql
\ir functions/version.sql

\ir epilogue.sql
commit;
