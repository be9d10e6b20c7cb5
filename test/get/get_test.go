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
	each(t, "lanes => 1", func(b bench) {
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
		b.db.Exec(b, "select weir.reject($1, $2)", queue, claim)
		b.want(id, `7 {"other": "waiting", "default": "dead"}`)
		b.db.Exec(b, "select weir.redrive($1, 'default')", queue)
		claim = b.receive("default", 1)[0].ClaimID
		b.want(id, `7 {"other": "waiting", "default": "claimed"}`)
		b.db.Exec(b, "select weir.ack($1, $2)", queue, claim)
		b.want(id, `7 {"other": "waiting", "default": "done"}`)
		b.db.Exec(b, "select weir.pop($1, 'other')", queue)
		b.want(id, `7 {"other": "done", "default": "done"}`)
		b.want(id+1, "")
		b.want(-1, "")
	})
}

func TestGetShowsWhatAGroupHoldsThoughItIsTooOldForIt(t *testing.T) {
	each(t, "lanes => 1, ttl => '10 minutes'", func(b bench) {
		b.db.Exec(b, "select weir.create_group($1, 'other')", queue)
		id := b.send("7", nil, nil)
		claim := b.receive("default", 1)[0].ClaimID
		b.db.Exec(b, "select weir.extend($1, $2, '1 hour')", queue, claim)
		b.clock.Advance(b, 11*time.Minute)
		b.want(id, `7 {"default": "claimed"}`)
		b.db.Exec(b, "select weir.reject($1, $2)", queue, claim)
		b.want(id, `7 {"default": "dead"}`)
	})
}

func TestGetFindsEachMessageOfABatch(t *testing.T) {
	each(t, "lanes => 3", func(b bench) {
		b.db.Exec(b, "select weir.send_batch($1, (select array_agg(to_jsonb(i)) from generate_series(1, 30) i))", queue)
		b.db.Exec(b, "select weir.send_batch($1, array_agg(to_jsonb(i)), array_agg((i % 7)::text)) "+
			"from generate_series(31, 60) i", queue)
		for id := int64(1); id <= 60; id++ {
			b.want(id, fmt.Sprintf(`%d {"default": "waiting"}`, id))
		}
		claimed := map[int64]int64{}
		for _, m := range b.receive("default", 17) { // a part of a record
			claimed[m.ID] = m.ClaimID
		}
		for id := int64(1); id <= 60; id++ {
			state := map[bool]string{true: "claimed", false: "waiting"}[claimed[id] > 0]
			b.want(id, fmt.Sprintf(`%d {"default": %q}`, id, state))
		}
		for id, claim := range claimed {
			b.db.Exec(b, "select weir.ack($1, $2, $3)", queue, claim, []int64{id})
		}
		for id := int64(1); id <= 60; id++ {
			state := map[bool]string{true: "done", false: "waiting"}[claimed[id] > 0]
			b.want(id, fmt.Sprintf(`%d {"default": %q}`, id, state))
		}
	})
}

func TestGetShowsDelayedAndParkedMessages(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
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

func TestGetFindsWhatRotationHasCopied(t *testing.T) {
	each(t, "lanes => 1, segment_bytes => 65536", func(b bench) {
		id := b.send("1", nil, nil)
		held := b.receive("default", 1)[0].ClaimID
		copied := func() bool { // the last lane is for copies
			return pgtest.QueryVal[bool](b, b.db, `select exists (select from weir_internal.q1_log_0 where lane = 1
				union all select from weir_internal.q1_log_1 where lane = 1
				union all select from weir_internal.q1_log_2 where lane = 1)`)
		}
		for range 10 {
			b.db.Exec(b, "select weir.send($1, to_jsonb(array(select random() from generate_series(1, 5000))))", queue)
			b.receive("default", 1)
			surface.Settle(b, b.db.Pool(b))
		}
		if !copied() {
			b.Fatal("rotation has copied nothing: the test proves nothing")
		}
		b.want(id, `1 {"default": "claimed"}`)
		b.db.Exec(b, "select weir.ack($1, $2)", queue, held)
		b.want(id, `1 {"default": "done"}`)
	})
}

func TestGetFindsNothingOnceTheSegmentIsTruncated(t *testing.T) {
	each(t, "lanes => 1, segment_bytes => 65536", func(b bench) {
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
	each(t, "lanes => 1", func(b bench) {
		id := b.send("1", nil, nil)
		conn := b.db.Conn(b)
		for _, sql := range []string{"begin", "set transaction read only", "select * from weir.get('jobs', 1)"} {
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
	each(t, "lanes => 1", func(b bench) {
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
	each(t, "lanes => 4", func(b bench) {
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
		b.db.Exec(b, "select weir.reject($1, claim_id) from weir.receive($1, 'default', 1)", queue)
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
	each(t, "lanes => 1", func(b bench) {
		for _, ids := range []string{"'{}'", "null", "array[1, null]", "array(select generate_series(1, 1001))"} {
			_, err := b.db.Pool(b).Exec(b.Context(), "select weir.get_many('jobs', "+ids+"::bigint[])")
			surface.WantState(b, err, "WR006")
		}
		_, err := b.db.Pool(b).Exec(b.Context(), "select weir.get_many('nowhere', '{1}')")
		surface.WantState(b, err, "WR001")
	})
}
