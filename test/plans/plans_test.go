// Package plans_test looks at the plans that the hot path really runs, and at how many buffers it touches: index scans
// that stop at their limit, whatever the queue's statistics say or do not say.
package plans_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/internal/embedded"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// tables that grow with messages, claims or queues; keyed_queues and cancellations have a row for a moment.
const tables = `(log_[012]|rest|claims_[01]|delayed|parked|key_queues|key_turns|dedup_[01]|jobs_[01]|` +
	`queues|groups|dead_letters)`

var (
	onTable = regexp.MustCompile(`Scan.* on (\w+\.)?` + tables + `\b`)
	onAll   = regexp.MustCompile(`(Seq Scan|Bitmap Heap Scan|Bitmap Index Scan) on `)
	joining = regexp.MustCompile(`(?m)^\s*(->\s+)?` +
		`(Sort|Incremental Sort|Hash|Hash Join|Merge Join|Hash Semi Join|HashAggregate|Materialize)  \(`)
)

// explained is a session whose statements, nested ones too, come with their plans.
type explained struct {
	*pgx.Conn
	plans []string
}

func explain(t *testing.T, db *pgtest.DB) *explained {
	t.Helper()
	e := &explained{}
	config, err := pgx.ParseConfig(db.Server.SocketDSN(embedded.Superuser, db.Name))
	if err != nil {
		t.Fatal(err)
	}
	config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		if strings.Contains(n.Message, "plan:") {
			e.plans = append(e.plans, n.Message)
		}
	}
	e.Conn, err = pgx.ConnectConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close(context.Background()) }) //nolint:errcheck // nothing is left to say
	for _, sql := range []string{
		"load 'auto_explain'", "set auto_explain.log_min_duration = 0", "set auto_explain.log_nested_statements = on",
		"set auto_explain.log_verbose = off", "set client_min_messages = log",
	} {
		if _, err := e.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	return e
}

// want runs calls, several times since plans may change once they are cached, and fails for every plan that is not an
// index scan in the index's order, and for every sort and join of more than rows of an array.
func (e *explained) want(t *testing.T, state string, calls func(e *explained)) {
	t.Helper()
	e.plans = nil
	for range 8 {
		calls(e)
	}
	seen := map[string]bool{} // the tables
	for _, plan := range e.plans {
		_, tree, _ := strings.Cut(plan, "plan:")
		_, tree, _ = strings.Cut(tree, "\n") // the statement's first line
		for _, f := range onTable.FindAllStringSubmatch(tree, -1) {
			seen[f[2]] = true
		}
		if bad := faultOf(tree); bad != "" {
			t.Errorf("%s: %s:\n%s", state, bad, plan)
		}
		if t.Failed() {
			return
		}
	}
	if len(seen) < 3 {
		t.Fatalf("%s: plans of %v alone among %d: the test sees nothing", state, seen, len(e.plans))
	}
}

// faultOf says what is wrong with a plan: it reads all of a table or of an index, or sorts, hashes or keeps rows of
// one.
func faultOf(tree string) string {
	lines := strings.Split(tree, "\n")
	for i, line := range lines {
		below := below(lines[i:])
		switch {
		case joining.MatchString(line) && onTable.MatchString(bounded(below)):
			return "rows of a table are not taken as they come: " + strings.TrimSpace(line)
		case !onTable.MatchString(line):
		case onAll.MatchString(line) || !strings.Contains(below, "Index Cond: ") && !strings.Contains(below, "TID Cond: "):
			return "all is read: " + strings.TrimSpace(line)
		}
	}
	return ""
}

// below returns the lines that are further in than the first.
func below(lines []string) string {
	depth := func(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }
	n := 1
	for n < len(lines) && depth(lines[n]) > depth(lines[0]) {
		n++
	}
	return strings.Join(lines[1:n], "\n")
}

// bounded leaves out what is below a limit: looking up a row for each of an array.
func bounded(tree string) string {
	lines := strings.Split(tree, "\n")
	var out []string
	for i := 0; i < len(lines); i++ {
		if strings.Contains(lines[i], "Limit  (") {
			i += strings.Count(below(lines[i:])+"\n", "\n")
			continue
		}
		out = append(out, lines[i])
	}
	return strings.Join(out, "\n")
}

// kinds of queues: how each is made and what is sent to it, as arguments behind the queue and the payloads.
var kinds = []struct{ name, options, group, send, batch string }{
	{"plain", "", "", "", ""},
	{"ordered", "ordered => true, lanes => 4", "", ", key => 'k7'", ", keys => array['k7', 'k8']"},
	{"fair", "lanes => 4", "fair => true", ", key => 'k7'", ", keys => array['k7', 'k8']"},
	{"limited", "", "concurrency_max => 10000", "", ""},
	{"priorities", "priorities => 3", "", ", priority => 2", ", priority => 1"},
}

// create makes a database with a queue of each kind among many: a table of one page is best read whole.
func create(t *testing.T, major int) *pgtest.DB {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{Major: major})
	db.Exec(t, "select count(weir.create_queue('other-' || i)) from generate_series(1, 500) i")
	for _, k := range kinds {
		surface.CreateQueue(t, db.Pool(t), k.name, k.options)
		if k.group != "" {
			db.Exec(t, "select weir.configure_group($1, 'default', "+k.group+")", k.name)
		}
	}
	return db
}

// uses makes every call on the way of messages, of each kind of queue.
func uses(t *testing.T, batchMax int) func(e *explained) {
	t.Helper()
	return func(e *explained) {
		ctx := t.Context()
		for _, k := range kinds {
			call := func(sql string, args ...any) {
				t.Helper()
				if _, err := e.Exec(ctx, sql, append([]any{k.name}, args...)...); err != nil {
					t.Fatalf("%s: %s: %v", k.name, sql, err)
				}
			}
			call("select weir.send($1, '1'" + k.send + ")")
			call("select count(*) from weir.send_batch($1, array['1', '2']::jsonb[]" + k.batch + ")")
			call("select weir.send($1, '1', delay => '1 millisecond')")
			call("select weir.send_once($1, array['1']::jsonb[], array[random()::text])")
			got, err := surface.Receive(ctx, e, k.name, "default", batchMax, "1 minute")
			if err != nil || len(got) == 0 {
				t.Fatalf("%s: received %v, %v", k.name, got, err)
			}
			call("select weir.extend($1, $2, '1 hour')", got[0].ClaimID)
			call("select weir.nack($1, $2, array[$3::bigint], delay => '0')", got[0].ClaimID, got[0].ID)
			if len(got) > 1 {
				call("select weir.ack($1, $2, $3::bigint)", got[1].ClaimID, got[1].ID)
			}
			call("select weir.ack_all($1, $2)", got[0].ClaimID)
		}
	}
}

// TestTheWayOfMessagesScansIndexes fills a queue with a million messages on the newest and the oldest version, with
// less on the others; queues of the other kinds have 20,000.
func TestTheWayOfMessagesScansIndexes(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := create(t, major)
		load := func(records, each int, only string) {
			for _, k := range kinds {
				if only != "" && k.name != only {
					continue
				}
				keys := ""
				if strings.Contains(k.batch, "keys") {
					keys = ", keys => array(select 'k' || m from generate_series(1, $3) m)"
				}
				db.Exec(t, `select count(*) from generate_series(1, $2::int) r
					cross join lateral weir.send_batch($1, array_fill('1'::jsonb, array[$3::int])`+keys+`) s`,
					k.name, records, each)
			}
		}
		receive := func() int { // the median of what a receive touches
			conn := db.Conn(t)
			var buffers []int
			for range 99 {
				buffers = append(buffers, surface.Buffers(t, conn,
					"select * from weir.receive($1, max => 1, lease => '1 day')", "plain"))
			}
			slices.Sort(buffers)
			return buffers[49]
		}
		db.Exec(t, "vacuum (analyze)")
		e := explain(t, db)
		e.want(t, "analysed when empty", uses(t, 10))
		load(100, 10, "")
		few := receive()
		big := 10_000
		if major == 14 || major == 18 {
			big = 100_000
		}
		load(2000, 10, "")
		load(big, 10, "plain")
		e.want(t, "filled since", uses(t, 10))
		many := receive()
		t.Logf("buffers of a receive of 1: %d with 1,000 waiting, %d with %d0", few, many, big)
		if many*10 > few*12 { // indexes are a level deeper
			t.Errorf("a receive of 1 touches %d buffers with %d0 waiting, %d with 1,000", many, big, few)
		}
		db.Exec(t, "vacuum (analyze)")
		e.want(t, "analysed when full", uses(t, 100))
		explain(t, db).want(t, "analysed when full, in a new session", uses(t, 10))
		db.Exec(t, "update weir_internal.logs set segment_bytes = 65536, claims_bytes = 65536")
		for range 6 {
			surface.Settle(t, db.Pool(t))
			load(20, 10, "")
		}
		e.want(t, "after a truncate", uses(t, 10))
		explain(t, db).want(t, "after a truncate, in a new session", uses(t, 10))
	})
}

// TestWhatWasNeverAnalysedIsScannedByIndexes is the state of a database that was made a minute ago.
func TestWhatWasNeverAnalysedIsScannedByIndexes(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := create(t, major)
		explain(t, db).want(t, "never analysed", uses(t, 10))
	})
}

// TestAnAckCostsNoMoreWithManyClaimsBesideIt counts buffers: a plan may use the index and walk much of it.
func TestAnAckCostsNoMoreWithManyClaimsBesideIt(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := create(t, major)
		conn := db.Conn(t)
		calls := []string{
			"ack($1, $2, $3::bigint)", "ack($1, $2, array[$3::bigint])", "ack_all($1, $2)",
			"extend($1, $2, '1 h')", "nack($1, $2)",
		}
		costs := func() map[string]int {
			sums := map[string]int{}
			for i := range 20 {
				for _, call := range calls {
					db.Exec(t, "select weir.send('plain', '1')")
					var claim, id int64
					row := db.Pool(t).QueryRow(t.Context(), "select claim_id, id from weir.receive('plain', lease => '1 h')")
					if err := row.Scan(&claim, &id); err != nil {
						t.Fatal(err)
					}
					args := []any{"plain", claim, id}
					if !strings.Contains(call, "$3") {
						args = args[:2]
					}
					if n := surface.Buffers(t, conn, "select weir."+call, args...); i >= 10 { // the first read the catalogue
						sums[call] += n
					}
				}
			}
			return sums
		}
		grow := func(claims int) {
			db.Exec(t, fmt.Sprintf(`do $$ begin for i in 1 .. %d loop
				perform weir.send('plain', '1'); commit; perform weir.pop('plain'); commit; end loop; end $$`, claims))
		}
		grow(300) // the index has its second level
		few := costs()
		grow(4000)
		for call, many := range costs() {
			if many > few[call]*3/2 {
				t.Errorf("%s touches %d buffers, and %d beside 4,000 more claims", call, few[call]/10, many/10)
			}
		}
	})
}
