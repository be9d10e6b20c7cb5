-- The face of PGMQ: its schema `pgmq`, with its functions, over a log of the engine. Run by `weir face install pgmq`,
-- after the engine is there, or by psql:
--     psql -v ON_ERROR_STOP=1 -f sql/faces/pgmq/install.sql
-- Again: it brings the functions up to date and keeps queues and messages.
begin;
\ir prologue.sql
-- Types and tables
\ir types/message_record.sql
\ir types/queue_record.sql
\ir types/metrics_result.sql
\ir tables/meta.sql
\ir tables/topic_bindings.sql
\ir tables/notifies.sql
-- Helpers
\ir internal/span_key.sql
\ir indexes.sql
\ir internal/guard.sql
\ir internal/find.sql
\ir internal/accessors.sql
\ir internal/notify.sql
\ir internal/append.sql
\ir internal/delay.sql
\ir internal/fetch.sql
\ir internal/look.sql
\ir internal/take_out.sql
\ir internal/take_out_many.sql
\ir internal/last_read.sql
\ir internal/list.sql
\ir internal/pick.sql
\ir internal/write_view.sql
\ir internal/open_queue.sql
-- Queues
\ir functions/format_table_name.sql
\ir functions/validate_queue_name.sql
\ir functions/acquire_queue_lock.sql
\ir functions/create.sql
\ir functions/create_partitioned.sql
\ir functions/drop_queue.sql
\ir functions/list_queues.sql
\ir functions/purge_queue.sql
\ir functions/detach_archive.sql
\ir functions/create_fifo_index.sql
-- Messages
\ir functions/send.sql
\ir functions/send_batch.sql
\ir functions/read.sql
\ir functions/read_with_poll.sql
\ir functions/read_grouped.sql
\ir functions/pop.sql
\ir functions/set_vt.sql
\ir functions/delete.sql
\ir functions/archive.sql
-- Topics
\ir functions/validate_topic_pattern.sql
\ir functions/bind_topic.sql
\ir functions/list_topic_bindings.sql
\ir functions/send_topic.sql
\ir functions/send_batch_topic.sql
-- Figures, and notifications
\ir functions/enable_notify_insert.sql
\ir functions/metrics.sql
revoke all on all routines in schema pgmq from public;
comment on schema pgmq is 'Weir''s face of PGMQ 1.13';
commit;
