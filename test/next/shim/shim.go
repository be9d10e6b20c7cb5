// Package shim stands in for public functions of the next engine that the tests of one part need and another part
// brings: what is there already is left alone.
package shim

import (
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

// functions are the stand-ins, by name.
var functions = map[string]string{
	"ack": `create function weir.ack(queue_name text, claim_id bigint, ids bigint[]) returns int language sql
		as $$ select weir_log.settle(queue_name, claim_id, coalesce(ids, '{null}'), 'ack', null, null) $$`,
	"ack_all": `create function weir.ack_all(queue_name text, claim_id bigint) returns int language sql
		as $$ select weir_log.ack_all(queue_name, claim_id) $$`,
	"nack": `create function weir.nack(queue_name text, claim_id bigint, ids bigint[] default null,
			delay interval default null, reason text default null) returns int language sql
		as $$ select weir_log.settle(queue_name, claim_id, ids, 'nack', delay, reason) $$`,
	"release": `create function weir.release(queue_name text, claim_id bigint, ids bigint[] default null) returns int
		language sql as $$ select weir_log.settle(queue_name, claim_id, ids, 'release', '0', null) $$`,
	"reject": `create function weir.reject(queue_name text, claim_id bigint, ids bigint[], reason text default null)
		returns int language sql
		as $$ select weir_log.settle(queue_name, claim_id, coalesce(ids, '{null}'), 'reject', null, reason) $$`,
	"extend": `create function weir.extend(queue_name text, claim_id bigint, lease interval) returns timestamptz
		language sql as $$ select weir_log.extend(queue_name, claim_id, lease) $$`,
	"pop": `create function weir.pop(queue_name text, group_name text default 'default', max int default 1)
		returns setof weir.message language plpgsql as $$
		declare
			m weir.message;
			v_claim bigint;
		begin
			for m in select * from weir.receive(pop.queue_name, pop.group_name, pop.max) loop
				v_claim := m.claim_id;
				return next m;
			end loop;
			perform weir.ack_all(pop.queue_name, v_claim) where v_claim is not null;
		end $$`,
	"redrive": `create function weir.redrive(queue_name text, group_name text, ids bigint[] default null) returns bigint
		language sql as $$
			with d as (
				delete from weir_internal.dead_letters l using weir_internal.groups g join weir_internal.queues q on q.no = g.queue_no
				where q.name = redrive.queue_name and g.name = redrive.group_name and l.group_no = g.no returning l.*),
			i as (
				insert into weir_log.delayed select pg_current_xact_id(), d.queue_no, d.group_no, weir_log.due_at('0'), d.id, 0,
					d.key, d.headers, d.payload, d.enqueued_at, null from d returning *),
			e as (
				select weir_log.end_jobs((select q from weir_internal.queues q where q.name = redrive.queue_name),
					array(select row(i.*)::weir_internal.delayed_row from i), 4, null, null))
			select count(*) from i, e $$`,
	"send_batch": `create function weir.send_batch(queue_name text, payloads jsonb[], keys text[] default null,
			headers jsonb[] default null, delay interval default null, dedup_keys text[] default null,
			priority int default null) returns setof bigint language plpgsql as $$
		begin
			if dedup_keys is null then
				return query select unnest(weir_log.send_batch(queue_name, payloads, keys, headers, delay, priority));
			else
				return query select o.id from weir.send_once(queue_name, payloads, dedup_keys, keys, headers, delay, priority) o;
			end if;
		end $$`,
}

// Install makes the stand-ins that a database needs.
func Install(tb testing.TB, db *pgtest.DB) {
	tb.Helper()
	// ack_all first: pop calls it
	for _, name := range []string{"ack", "ack_all", "nack", "release", "reject", "extend", "pop", "redrive", "send_batch"} {
		if !Has(tb, db, name) {
			db.Exec(tb, functions[name])
		}
	}
}

// Has tells whether the engine has a public function.
func Has(tb testing.TB, db *pgtest.DB, name string) bool {
	tb.Helper()
	return pgtest.QueryVal[bool](tb, db,
		"select exists (select from pg_proc where pronamespace = 'weir'::regnamespace and proname = $1)", name)
}

// Needs skips a test of what another part brings, as long as one of its functions is not there.
func Needs(t *testing.T, db *pgtest.DB, names string) {
	t.Helper()
	for name := range strings.FieldsSeq(names) {
		if !Has(t, db, name) {
			t.Skipf("weir.%s is not there yet", name)
		}
	}
}
