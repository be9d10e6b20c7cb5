// Package get_test holds that one message is found wherever in the queue it is, and that looking changes nothing.
package get_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const queue = "jobs"

// bench is one test's database with a queue and a clock to move.
type bench struct {
	*testing.T
	db    *pgtest.DB
	clock *surface.Clock
}

func each(t *testing.T, options string, test func(b bench)) {
	t.Parallel()
	surface.Each(t, queue, options, func(t *testing.T, db *pgtest.DB) {
		test(bench{t, db, surface.MovableClock(t, db)})
	})
}

func (b bench) send(payload string, key, delay *string) int64 {
	b.Helper()
	id, err := surface.Send(b.Context(), b.db.Pool(b), queue, payload, key, nil, delay)
	if err != nil {
		b.Fatal(err)
	}
	return id
}

// smallSegments has the log open a new segment often.
func (b bench) smallSegments() {
	b.Helper()
	b.db.Exec(b, "select weir.configure_log('main', segment_bytes => 65536)")
}

func (b bench) receive(group string, batchMax int) []surface.Message {
	b.Helper()
	got, err := surface.Receive(b.Context(), b.db.Pool(b), queue, group, batchMax, "1 minute")
	if err != nil || len(got) == 0 {
		b.Fatalf("received %v, %v", got, err)
	}
	return got
}

// want compares the payload and the states of a message; "" = it is not there.
func (b bench) want(id int64, want string) {
	b.Helper()
	got := pgtest.QueryVal[string](b, b.db,
		"select coalesce((select left(payload::text, 30) || ' ' || states from weir.get($1, $2)), '')", queue, id)
	if got != want {
		b.Errorf("message %d: %s, want %s", id, got, want)
	}
}

func TestGetFollowsAMessageThroughItsLife(t *testing.T) {
	each(t, "", func(b bench) {
		b.db.Exec(b, "select weir.create_group($1, 'other')", queue)
		id := b.send("7", surface.Text("k"), nil)
		b.want(id, `7 {"other": "waiting", "default": "waiting"}`)
		claim := b.receive("default", 1)[0].ClaimID
		b.want(id, `7 {"other": "waiting", "default": "claimed"}`)
		b.db.Exec(b, "select weir.nack($1, $2, delay => '1 minute')", queue, claim)
		b.want(id, `7 {"other": "waiting", "default": "delayed"}`)
		b.clock.Advance(b, time.Hour)
		claim = b.receive("default", 1)[0].ClaimID
		b.want(id, `7 {"other": "waiting", "default": "claimed"}`)
		b.db.Exec(b, "select weir.reject($1, $2, array[$3::bigint])", queue, claim, id)
		b.want(id, `7 {"other": "waiting", "default": "dead"}`)
		b.db.Exec(b, "select weir.redrive($1, 'default')", queue)
		claim = b.receive("default", 1)[0].ClaimID
		b.want(id, `7 {"other": "waiting", "default": "claimed"}`)
		b.db.Exec(b, "select weir.ack_all($1, $2)", queue, claim)
		b.want(id, `7 {"other": "waiting", "default": "done"}`)
		b.db.Exec(b, "select weir.pop($1, 'other')", queue)
		b.want(id, `7 {"other": "done", "default": "done"}`)
		b.want(id+1, "")
		b.want(-1, "")
	})
}

func TestGetShowsWhatAGroupHoldsThoughItIsTooOldForIt(t *testing.T) {
	each(t, "ttl => '10 minutes'", func(b bench) {
		b.db.Exec(b, "select weir.create_group($1, 'other')", queue)
		id := b.send("7", nil, nil)
		claim := b.receive("default", 1)[0].ClaimID
		b.db.Exec(b, "select weir.extend($1, $2, '1 hour')", queue, claim)
		b.clock.Advance(b, 11*time.Minute)
		b.want(id, `7 {"default": "claimed"}`)
		b.db.Exec(b, "select weir.reject($1, $2, array[$3::bigint])", queue, claim, id)
		b.want(id, `7 {"default": "dead"}`)
	})
}

func TestGetFindsEachMessageOfABatch(t *testing.T) {
	each(t, "", func(b bench) {
		const batch = `select weir.send_batch($1, (select array_agg(to_jsonb(i)) from generate_series($2::int, $3::int) i),
			case when $4 then array(select (i % 7)::text from generate_series($2::int, $3::int) i) end)`
		ids := pgtest.QueryAll[int64](b, b.db, batch, queue, 1, 30, false)
		ids = append(ids, pgtest.QueryAll[int64](b, b.db, batch, queue, 31, 60, true)...)
		for i, id := range ids {
			b.want(id, fmt.Sprintf(`%d {"default": "waiting"}`, i+1))
		}
		claimed := map[int64]int64{}
		for _, m := range b.receive("default", 17) { // a part of a record
			claimed[m.ID] = m.ClaimID
		}
		for i, id := range ids {
			state := map[bool]string{true: "claimed", false: "waiting"}[claimed[id] > 0]
			b.want(id, fmt.Sprintf(`%d {"default": %q}`, i+1, state))
		}
		for id, claim := range claimed {
			b.db.Exec(b, "select weir.ack($1, $2, $3::bigint)", queue, claim, id)
		}
		for i, id := range ids {
			state := map[bool]string{true: "done", false: "waiting"}[claimed[id] > 0]
			b.want(id, fmt.Sprintf(`%d {"default": %q}`, i+1, state))
		}
		b.want(ids[29]+1, "")
		b.want(ids[30]-1, "")
	})
}

// A batch of more than a thousand takes several numbers; with keys each of its records has ids of all of them.
func TestGetFindsEachMessageOfALargeBatchWithKeys(t *testing.T) {
	each(t, "", func(b bench) {
		ids := pgtest.QueryAll[int64](b, b.db, `select weir.send_batch($1, array_agg(to_jsonb(i)), array_agg((i % 7)::text))
			from generate_series(1, 3000) i`, queue)
		for i := 0; i < len(ids); i += 499 {
			b.want(ids[i], fmt.Sprintf(`%d {"default": "waiting"}`, i+1))
		}
	})
}

func TestGetShowsDelayedAndParkedMessages(t *testing.T) {
	each(t, "", func(b bench) {
		b.db.Exec(b, "select weir.create_group($1, 'ordered', ordered => true)", queue)
		first := b.send("1", surface.Text("k"), nil)
		second := b.send("2", surface.Text("k"), nil)
		claim := b.receive("ordered", 2)[0].ClaimID
		b.db.Exec(b, "select weir.nack($1, $2, delay => '1 hour')", queue, claim)
		b.want(first, `1 {"default": "waiting", "ordered": "parked"}`)
		b.want(second, `2 {"default": "waiting", "ordered": "parked"}`)
		later := b.send("3", nil, surface.Text("1 day"))
		b.want(later, `3 {"default": "delayed", "ordered": "delayed"}`)
		b.db.Exec(b, "select weir.create_group($1, 'late', start => $2)", queue,
			pgtest.QueryVal[string](b, b.db, "select clock_timestamp()::text"))
		b.want(later, `3 {"default": "delayed", "ordered": "delayed"}`) // sent before the group's time
	})
}

func TestGetFindsWhatRotationHasMoved(t *testing.T) {
	each(t, "", func(b bench) {
		b.smallSegments()
		id := b.send("1", nil, nil)
		held := b.receive("default", 1)[0].ClaimID
		waiting := b.send("2", surface.Text("k"), nil)
		b.db.Exec(b, "select weir.create_queue('busy')")
		for range 10 {
			b.db.Exec(b, "select weir.send('busy', to_jsonb(array(select random() from generate_series(1, 5000))))")
			b.db.Exec(b, "select weir.pop('busy')")
			surface.Settle(b, b.db.Pool(b))
		}
		if n := pgtest.QueryVal[int](b, b.db, "select count(*) from weir_log.rest"); n != 2 {
			b.Fatalf("rotation has moved %d records: the test proves nothing", n)
		}
		b.want(id, `1 {"default": "claimed"}`)
		b.want(waiting, `2 {"default": "waiting"}`)
		b.db.Exec(b, "select weir.ack_all($1, $2)", queue, held)
		b.want(id, `1 {"default": "done"}`)
	})
}

func TestGetFindsNothingOnceTheSegmentIsTruncated(t *testing.T) {
	each(t, "", func(b bench) {
		b.smallSegments()
		id := b.send("1", nil, nil)
		for range 6 {
			b.db.Exec(b, "select weir.send($1, to_jsonb(array(select random() from generate_series(1, 5000))))", queue)
			b.db.Exec(b, "select weir.pop($1, max => 10)", queue)
			surface.Settle(b, b.db.Pool(b))
		}
		b.want(id, "")
	})
}

func TestGetChangesNothing(t *testing.T) {
	each(t, "", func(b bench) {
		id := b.send("1", nil, nil)
		conn := b.db.Conn(b)
		for _, sql := range []string{
			"begin", "set transaction read only", fmt.Sprintf("select * from weir.get('jobs', %d)", id),
		} {
			if _, err := conn.Exec(b.Context(), sql); err != nil {
				b.Fatalf("%s: %v", sql, err)
			}
		}
		if m := b.receive("default", 1)[0]; m.ID != id || m.Attempt != 1 {
			b.Errorf("received %s", m)
		}
	})
}

func TestGetRefuses(t *testing.T) {
	each(t, "", func(b bench) {
		for state, sql := range map[string]string{
			"WR001": "select weir.get('none', 1)",
			"WR006": "select weir.get('jobs', null)",
			"WR012": "begin isolation level repeatable read; select weir.get('jobs', 1); commit",
		} {
			conn := b.db.Conn(b)
			_, err := conn.PgConn().Exec(b.Context(), sql).ReadAll()
			surface.WantState(b, err, state)
		}
	})
}

func TestGetOfManyShowsThoseThatAreThereInTheOrderAsked(t *testing.T) {
	each(t, "", func(b bench) {
		var ids []int64
		for i := range 6 {
			ids = append(ids, b.send(surface.Number(i), surface.Text(surface.Number(i)), nil))
		}
		batch, err := surface.SendBatch(b.Context(), b.db.Pool(b), queue, []string{"6", "7", "8"}, nil, nil, nil)
		if err != nil {
			b.Fatal(err)
		}
		ids = append(ids, batch...)
		ids = append(ids, b.send("9", nil, surface.Text("1 hour")))
		b.db.Exec(b, "select weir.reject($1, claim_id, array[id]) from weir.receive($1, 'default', 1)", queue)
		b.db.Exec(b, "select weir.nack($1, claim_id, delay => '1 hour') from weir.receive($1, 'default', 1)", queue)
		b.receive("default", 1)
		asked := []int64{ids[9], 1 << 40, ids[7], ids[0], ids[8], 0, ids[3], ids[1], ids[2], -5, 1<<63 - 1}
		got := pgtest.QueryAll[string](b, b.db,
			"select id || ' ' || payload || ' ' || states from weir.get_many($1, $2)", queue, asked)
		one := pgtest.QueryAll[string](b, b.db, `select g.id || ' ' || g.payload || ' ' || g.states
			from unnest($2::bigint[]) with ordinality u (id, i) cross join lateral weir.get($1, u.id) g order by u.i`,
			queue, asked)
		if len(got) != 7 || fmt.Sprint(got) != fmt.Sprint(one) {
			b.Errorf("together:\n%v\none by one:\n%v", got, one)
		}
		for _, states := range []string{"waiting", "claimed", "delayed", "dead"} {
			if n := pgtest.QueryVal[int](b, b.db,
				"select count(*)::int from weir.get_many($1, $2) where states ->> 'default' = $3", queue, ids, states); n == 0 {
				b.Errorf("none of the messages is %s", states)
			}
		}
	})
}

func TestGetOfManyRefusesMoreThanAThousandAndNone(t *testing.T) {
	each(t, "", func(b bench) {
		for _, ids := range []string{
			"'{}'", "null", "array[1, null]", "array(select generate_series(1, 1001))", "'{{1,2},{3,4}}'",
		} {
			_, err := b.db.Pool(b).Exec(b.Context(), "select weir.get_many('jobs', "+ids+"::bigint[])")
			surface.WantState(b, err, "WR006")
		}
		_, err := b.db.Pool(b).Exec(b.Context(), "select weir.get_many('nowhere', '{1}')")
		surface.WantState(b, err, "WR001")
	})
}

// wantDetails compares what get tells of a group besides the state; times are told as minutes from now.
func (b bench) wantDetails(id int64, group, want string) {
	b.Helper()
	got := pgtest.QueryVal[string](b, b.db, `select (states ->> $3) || coalesce((
			select string_agg(format(' %s %s', key, case when key in ('since', 'until')
				then round(extract(epoch from value::timestamptz - weir_internal.clock()) / 60)::text else value end),
				'' order by key)
			from jsonb_each_text(details -> $3) where key <> 'pid'), '')
		from weir.get($1, $2)`, queue, id, group)
	if got != want {
		b.Errorf("message %d: %s, want %s", id, got, want)
	}
}

func TestGetTellsWhoHasAMessageWhenItIsDueAndWhy(t *testing.T) {
	each(t, "", func(b bench) {
		b.db.Exec(b, "select weir.configure_group($1, 'default', max_attempts => 3)", queue)
		b.db.Exec(b, "select weir.create_group($1, 'ordered', ordered => true)", queue)
		id := b.send("1", surface.Text("k"), nil)
		next := b.send("2", surface.Text("k"), nil)
		b.wantDetails(id, "default", "waiting")
		claim := b.receive("default", 1)[0].ClaimID
		b.wantDetails(id, "default", fmt.Sprintf("claimed attempts 1 claim_id %d since 0 until 1", claim))
		b.clock.Advance(b, 2*time.Minute)
		b.wantDetails(id, "default", fmt.Sprintf("waiting attempts 1 claim_id %d since -2 until -1", claim))
		claim = b.receive("default", 1)[0].ClaimID
		b.wantDetails(id, "default", fmt.Sprintf("claimed attempts 2 claim_id %d since 0 until 1", claim))
		b.db.Exec(b, "select weir.nack($1, $2, delay => '10 minutes', reason => 'no flour')", queue, claim)
		b.wantDetails(id, "default", "delayed attempts 2 reason no flour until 10")
		b.clock.Advance(b, 20*time.Minute)
		b.wantDetails(id, "default", "waiting attempts 2 reason no flour until -10")
		for {
			if m := b.receive("default", 1)[0]; m.ID == id {
				claim = m.ClaimID
				break
			}
		}
		b.wantDetails(id, "default", fmt.Sprintf("claimed attempts 3 claim_id %d since 0 until 1", claim))
		b.db.Exec(b, "select weir.nack($1, $2, reason => 'still none')", queue, claim)
		b.wantDetails(id, "default", "dead attempts 3 reason still none since 0")
		claim = b.receive("ordered", 2)[0].ClaimID
		b.db.Exec(b, "select weir.nack($1, $2, array[$3::bigint], '10 minutes', 'ill')", queue, claim, id)
		b.wantDetails(id, "ordered", "parked attempts 1 reason ill since 0 until 10")
		b.wantDetails(next, "ordered", fmt.Sprintf("parked behind %d since 0", id))
		b.clock.Advance(b, 20*time.Minute)
		claim = b.receive("ordered", 1)[0].ClaimID
		b.wantDetails(id, "ordered", fmt.Sprintf("claimed attempts 2 claim_id %d since 0 until 1", claim))
		b.db.Exec(b, "select weir.ack_all($1, $2)", queue, claim)
		b.wantDetails(id, "ordered", "done")
	})
}

func TestGetReadsNothingOfOtherQueues(t *testing.T) {
	each(t, "", func(b bench) {
		id := b.send("1", surface.Text("k"), nil)
		b.receive("default", 1)
		conn := b.db.Conn(b)
		cost := func() int {
			const get = "select * from weir.get($1, $2)"
			for range 10 { // the first ones read the catalogue
				surface.Buffers(b, conn, get, queue, id)
			}
			return surface.Buffers(b, conn, get, queue, id)
		}
		before := cost()
		b.db.Exec(b, "select weir.create_queue('busy')")
		b.db.Exec(b, "select count(weir.send('busy', '1', key => i::text)) from generate_series(1, 20000) i")
		b.db.Exec(b, "select count(weir.send('busy', '1', delay => '1 hour')) from generate_series(1, 5000)")
		b.db.Exec(b, "select count(m) from generate_series(1, 50), weir.receive('busy', max => 100) m")
		if after := cost(); after > before+100 {
			b.Errorf("a get read %d buffers, and %d when another queue had 25,000 messages", before, after)
		}
	})
}
