package restore_test

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// smallSegments has the rings of the log `main` turn soon.
const smallSegments = "select weir.configure_log('main', segment_bytes => 65536, claims_bytes => 65536)"

// small makes a database with the queue `q` of one lane and sends it n messages, the first of which has a claim.
func small(t *testing.T, major, n int) *pgtest.DB {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{Major: major})
	surface.CreateQueue(t, db.Pool(t), "q", "lanes => 1")
	db.Exec(t, "select weir.send('q', i::text::jsonb) from generate_series(1, $1) i", n)
	db.Exec(t, "select weir.receive('q', lease => '1 hour')")
	return db
}

// numbers receives all and returns the payloads.
func numbers(t *testing.T, db *pgtest.DB) []string {
	t.Helper()
	return pgtest.QueryAll[string](t, db, "select payload::text from weir.pop('q', max => 1000) order by id")
}

func upTo(n int) []string {
	var all []string
	for i := range n {
		all = append(all, surface.Number(i+1))
	}
	return all
}

// contents lists what the tables of the log hold, in an order of their own.
const contents = `
	select string_agg(x, e'\n' order by x) from (
		select 'log ' || l::text from (select * from weir_log.log_0 union all
			select * from weir_log.log_1 union all select * from weir_log.log_2) l
		union all select 'rest ' || r::text from weir_log.rest r
		union all select 'claim ' || c::text from weir_log.claims_2 c
		union all select 'delayed ' || d::text from weir_log.delayed d
		union all select 'parked ' || p::text from weir_log.parked p
		union all select 'segment ' || s::text from weir_log.segments s
		union all select 'group ' || g::text from weir_internal.groups g) t (x)`

// refused are calls of every function that takes a queue, but for those that only read settings.
const refused = `
select weir.send('q', '1')
select weir.send('q', '1', 'key', '{}', '1 minute')
select weir.send_batch('q', '{1,2}')
select weir.send('q', '1', dedup_key => 'a')
select weir.send_once('q', '{1}', '{a}')
select weir.send('q', '1', priority => 1)
select weir.start_workflow('q', array['{"kind": "k"}']::jsonb[])
select weir.start_chain('q', array['{"kind": "k"}']::jsonb[])
select weir.start_batch('q', array['{"kind": "k"}']::jsonb[], '{"kind": "k"}')
select weir.workflow('q', 1)
select weir.schedule('s', 'q', 'k', cron => '@daily')
select weir.enqueue('q', 'k')
select weir.enqueue('q', 'k', tracked => true)
select weir.enqueue_batch('q', array['{"kind": "k"}']::jsonb[])
select weir.finish('q', 1, 1)
select weir.finish_many('q', '{1}', '{1}')
select weir.progress('q', 1, 1)
select weir.snooze('q', 1, '{1}', '1 minute')
select weir.job('q', 1)
select weir.cancel('q', 1)
select weir.cancelled('q', '{1}')
select weir.rename_queue('q', 'p')
select weir.receive('q')
select weir.receive_records('q')
select weir.pop('q')
select weir.pop_records('q')
select weir.ack('q', 1, 1)
select weir.ack('q', 1, array[1,2])
select weir.ack_all('q', 1)
select weir.ack_and_receive('q', 1, '{1}')
select weir.nack('q', 1)
select weir.reject('q', 1, '{1}')
select weir.extend('q', 1, '1 minute')
select weir.release('q', 1)
select weir.receive_many('q', 'default', '{1,1}', '{1 minute,1 minute}')
select weir.ack_many('q', '{1}', array['{(,)}']::int8multirange[])
select weir.extend_many('q', '{1}', '{1 minute}')
select weir.settle_many('q', '{nack}', '{1}', array['{(,)}']::int8multirange[])
select weir.get('q', 1)
select weir.get_many('q', '{1}')
select weir.claims('q')
select weir.stats('q')
select weir.parked_keys('q')
select weir.delayed('q')
select weir.move_queue('q', 'main')
select weir.seek('q', 'default', 'start')
select weir.mark_waiting('q')
select weir.peek('q')
select weir.peek_records('q')
select weir.dead_letters('q')
select weir.list_workflows('q')
select weir.list_jobs('q')
select weir.redrive('q', 'default')
select weir.discard('q', 'default')
select weir.purge('q')
select weir.pause('q')
select weir.resume('q')
select weir.create_group('q', 'g')
select weir.configure_group('q', 'default', max_attempts => 3)
select weir.drop_group('q', 'default')
select weir.configure_queue('q', message_bytes_max => 5000)
select weir.drop_queue('q')
select weir.bind('a', 'q')
select weir.unbind('a', 'q')
select weir.grant_produce('q', 'pg_monitor')
select weir.grant_consume('q', 'pg_monitor')
select weir.grant_admin('q', 'pg_monitor')
select weir.revoke_produce('q', 'pg_monitor')
select weir.revoke_consume('q', 'pg_monitor')
select weir.revoke_admin('q', 'pg_monitor')
`

func TestNothingCanBeDoneBeforeAdoptAndNothingIsTouched(t *testing.T) {
	each(t, func(t *testing.T, major int) {
		h := newHistory(t, major, 11)
		h.play(150)
		h.db.Exec(t, "select weir.purge('q')") // there is something to give back
		to := moved(t, h.db, true)
		others := pgtest.QueryAll[string](t, to, `select distinct proname::text from pg_proc
			where pronamespace = 'weir'::regnamespace and 'queue_name' = any(proargnames[1:pronargs])
				and not $1::text ~ ('weir\.' || proname || '\(') order by 1`, refused)
		want := []string{"create_queue", "list_groups", "list_schedules"}
		if !slices.Equal(others, want) {
			t.Errorf("not tried are %v, want %v", others, want)
		}
		before := pgtest.QueryVal[string](t, to, contents)
		for range 2 {
			for _, call := range lines(refused) {
				if _, err := to.Pool(t).Exec(t.Context(), call); surface.SQLState(err) != "WR019" {
					t.Errorf("%s: %v, want WR019", call, err)
				}
			}
			if n, err := surface.Maintain(t.Context(), to.Pool(t)); n != 0 || err != nil {
				t.Errorf("maintain: %d, %v", n, err)
			}
			_, err := to.Pool(t).Exec(t.Context(), "select weir_internal.maintain_step('empty segments', 'main')")
			surface.WantState(t, err, "WR019")
			if after := pgtest.QueryVal[string](t, to, contents); after != before {
				t.Errorf("what was restored changed:\n%s\nbefore:\n%s", after, before)
			}
			// An upgrade makes the functions anew; they must refuse all the same.
			if err := migrate.Install(t.Context(), to.Conn(t)); err != nil {
				t.Fatal(err)
			}
		}
		_, err := to.Pool(t).Exec(t.Context(), "select weir.create_queue('new')")
		surface.WantState(t, err, "WR019")
		surface.CreateQueue(t, to.Pool(t), "new", "log => 'another'") // which is at home here
		to.Exec(t, "select weir_log_another.send('new', '1', null, null, null, null)")
		adopt(t, to, 1)
		to.Exec(t, "select weir.send('q', '1')")
	})
}

func TestAdoptIsAllOrNothingAndOnce(t *testing.T) {
	each(t, func(t *testing.T, major int) {
		to, ctx := moved(t, small(t, major, 3), true), t.Context()
		a, b := to.Conn(t), to.Conn(t)
		tx, err := a.Begin(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var n int
		for range 2 {
			if err := tx.QueryRow(ctx, "select weir.adopt()").Scan(&n); err != nil {
				t.Fatal(err)
			}
		}
		if n != 0 {
			t.Errorf("a second adopt in the transaction adopted %d queues", n)
		}
		if _, err := b.Exec(ctx, "select weir.send('q', '1')"); surface.SQLState(err) != "WR019" {
			t.Errorf("a send before the commit of adopt: %v", err)
		}
		if err := tx.Rollback(ctx); err != nil {
			t.Fatal(err)
		}
		_, err = b.Exec(ctx, "select weir.send('q', '1')")
		surface.WantState(t, err, "WR019")
		if tx, err = a.Begin(ctx); err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(ctx, "select weir.adopt()"); err != nil {
			t.Fatal(err)
		}
		second := make(chan int, 1)
		go func() {
			n := -1
			if err := b.QueryRow(context.WithoutCancel(ctx), "select weir.adopt()").Scan(&n); err != nil {
				t.Error(err)
			}
			second <- n
		}()
		pgtest.WaitForLock(t, to, b.PgConn().PID())
		if err := tx.Commit(ctx); err != nil {
			t.Fatal(err)
		}
		if n := <-second; n != 0 {
			t.Errorf("an adopt that waited for another adopted %d queues", n)
		}
		_, err = to.Pool(t).Exec(ctx, "begin isolation level repeatable read; select weir.adopt()")
		surface.WantState(t, err, "WR012")
		if got := numbers(t, to); !slices.Equal(got, upTo(3)) {
			t.Errorf("received %v", got)
		}
	})
}

// TestATransactionOlderThanAdoptCanSendAfterIt: the messages of an adopted log must not stand in the place of any
// transaction of this cluster.
func TestATransactionOlderThanAdoptCanSendAfterIt(t *testing.T) {
	each(t, func(t *testing.T, major int) {
		for _, above := range []bool{false, true} {
			from := small(t, major, 2)
			if !above {
				age(t, from, 10_000)
			}
			to, ctx := moved(t, from, above), t.Context()
			old, err := to.Conn(t).Begin(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := old.Exec(ctx, "select pg_current_xact_id()"); err != nil {
				t.Fatal(err)
			}
			adopt(t, to, 1)
			if got := numbers(t, to); !slices.Equal(got, upTo(2)) {
				t.Errorf("received %v", got)
			}
			if _, err := old.Exec(ctx, "select weir.send('q', '3'), weir.send('q', '4')"); err != nil {
				t.Fatal(err)
			}
			to.Exec(t, "select weir.send('q', '5')")
			if got := numbers(t, to); !slices.Equal(got, []string{"5"}) {
				t.Errorf("received %v", got)
			}
			if err := old.Commit(ctx); err != nil {
				t.Fatal(err)
			}
			if got := numbers(t, to); !slices.Equal(got, []string{"3", "4"}) {
				t.Errorf("received %v", got)
			}
		}
	})
}

// TestSettingsStayAsTheyWere looks at what adopt must leave alone, restored by another role.
func TestSettingsStayAsTheyWere(t *testing.T) {
	each(t, func(t *testing.T, major int) {
		from := small(t, major, 3)
		server := cluster(t, major)
		to := server.NewDB(t, true)
		role := "shop_" + from.Name
		for _, db := range []*pgtest.DB{from, to} {
			_, err := db.Super(t).Exec(t.Context(), "create role "+role+" login; grant create on database "+db.Name+" to "+role)
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() { // roles outlive databases
			conn, err := pgx.Connect(context.WithoutCancel(t.Context()), super(from))
			if err == nil {
				_, err = conn.Exec(context.WithoutCancel(t.Context()), "drop owned by "+role+"; drop role "+role)
			}
			if err != nil {
				t.Errorf("drop role: %v", err)
			}
		})
		from.Exec(t, "select weir.create_group('q', 'line', ordered => true, max_attempts => 9)")
		from.Exec(t, "select weir.bind('a.*', 'q')")
		from.Exec(t, "select weir.grant_produce('q', $1)", role)
		from.Exec(t, "select weir.reject('q', claim_id, array[id], 'no') from weir.receive('q')")
		from.Exec(t, "select weir.pause('q', 'line')")
		const settings = `select array[
			(select string_agg(d::text, ' ') from weir.dead_letters('q') d),
			(select string_agg(q, ' ') from weir.route('a.b') q),
			(select string_agg((to_jsonb(g) - '{start,start_by}'::text[])::text, ' ' order by g.no) from weir_internal.groups g),
			(select string_agg(b::text, ' ') from weir.list_bindings() b),
			(select coalesce(string_agg(r::text, ' ' order by r), 'none') from weir_internal.held_rights() r)]`
		want := pgtest.QueryVal[[]string](t, from, settings)
		file := dump(t, from, "--schema=weir*")
		restoreInto(t, file, to, "--no-owner", "--role="+role)
		conn := to.As(t, role)
		if _, err := conn.Exec(t.Context(), "select weir.adopt()"); err != nil {
			t.Fatal(err)
		}
		var got []string
		if err := conn.QueryRow(t.Context(), settings).Scan(&got); err == nil {
			want[4], got[4] = "", "" // the owner of this one is the role
			if !slices.Equal(got, want) {
				t.Errorf("settings are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		} else {
			t.Fatal(err)
		}
		same := restore(t, file, server)
		adopt(t, same, 1)
		rights := pgtest.QueryVal[string](t, same, "select r::text from weir_internal.held_rights() r")
		if rights != "(q,"+role+",produce)" {
			t.Errorf("rights are %s", rights)
		}
		if _, err := same.As(t, role).Exec(t.Context(), "select weir.send('q', '1')"); err != nil {
			t.Errorf("send as one who was granted it: %v", err)
		}
		_, err := same.As(t, role).Exec(t.Context(), "select weir.adopt()")
		surface.WantState(t, err, "42501")
	})
}

// TestARetryKeepsItsReasonAfterADump looks at one that waits for its time and at one in the line of its key.
func TestARetryKeepsItsReasonAfterADump(t *testing.T) {
	each(t, func(t *testing.T, major int) {
		from := small(t, major, 0)
		from.Exec(t, "select weir.create_group('q', 'line', ordered => true)")
		from.Exec(t, "select weir.send('q', '1', key => 'a')")
		for group, reason := range map[string]string{"default": "no flour", "line": "no water"} {
			from.Exec(t, `select weir.nack('q', claim_id, delay => '1 day', reason => $2)
				from weir.receive('q', $1, 10, '1 hour')`, group, reason)
		}
		const retries = `select array[
			(select string_agg(concat_ws(' ', key, attempts, reason), ', ') from weir_log.delayed),
			(select string_agg(concat_ws(' ', key, attempts, due_at > now(), reason), ', ') from weir_log.parked)]`
		want := []string{"a 1 no flour", "a 1 t no water"}
		if got := pgtest.QueryVal[[]string](t, from, retries); !slices.Equal(got, want) {
			t.Fatalf("before the dump the retries are %q, want %q", got, want)
		}
		to := moved(t, from, true)
		adopt(t, to, 1)
		if got := pgtest.QueryVal[[]string](t, to, retries); !slices.Equal(got, want) {
			t.Errorf("the retries are %q, want %q", got, want)
		}
	})
}

func TestDedupKeysAndTheLimitHoldAfterADump(t *testing.T) {
	each(t, func(t *testing.T, major int) {
		from := small(t, major, 3)
		from.Exec(t, "select weir.configure_queue('q', backlog_max => 5)")
		send := "select weir.send('q', '4', dedup_key => 'a')"
		first := pgtest.QueryVal[int64](t, from, send)
		// pg_dump may read the ring later than the tables: here it says already that no key in table 0 counts
		from.Exec(t, "select setval('weir_log.dedup_ring', last_value + 1 + 3) from weir_log.dedup_ring")
		to := moved(t, from, true)
		adopt(t, to, 1)
		if again := pgtest.QueryVal[int64](t, to, send); again != first {
			t.Errorf("id %d, the first was %d", again, first)
		}
		to.Exec(t, "select weir.send('q', '5', dedup_key => 'b')")
		_, err := surface.Send(t.Context(), to.Pool(t), "q", "6", nil, nil, nil)
		surface.WantState(t, err, "WR020")
	})
}

func TestADumpTakenAtWorkLosesNothing(t *testing.T) {
	each(t, func(t *testing.T, major int) {
		from := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, from.Pool(t), "q", "")
		from.Exec(t, smallSegments)
		from.Exec(t, "select weir.send_batch('q', array_fill('\"before\"'::jsonb, array[500]))")
		list, err := surface.Pop(t.Context(), from.Pool(t), "q", "default", 100)
		if err != nil {
			t.Fatal(err)
		}
		held := pgtest.QueryAll[int64](t, from, "select id from weir.receive('q', max => 50, lease => '1 hour')")
		var stop atomic.Bool
		var finished, rest atomic.Int64
		ctx := context.WithoutCancel(t.Context())
		work := func(sql string, count *atomic.Int64) func() {
			return func() {
				for !stop.Load() {
					var n int64
					if err := from.Pool(t).QueryRow(ctx, sql).Scan(&n); err != nil {
						t.Errorf("%s: %v", sql, err)
						return
					}
					count.Add(n)
				}
			}
		}
		var dumped string
		together(
			work("select count(*) from weir.send_batch('q', array_fill('\"meanwhile\"'::jsonb, array[20]))", &rest),
			work(`select coalesce(sum(weir.ack('q', m.claim_id, array[m.id])), 0)
				from weir.receive('q', max => 20) m`, &finished),
			work("call weir.maintain()", &rest),
			func() {
				defer stop.Store(true)
				pgtest.WaitFor(t, "some work", func() bool { return finished.Load() > 300 })
				dumped = dump(t, from)
			})
		to := restore(t, dumped, cluster(t, major))
		adopt(t, to, 1)
		got := drain(t, to, "default")
		for _, id := range held {
			if _, ok := got[id]; !ok {
				t.Errorf("message %d, which was held when the dump was taken, is lost", id)
			}
		}
		for _, id := range surface.IDs(list) {
			if _, ok := got[id]; ok {
				t.Errorf("message %d, which was finished before the dump was taken, came again", id)
			}
		}
		if last := pgtest.QueryVal[int64](t, to, "select weir.send('q', '1')"); last <= slices.Max(held) {
			t.Errorf("a new message has the id %d, of which there is one", last)
		}
	})
}

// Between its snapshot and its locks pg_dump would see a TRUNCATE, and not what was copied before it.
func TestNothingIsTruncatedWhilePgDumpIsAtWork(t *testing.T) {
	each(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), "q", "")
		db.Exec(t, smallSegments)
		dumping := db.Conn(t)
		if _, err := dumping.Exec(t.Context(), "set application_name = 'pg_dump'"); err != nil {
			t.Fatal(err)
		}
		const files = `select string_agg(pg_relation_filenode(oid)::text, ' ' order by relname) from pg_class
			where relnamespace = 'weir_log'::regnamespace
				and relname ~ '^(log|claims|dedup|jobs)_[012]$|^(rest|delayed|parked)$'`
		before := pgtest.QueryVal[string](t, db, files)
		work := func() {
			for range 10 {
				db.Exec(t, "select weir.send('q', to_jsonb(i), dedup_key => i::text) from generate_series(1, 300) i")
				db.Exec(t, "select weir.ack('q', claim_id, id) from weir.receive('q', max => 300)")
				surface.Settle(t, db.Pool(t))
			}
		}
		work()
		if after := pgtest.QueryVal[string](t, db, files); after != before {
			t.Errorf("under pg_dump the tables' files were %s and are %s", before, after)
		}
		if _, err := dumping.Exec(t.Context(), "reset application_name"); err != nil {
			t.Fatal(err)
		}
		work()
		if pgtest.QueryVal[string](t, db, files) == before {
			t.Error("nothing was truncated after pg_dump")
		}
	})
}

// TestEveryTurnOfTheRingsCanBeDumped dumps after each step of maintain that leaves the rings in another state.
func TestEveryTurnOfTheRingsCanBeDumped(t *testing.T) {
	each(t, func(t *testing.T, major int) {
		from := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, from.Pool(t), "q", "lanes => 1")
		from.Exec(t, smallSegments)
		steps := pgtest.QueryAll[string](t, from, "select step_name from weir.maintenance() where log_name = 'main'")
		server := cluster(t, major)
		seen := map[string]bool{}
		for step, sent := 0, 0; len(seen) < 12; step++ {
			if step > 3000 {
				t.Fatalf("the rings were in the states %v only", seen)
			}
			if step%len(steps) == 0 {
				from.Exec(t, "select weir.send('q', to_jsonb(i)) from generate_series($1::int + 1, $1::int + 100) i", sent)
				from.Exec(t, "select weir.ack('q', claim_id, id) from weir.receive('q', max => 90)")
				sent += 100
			}
			from.Exec(t, "select weir_internal.maintain_step($1, 'main')", steps[step%len(steps)])
			state := pgtest.QueryVal[string](t, from, `select format('claims %s, other table %s, segments %s',
				pg_sequence_last_value('weir_log.claims_ring') % 4,
				pg_relation_size('weir_log.claims_0') > 0 and pg_relation_size('weir_log.claims_1') > 0,
				(select string_agg(concat(sealed_by is null, freed_by is null, weir_log.segment_table(no) < 3), ' ' order by no)
				 from weir_log.segments))`)
			if seen[state] {
				continue
			}
			seen[state] = true
			to := restore(t, dump(t, from), server)
			adopt(t, to, 1)
			want := pgtest.QueryAll[int64](t, from, "select id from weir.peek('q', max => 10000) order by id")
			if got := slices.Sorted(keys(drain(t, to, "default"))); !slices.Equal(got, want) {
				t.Errorf("%s: received %v, want %v", state, got, want)
			}
		}
	})
}

func TestAKeySentBeforeTheDumpIsARepeatAfterAdopt(t *testing.T) {
	each(t, func(t *testing.T, major int) {
		from := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, from.Pool(t), "q", "lanes => 1")
		first := pgtest.QueryVal[int64](t, from, "select weir.send('q', '1', dedup_key => 'once')")
		to := moved(t, from, true)
		adopt(t, to, 1)
		if id := pgtest.QueryVal[int64](t, to, "select weir.send('q', '2', dedup_key => 'once')"); id != first {
			t.Errorf("a repeat has the id %d, want that of the first, %d", id, first)
		}
		if got := numbers(t, to); !slices.Equal(got, upTo(1)) {
			t.Errorf("received %v", got)
		}
	})
}

func TestAGroupCanSeekBackInAnAdoptedLog(t *testing.T) {
	each(t, func(t *testing.T, major int) {
		from := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, from.Pool(t), "q", "lanes => 2, priorities => 2")
		from.Exec(t, "select weir.configure_log('main', retention => '1 day')")
		from.Exec(t, "select weir.send('q', to_jsonb(i), priority => i % 2) from generate_series(1, 10) i")
		if got := numbers(t, from); !slices.Equal(got, upTo(10)) {
			t.Fatalf("received %v", got)
		}
		to := moved(t, from, true)
		adopt(t, to, 1)
		if got := numbers(t, to); len(got) > 0 {
			t.Errorf("what was finished came again: %v", got)
		}
		to.Exec(t, "select weir.seek('q', 'default', 'start')")
		if got := numbers(t, to); !slices.Equal(got, upTo(10)) {
			t.Errorf("received %v after a seek", got)
		}
	})
}

// keys yields the ids of what was delivered.
func keys(all map[int64]delivered) func(yield func(int64) bool) {
	return func(yield func(int64) bool) {
		for id := range all {
			if !yield(id) {
				return
			}
		}
	}
}

func TestADatabaseMadeFromATemplateNeedsNothing(t *testing.T) {
	each(t, func(t *testing.T, major int) {
		s := cluster(t, major)
		db := s.NewDB(t, false)
		surface.CreateQueue(t, db.Pool(t), "q", "lanes => 1")
		db.Exec(t, "select weir.send('q', to_jsonb(i)) from generate_series(1, 3) i")
		db.Pool(t).Reset()
		name := db.Name + "_copy"
		conn, err := pgx.Connect(t.Context(), s.SocketDSN("postgres", "postgres"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing is left to say
		pgtest.WaitFor(t, "the copy", func() bool {
			_, err = conn.Exec(t.Context(), "create database "+name+" template "+db.Name)
			return surface.SQLState(err) != "55006" // somebody is still connected
		})
		if err != nil {
			t.Fatal(err)
		}
		copied, err := pgx.Connect(t.Context(), s.SocketDSN(pgtest.Owner, name))
		if err != nil {
			t.Fatal(err)
		}
		defer copied.Close(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing is left to say
		var n, received int
		err = copied.QueryRow(t.Context(), "select weir.adopt(), (select count(*) from weir.receive('q', max => 10))").
			Scan(&n, &received)
		if err != nil || n != 0 || received != 3 {
			t.Errorf("adopted %d queues and received %d messages: %v", n, received, err)
		}
	})
}
