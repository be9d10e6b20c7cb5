package plans_test

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// TestWhatJoinsParkedLinesIsLookedUpByHash looks at the plans of divert: each message of a record compared with each
// parked line took 17 seconds for 8,000 of each.
func TestWhatJoinsParkedLinesIsLookedUpByHash(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), queue, "lanes => 1")
		db.Exec(t, "select weir.create_group($1, 'ordered', ordered => true)", queue)
		send := func() {
			db.Exec(t, `select count(*) from weir.send_batch($1, array_fill('1'::jsonb, array[200]),
				array(select 'k' || i from generate_series(1, 200) i))`, queue)
		}
		send()
		db.Exec(t, `select weir.nack($1, c, delay => '1 hour') from (
			select distinct claim_id as c from weir.receive($1, 'ordered', max => 200)) r`, queue)
		send()
		e := explain(t, db)
		if _, err := e.Exec(t.Context(), "set auto_explain.log_verbose = on"); err != nil {
			t.Fatal(err)
		}
		got, err := surface.Receive(t.Context(), e, queue, "ordered", 200, "1 minute")
		if err != nil || len(got) != 0 {
			t.Fatalf("received %v, %v", got, err)
		}
		found := 0
		for _, plan := range e.plans {
			text, tree, _ := strings.Cut(plan, "\n")
			if !strings.Contains(text+tree, "p_lines") {
				continue
			}
			found++
			if !strings.Contains(tree, "hashed SubPlan") || strings.Contains(tree, "&&") {
				t.Errorf("lines are not looked up by a hash:\n%s", plan)
			}
		}
		if found == 0 {
			t.Fatalf("no plan of divert among %d: the test sees nothing", len(e.plans))
		}
	})
}

// TestWhatIsDueIsGatheredByAsManyCallsHoweverMuch counts the functions that run: one for each message copies what was
// gathered so far each time.
func TestWhatIsDueIsGatheredByAsManyCallsHoweverMuch(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), queue, "lanes => 1")
		clock := surface.StoppedClock(t, db)
		conn := db.Super(t)
		if _, err := conn.Exec(t.Context(), "set track_functions = 'all'"); err != nil {
			t.Fatal(err)
		}
		calls := func(messages int) int {
			t.Helper()
			db.Exec(t, `select count(*) from weir.send_batch($1, array_fill('1'::jsonb, array[$2::int]),
				delay => '1 second')`, queue, messages)
			clock.Advance(t, 2*time.Second)
			tx, err := conn.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback(t.Context()) //nolint:errcheck // it may be committed
			called := -functionCalls(t, tx)
			got, err := surface.ReceiveRecords(t.Context(), tx, queue, "default", 1000, "1 hour")
			if err != nil || len(got) != 1 || got[0].N != messages {
				t.Fatalf("received %v, %v", got, err)
			}
			called += functionCalls(t, tx)
			if err := tx.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			return called
		}
		calls(10)
		few, many := calls(10), calls(1000)
		t.Logf("%d calls for 10 messages that are due, %d for 1,000", few, many)
		if few == 0 || many > 2*few {
			t.Errorf("%d calls for 10 messages that are due, %d for 1,000", few, many)
		}
	})
}

// functionCalls is how many the backend has done that it has not yet told the others about.
func functionCalls(t *testing.T, tx pgx.Tx) (n int) {
	t.Helper()
	err := tx.QueryRow(t.Context(), "select coalesce(sum(calls), 0) from pg_stat_xact_user_functions").Scan(&n)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
