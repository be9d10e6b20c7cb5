// Package topics_test holds what publish promises: each queue with a binding that matches gets the message exactly
// once, all of them or none.
package topics_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// matches says what a pattern means, word by word.
func matches(pattern, topic []string) bool {
	switch {
	case len(pattern) == 0:
		return len(topic) == 0
	case pattern[0] == "#":
		return matches(pattern[1:], topic) || len(topic) > 0 && matches(pattern, topic[1:])
	case len(topic) == 0:
		return false
	}
	return (pattern[0] == "*" || pattern[0] == topic[0]) && matches(pattern[1:], topic[1:])
}

// sentences returns every sequence of one to n of the words, joined by dots.
func sentences(n int, words ...string) []string {
	all := slices.Clone(words)
	for last := words; n > 1; n-- {
		var longer []string
		for _, s := range last {
			for _, w := range words {
				longer = append(longer, s+"."+w)
			}
		}
		all = append(all, longer...)
		last = longer
	}
	return all
}

func TestEveryPatternMatchesWhatItMeans(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), "q", "lanes => 1")
		topics := sentences(4, "a_b", "axb")
		for _, pattern := range sentences(4, "a_b", "*", "#") {
			var want []string
			for _, topic := range topics {
				if matches(strings.Split(pattern, "."), strings.Split(topic, ".")) {
					want = append(want, topic)
				}
			}
			db.Exec(t, "select weir.bind($1, 'q')", pattern)
			got := pgtest.QueryAll[string](t, db,
				`select u from unnest($1::text[]) with ordinality as t (u, i)
				 where 'q' in (select weir.route(u)) order by i`, topics)
			if !slices.Equal(got, want) {
				t.Errorf("%s matches %v, want %v", pattern, got, want)
			}
			db.Exec(t, "select weir.unbind($1, 'q')", pattern)
		}
	})
}

// queues makes queues and returns how many messages each of them holds.
func queues(t *testing.T, db *pgtest.DB, names ...string) func() string {
	t.Helper()
	for _, name := range names {
		surface.CreateQueue(t, db.Pool(t), name, "lanes => 1")
	}
	return func() string {
		return strings.Join(pgtest.QueryAll[string](t, db,
			"select queue_name || ' ' || waiting + delayed from weir.stats() order by queue_name"), ", ")
	}
}

func TestEachQueueGetsAMessageOnce(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		holds := queues(t, db, "audit", "bills", "orders")
		for _, b := range [][2]string{
			{"orders.*.created", "orders"}, {"orders.#", "orders"}, {"#", "audit"}, {"#", "audit"}, {"bill", "bills"},
		} {
			db.Exec(t, "select weir.bind($1, $2)", b[0], b[1])
		}
		got := pgtest.QueryAll[string](t, db, `select queue_name || ' ' || id
			from weir.publish('orders.eu.created', '{"n": 1}', key => 'k', headers => '{"h": 2}')`)
		if !slices.Equal(got, []string{"audit 1000", "orders 2000"}) {
			t.Errorf("published to %v", got)
		}
		m, err := surface.Receive(t.Context(), db.Pool(t), "orders", "default", 9, "1 minute")
		if err != nil || len(m) != 1 || *m[0].Key != "k" || m[0].Payload != `{"n": 1}` || *m[0].Headers != `{"h": 2}` {
			t.Errorf("received %v, %v", m, err)
		}
		db.Exec(t, "select weir.publish('bill', '1', delay => '1 hour')")
		db.Exec(t, "select weir.unbind('#', 'audit')")
		if n := len(pgtest.QueryAll[int64](t, db, "select id from weir.publish('nobody.listens', '1')")); n != 0 {
			t.Errorf("published to %d queues without a binding", n)
		}
		if got := holds(); got != "audit 2, bills 1, orders 0" {
			t.Errorf("the queues hold %s", got)
		}
		db.Exec(t, "select weir.drop_queue('orders')")
		left := pgtest.QueryAll[string](t, db, "select pattern || ' ' || queue_name from weir.list_bindings()")
		if !slices.Equal(left, []string{"bill bills"}) {
			t.Errorf("bindings left: %v", left)
		}
	})
}

func TestPublishReachesAllOrNone(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		holds := queues(t, db, "a", "b", "small")
		db.Exec(t, "select weir.bind('t', q) from unnest(array['a', 'b']) q")
		role := db.Role(t)
		db.Exec(t, "select weir.grant_produce('a', $1)", role)
		conn := db.As(t, role)
		_, err := conn.Exec(t.Context(), "select weir.publish('t', '1')")
		surface.WantState(t, err, "42501")
		if !strings.Contains(err.Error(), `queue "b": send`) {
			t.Errorf("the error does not name the queue: %v", err)
		}
		db.Exec(t, "select weir.grant_produce('b', $1)", role)
		if _, err = conn.Exec(t.Context(), "select weir.publish('t', '1')"); err != nil {
			t.Errorf("publish with both rights: %v", err)
		}
		db.Exec(t, "select weir.configure_queue('small', message_bytes_max => 1024)")
		db.Exec(t, "select weir.bind('t', 'small')")
		_, err = db.Pool(t).Exec(t.Context(), "select weir.publish('t', to_jsonb(repeat('x', 5000)))")
		surface.WantState(t, err, "WR008")
		if err := pgx.BeginFunc(t.Context(), db.Conn(t), func(tx pgx.Tx) error {
			if _, err := tx.Exec(t.Context(), "select weir.publish('t', '1')"); err != nil {
				t.Errorf("publish: %v", err)
			}
			return pgx.ErrTxClosed // roll back
		}); err == nil {
			t.Error("did not roll back")
		}
		if got := holds(); got != "a 1, b 1, small 0" {
			t.Errorf("the queues hold %s", got)
		}
	})
}

func TestTopicsAndPatternsAreChecked(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), "q", "lanes => 1")
		both := []any{
			"", ".", "a.", ".a", "a..b", "a b", "a'b", "ä", `a\.b`, "a.b*", "##", "(a)", "a\n", strings.Repeat("a", 256), nil,
		}
		for _, word := range both {
			_, err := db.Pool(t).Exec(t.Context(), "select weir.bind($1, 'q')", word)
			surface.WantState(t, err, "WR005")
			_, err = db.Pool(t).Exec(t.Context(), "select weir.unbind($1, 'q')", word)
			surface.WantState(t, err, "WR005")
		}
		for _, word := range append(both, "*", "a.#") {
			_, err := db.Pool(t).Exec(t.Context(), "select weir.publish($1, '1')", word)
			surface.WantState(t, err, "WR005")
			_, err = db.Pool(t).Exec(t.Context(), "select weir.route($1)", word)
			surface.WantState(t, err, "WR005")
		}
		for _, call := range []string{"bind('a', 'none')", "unbind('a', 'none')", "bind('a', null)"} {
			_, err := db.Pool(t).Exec(t.Context(), "select weir."+call)
			surface.WantState(t, err, "WR001")
		}
		if pgtest.QueryVal[bool](t, db, "select weir.unbind('a', 'q')") {
			t.Error("unbound what was not bound")
		}
	})
}

// TestManyBindingsCostOnlyThoseThatMayMatch counts buffers, because time says little on a busy machine.
func TestManyBindingsCostOnlyThoseThatMayMatch(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), "q", "lanes => 1")
		db.Exec(t, "select weir.bind('shop7.*.created', 'q'), weir.bind('#.created', 'q')")
		conn := db.Conn(t)
		cost := func() int {
			n := 0
			for range 10 { // the first ones read the catalogue
				n = surface.Buffers(t, conn, "select weir.route('shop7.eu.created')")
			}
			return n
		}
		few := cost()
		db.Exec(t, "select weir.bind(format('shop%s.*.created', i), 'q') from generate_series(1, 3000) i")
		db.Exec(t, "select weir.bind(format('shop%s.eu.changed', i), 'q') from generate_series(1, 2000) i")
		if many := cost(); many > few+20 {
			t.Errorf("a topic's route touches %d buffers with 5,000 bindings, %d with two", many, few)
		} else {
			t.Logf("%d buffers with two bindings, %d with 5,000", few, many)
		}
	})
}

func TestABatchIsPublishedToEachQueueWholeAndInOrderOrToNone(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		holds := queues(t, db, "a", "b", "small")
		db.Exec(t, "select weir.bind('t', q) from unnest(array['a', 'b']) q")
		publish := func(more string) []string {
			return pgtest.QueryAll[string](t, db, `select format('%s %s %s', queue_name, ids, repeated)
				from weir.publish_batch('t', array['1', '2', '3']::jsonb[]`+more+`) order by 1`)
		}
		if got := publish(""); !slices.Equal(got, []string{"a {1000,1001,1002} {f,f,f}", "b {2000,2001,2002} {f,f,f}"}) {
			t.Errorf("published %v", got)
		}
		db.Exec(t, "select weir.send('a', '0', dedup_key => 'y')")
		if got := publish(", dedup_keys => array[null, 'y', 'z']"); !slices.Equal(got,
			[]string{"a {4000,3000,4002} {f,t,f}", "b {5000,5001,5002} {f,f,f}"}) {
			t.Errorf("published once %v", got)
		}
		for _, queue := range []string{"a", "b"} {
			got := pgtest.QueryAll[string](t, db, `select coalesce(key, '-') || payload || coalesce(headers::text, '')
				from weir.receive($1, max => 100) order by id`, queue)
			want := []string{"-1", "-2", "-3", "-1", "-2", "-3"}
			if queue == "a" {
				want = []string{"-1", "-2", "-3", "-0", "-1", "-3"}
			}
			if !slices.Equal(got, want) {
				t.Errorf("queue %s was sent %v", queue, got)
			}
		}
		publish(`, keys => array['k', null, 'l'], headers => array[null, '{"h": 1}', null]::jsonb[], delay => '1 second'`)
		if got := pgtest.QueryAll[string](t, db, `select coalesce(key, '-') || payload || coalesce(headers::text, '')
			from weir.get_many('b', '{7000,7001,7002}')`); !slices.Equal(got, []string{"k1", `-2{"h": 1}`, "l3"}) {
			t.Errorf("published with keys and headers %v", got)
		}
		before := holds()
		db.Exec(t, "select weir.configure_queue('small', message_bytes_max => 1024)")
		db.Exec(t, "select weir.bind('t', 'small')")
		for sql, state := range map[string]string{
			"select weir.publish_batch('t', array['1', to_jsonb(repeat('x', 5000))])": "WR008",
			"select weir.publish_batch('t', array['1', null]::jsonb[])":               "WR007",
			"select weir.publish_batch('t..t', array['1']::jsonb[])":                  "WR005",
		} {
			_, err := db.Pool(t).Exec(t.Context(), sql)
			surface.WantState(t, err, state)
		}
		if after := holds(); after != before {
			t.Errorf("the queues hold %s, and %s before", after, before)
		}
	})
}
