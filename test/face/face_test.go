// Package face_test holds what the public message functions promise to whoever writes the obvious program.
package face_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) {
	pgtest.Main(m)
}

func each(t *testing.T, test func(t *testing.T, db *pgtest.DB)) {
	t.Parallel()
	surface.Each(t, "q", "", test)
}

func fails(t *testing.T, db *pgtest.DB, state, sql string, args ...any) {
	t.Helper()
	_, err := db.Pool(t).Exec(t.Context(), sql, args...)
	if surface.SQLState(err) != state {
		t.Errorf("%s: %v, want %s", sql, err, state)
	}
}

func want(t *testing.T, db *pgtest.DB, want int, sql string, args ...any) {
	t.Helper()
	if got := pgtest.QueryVal[int](t, db, sql, args...); got != want {
		t.Errorf("%s: %d, want %d", sql, got, want)
	}
}

// The obvious loop: for each message that receive returns one call, whichever it is. Each finishes what it names.
func TestALoopThatEndsEachMessageInItsOwnWayEndsExactlyThat(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select weir.configure_group('q', 'default', max_attempts => 50)")
		calls := []string{
			"weir.ack('q', $1, $2::bigint)", "weir.ack('q', $1, array[$2::bigint])",
			"weir.nack('q', $1, array[$2::bigint], delay => '0')", "weir.release('q', $1, array[$2::bigint])",
			"weir.reject('q', $1, array[$2::bigint], 'no')",
		}
		var acked, rejected, sent []int64
		for round := range 10 {
			for range 1 + rand.IntN(5) {
				sent = append(sent, pgtest.QueryAll[int64](t, db,
					"select weir.send_batch('q', array_fill('1'::jsonb, array[$1::int]), keys => case when $2 then $3::text[] end)",
					3, round%2 == 0, []string{"a", "b", "c"})...)
			}
			got, err := surface.Receive(t.Context(), db.Pool(t), "q", "default", 1+rand.IntN(20), "1 hour")
			if err != nil {
				t.Fatal(err)
			}
			rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
			for _, m := range got {
				i := rand.IntN(len(calls))
				want(t, db, 1, "select "+calls[i], m.ClaimID, m.ID)
				want(t, db, 0, "select "+calls[i], m.ClaimID, m.ID) // once more is no error
				if i < 2 {
					acked = append(acked, m.ID)
				} else if i == 4 {
					rejected = append(rejected, m.ID)
				}
			}
		}
		dead := pgtest.QueryAll[int64](t, db, "select id from weir.dead_letters('q') order by id")
		slices.Sort(rejected)
		if !slices.Equal(dead, rejected) {
			t.Errorf("dead letters %v, want %v", dead, rejected)
		}
		var left []int64
		for got := rest(t, db); len(got) > 0; got = rest(t, db) {
			left = append(left, got...)
		}
		all := slices.Concat(acked, rejected, left)
		slices.Sort(all)
		slices.Sort(sent)
		if !slices.Equal(all, sent) {
			t.Errorf("acked %v, rejected %v and left %v of %v", acked, rejected, left, sent)
		}
	})
}

func rest(t *testing.T, db *pgtest.DB) []int64 {
	t.Helper()
	return pgtest.QueryAll[int64](t, db, "select id from weir.pop('q', max => 100)")
}

func TestOneReceiveIsOneClaim(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select weir.send('q', '1', key => 'k' || i) from generate_series(1, 20) i")
		db.Exec(t, "select weir.send('q', '1') from generate_series(1, 20) i")
		want(t, db, 1, "select count(distinct claim_id) from weir.receive('q', max => 40)")
		claim := pgtest.QueryVal[int64](t, db, "select max(claim) from weir_log.claims_2")
		want(t, db, 40, "select weir.ack_all('q', $1)", claim)
		want(t, db, 0, "select weir.ack_all('q', $1)", claim)
	})
}

func TestWhatIsNotNamedIsNotFinished(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select weir.send_batch('q', array_fill('1'::jsonb, array[5]))")
		got, err := surface.Receive(t.Context(), db.Pool(t), "q", "default", 5, "1 hour")
		if err != nil || len(got) != 5 {
			t.Fatal(got, err)
		}
		claim := got[0].ClaimID
		for _, call := range []string{
			"ack('q', $1, null::bigint)", "ack('q', $1, null::bigint[])", "ack('q', $1, array[null]::bigint[])",
			"reject('q', $1, null)", "ack('q', $1, '{{1,2},{3,4}}'::bigint[])", "nack('q', $1, array[null]::bigint[])",
		} {
			fails(t, db, "WR006", "select weir."+call, claim)
		}
		fails(t, db, "WR006", "select weir.ack('q', null, $1::bigint)", got[0].ID)
		fails(t, db, "WR006", "select weir.ack_all('q', null)")
		fails(t, db, "WR011", "select weir.ack('q', $1, $2::bigint)", claim, got[4].ID+1)
		want(t, db, 0, "select weir.ack('q', $1, '{}'::bigint[])", claim)
		want(t, db, 2, "select weir.ack('q', $1, $2::bigint[])", claim, []int64{got[0].ID, got[1].ID})
		want(t, db, 3, "select weir.release('q', $1)", claim) // null: what is left
		want(t, db, 3, "select count(*) from weir.pop('q', max => 10)")
	})
}

func TestIdsOfTwoDimensionsAreRefused(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select weir.send_batch('q', array_fill('1'::jsonb, array[2]))")
		claim := pgtest.QueryVal[int64](t, db, "select max(claim_id) from weir.receive('q', max => 2)")
		for _, call := range []string{
			"ack('q', $1, '{{1}}'::bigint[])", "nack('q', $1, '{{1}}')", "release('q', $1, '{{1}}')",
			"snooze('q', $1, '{{1}}')", "reject('q', $1, '{{1}}')", "ack_and_receive('q', $1, '{{1}}')",
			"ack_many('q', array[[$1]], '{\"{(,)}\"}')", "ack_many('q', array[$1], '{{\"{(,)}\"}}')",
			"ack_many('q', array[$1], '{\"{(,)}\"}', '{{1}}')", "extend_many('q', array[[$1]], '{1h}')",
			"extend_many('q', array[$1], '{{1h}}')", "settle_many('q', '{{nack}}', array[$1], '{\"{(,)}\"}')",
			"settle_many('q', '{nack}', array[$1], '{\"{(,)}\"}', '{{1h}}')", "finish_many('q', array[[$1]], '{{1}}')",
			"finish_many('q', array[$1], '{{1}}')",
			"redrive('q', ids => '{{1}}')", "discard('q', ids => '{{1}}')", "get_many('q', '{{1}}')",
		} {
			sql := "select weir." + call
			var err error
			if strings.Contains(call, "$1") {
				_, err = db.Pool(t).Exec(t.Context(), strings.ReplaceAll(sql, "$1", "$1::bigint"), claim)
			} else {
				_, err = db.Pool(t).Exec(t.Context(), sql)
			}
			var refusal *pgconn.PgError
			if !errors.As(err, &refusal) || refusal.Code != "WR006" || refusal.Hint == "" {
				t.Errorf("%s: %v, want WR006 with a hint", call, err)
			}
		}
		want(t, db, 2, "select weir.ack_all('q', $1)", claim)
	})
}

func TestAckAndReceiveGoesOnWithTheNext(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		sent := pgtest.QueryAll[int64](t, db, "select weir.send_batch('q', array_fill('1'::jsonb, array[10]))")
		var claim *int64
		var ids, got []int64
		for range 5 {
			rows := pgtest.QueryAll[string](t, db,
				"select claim_id || ' ' || id from weir.ack_and_receive('q', $1, $2, max => 3)", claim, ids)
			ids, claim = nil, nil
			for _, row := range rows {
				var c, id int64
				if _, err := fmt.Sscan(row, &c, &id); err != nil {
					t.Fatal(err)
				}
				claim, ids = &c, append(ids, id)
			}
			got = append(got, ids...)
		}
		if !slices.Equal(got, sent) || claim != nil {
			t.Errorf("received %v, want %v", got, sent)
		}
		fails(t, db, "WR006", "select weir.ack_and_receive('q', 1, null)")
		fails(t, db, "WR009", "select weir.ack_and_receive('q', 1000000, '{1}')")
		want(t, db, 0, "select count(*) from weir_log.unfinished(1, 0, 1, 0, 'infinity', null)")
	})
}

func TestPopAndPeekAndRecords(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, `select weir.send_batch(
			'q', array['1', '{"a": 2}', 'null']::jsonb[], headers => array[null, '{"h": 1}', null]::jsonb[])`)
		peek := pgtest.QueryAll[string](t, db, "select id || ' ' || payload || ' ' || attempt from weir.peek('q')")
		if want := []string{"1000 1 0", `1001 {"a": 2} 0`, "1002 null 0"}; !slices.Equal(peek, want) {
			t.Errorf("peeked at %v, want %v", peek, want)
		}
		want(t, db, 2, "select count(*) from weir.peek('q', max => 2)")
		popped := pgtest.QueryAll[string](t, db, "select id || coalesce(headers::text, '') from weir.pop('q', max => 2)")
		if want := []string{"1000", `1001{"h": 1}`}; !slices.Equal(popped, want) {
			t.Errorf("popped %v, want %v", popped, want)
		}
		want(t, db, 1, "select n from weir.receive_records('q', max => 5)")
		want(t, db, 0, "select count(*) from weir.peek('q')")
		want(t, db, 0, "select count(*) from weir.pop('q')")
		fails(t, db, "WR006", "select weir.peek('q', max => 0)")
		fails(t, db, "WR003", "select weir.peek('q', 'none')")
		fails(t, db, "WR001", "select weir.pop('none')")
	})
}

// A lane that is split is shown whole.
func TestPeekShowsWhatStripesHaveLeft(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select weir.send('q', to_jsonb(i)) from generate_series(1, 200) i")
		want(t, db, 5, "select count(*) from weir.receive('q', max => 5)")
		db.Exec(t, `select weir_log.split_lane(q, g, 0) from weir_internal.queues q, weir_internal.groups g`)
		want(t, db, 7, "select count(*) from weir.receive('q', max => 7)")
		want(t, db, 188, "select count(*) from weir.peek('q', max => 1000)")
		want(t, db, 200, "select weir.purge('q')")
		want(t, db, 0, "select count(*) from weir.peek('q', max => 1000)")
		want(t, db, 0, "select count(*) from weir.receive('q', max => 7)")
		db.Exec(t, "select weir.send('q', '1')")
		want(t, db, 1, "select count(*) from weir.receive('q', max => 7)")
	})
}

func TestTopicsReachEachQueueOnce(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		for _, name := range []string{"audit", "bills", "orders"} {
			surface.CreateQueue(t, db.Pool(t), name, "")
		}
		for _, b := range [][2]string{
			{"orders.*.created", "orders"}, {"orders.#", "orders"}, {"#", "audit"}, {"#", "audit"}, {"bill", "bills"},
		} {
			db.Exec(t, "select weir.bind($1, $2)", b[0], b[1])
		}
		got := pgtest.QueryAll[string](t, db, `select queue_name || ' ' || repeated
			from weir.publish('orders.eu.created', '{"n": 1}', key => 'k', headers => '{"h": 2}')`)
		if !slices.Equal(got, []string{"audit false", "orders false"}) {
			t.Errorf("published to %v", got)
		}
		m, err := surface.Receive(t.Context(), db.Pool(t), "orders", "default", 9, "1 minute")
		if err != nil || len(m) != 1 || *m[0].Key != "k" || m[0].Payload != `{"n": 1}` || *m[0].Headers != `{"h": 2}` {
			t.Errorf("received %v, %v", m, err)
		}
		batch := pgtest.QueryAll[string](t, db, `select queue_name || ' ' || cardinality(ids) || ' ' || repeated::text
			from weir.publish_batch('bill', array['1', '2', '3']::jsonb[])`)
		if !slices.Equal(batch, []string{"audit 3 {f,f,f}", "bills 3 {f,f,f}"}) {
			t.Errorf("published a batch to %v", batch)
		}
		db.Exec(t, "select weir.unbind('#', 'audit')")
		if n := len(pgtest.QueryAll[int64](t, db, "select id from weir.publish('nobody.listens', '1')")); n != 0 {
			t.Errorf("published to %d queues without a binding", n)
		}
		want(t, db, 4, "select count(*) from weir.peek('audit')")
		db.Exec(t, "select weir.drop_queue('orders')")
		left := pgtest.QueryAll[string](t, db, "select pattern || ' ' || queue_name from weir.list_bindings()")
		if !slices.Equal(left, []string{"bill bills"}) {
			t.Errorf("bindings left: %v", left)
		}
	})
}

func TestPublishReachesAllOrNone(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		for _, name := range []string{"a", "b"} {
			surface.CreateQueue(t, db.Pool(t), name, "")
			db.Exec(t, "select weir.bind('t', $1)", name)
		}
		role := db.Role(t)
		db.Exec(t, "select weir.grant_produce('a', $1)", role)
		conn := db.As(t, role)
		_, err := conn.Exec(t.Context(), "select weir.publish('t', '1')")
		surface.WantState(t, err, "42501")
		if !strings.Contains(err.Error(), `"b"`) {
			t.Errorf("the error does not name the queue: %v", err)
		}
		want(t, db, 0, "select count(*) from weir.peek('a')")
		db.Exec(t, "select weir.grant_produce('b', $1)", role)
		if _, err = conn.Exec(t.Context(), "select weir.publish('t', '1')"); err != nil {
			t.Errorf("publish with both rights: %v", err)
		}
		want(t, db, 1, "select count(*) from weir.peek('a')")
		want(t, db, 1, "select count(*) from weir.peek('b')")
	})
}

func TestTokens(t *testing.T) {
	each(t, func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select weir.create_token('narrow', sha256('two'), queues => '{orders.*}', verbs => '{read}')")
		fails(t, db, "WR043", "select weir.create_token('narrow', sha256('one'))")
		fails(t, db, "WR006", "select weir.create_token('t', 'short')")
		fails(t, db, "WR044", "select weir.revoke_token('missing')")
		want(t, db, 1, "select count(*) from weir.find_token(sha256('two'))")
		want(t, db, 1, "select count(*) from weir.list_tokens()")
		db.Exec(t, "select weir.revoke_token('narrow')")
		want(t, db, 0, "select count(*) from weir.find_token(sha256('two'))")
	})
}
