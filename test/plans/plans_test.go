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

const queue = "plans"

var (
	ring    = regexp.MustCompile(`q\d+_(log|claims|later)`)
	onRing  = regexp.MustCompile(`(Seq Scan|Bitmap Heap Scan|Bitmap Index Scan) on (\w+\.)?q\d+_(log|claims|later)`)
	joining = regexp.MustCompile(`(?m)^\s*(->\s+)?` +
		`(Sort|Incremental Sort|Hash|Hash Join|Merge Join|Hash Semi Join|HashAggregate|Materialize)\b`)
	scan = regexp.MustCompile(`(Index Scan|Index Only Scan|Index Scan Backward)`)
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

// wantIndexScans runs the hot path and fails for every plan on a ring that is not an index scan.
func (e *explained) wantIndexScans(t *testing.T, state string, batchMax int) {
	t.Helper()
	ctx := t.Context()
	e.plans = nil
	for range 8 { // some receives probe, and plans may change once they are cached
		if _, err := surface.Send(ctx, e, queue, "1", surface.Text("k"), nil, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := surface.SendBatch(ctx, e, queue, []string{"1", "2"}, nil, nil, nil); err != nil {
			t.Fatal(err)
		}
		got, err := surface.Receive(ctx, e, queue, "default", batchMax, "1 minute")
		if err != nil || len(got) == 0 {
			t.Fatalf("received %v, %v", got, err)
		}
		if _, err := surface.Ack(ctx, e, queue, got[0].ClaimID, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Exec(ctx, `with got as materialized (
				select claim_ids from weir.receive_many($1, 'default', '{1,1,1}', array_fill(interval '1 h', array[3])))
			select weir.extend_many($1, claim_ids, array_fill(interval '2 h', array[cardinality(claim_ids)])),
				weir.ack_many($1, claim_ids) from got`, queue); err != nil {
			t.Fatal(err)
		}
	}
	found := 0
	for _, plan := range e.plans {
		if !ring.MatchString(plan) {
			continue
		}
		_, tree, _ := strings.Cut(plan, "plan:")
		if scan.MatchString(tree) {
			found++
		}
		if bad := onRing.FindString(tree); bad != "" {
			t.Errorf("%s queue: %s:\n%s", state, bad, plan)
		}
		if bad := joining.FindString(tree); bad != "" && ring.MatchString(tree) {
			t.Errorf("%s queue: %s:\n%s", state, strings.TrimSpace(bad), plan)
		}
		if t.Failed() {
			return
		}
	}
	if found == 0 {
		t.Fatalf("%s queue: no plan with an index scan among %d: the test sees nothing", state, len(e.plans))
	}
}

// TestHotPathScansIndexes fills a queue with a million messages on the newest and the oldest version, with less on the
// others.
func TestHotPathScansIndexes(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		batches := 10
		if major == 14 || major == 18 {
			batches = 100
		}
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), queue, "lanes => 4, claims_bytes => 65536")
		e := explain(t, db)
		e.wantIndexScans(t, "empty", 10)
		load := func(n int) {
			for range n {
				db.Exec(t, "select count(*) from weir.send_batch($1, array_fill('1'::jsonb, array[10000]))", queue)
			}
		}
		const receive = "select * from weir.receive($1, max => 1, lease => '1 day')"
		cost := func(call string) int { // the median: now and then a receive probes all lanes
			conn := db.Conn(t)
			var buffers []int
			for range 99 {
				buffers = append(buffers, surface.Buffers(t, conn, call, queue))
			}
			slices.Sort(buffers)
			return buffers[49]
		}
		for range 20 {
			db.Exec(t, "select count(*) from weir.send_batch($1, array_fill('1'::jsonb, array[50]))", queue)
		}
		few := cost(receive)
		load(batches)
		e.wantIndexScans(t, "never analysed", 10)
		probe := cost(`select weir_internal.q1_probe(g, 0, clock_timestamp()) from weir_internal.groups g
			join weir_internal.queues q on q.no = g.queue_no where q.name = $1`)
		if probe > 40 { // by the state of each lane's cursor: 17 to 25
			t.Errorf("a probe of 4 lanes touches %d buffers with %d0,000 waiting", probe, batches)
		}
		many := cost(receive)
		t.Logf("buffers of a receive of 1: %d with 1,000 waiting, %d with %d0,000", few, many, batches)
		if many*10 > few*12 { // indexes are a level deeper
			t.Errorf("a receive of 1 touches %d buffers with %d0,000 waiting, %d with 1,000", many, batches, few)
		}
		db.Exec(t, "vacuum (analyze)")
		e.wantIndexScans(t, "analysed", 100)
		db.Exec(t, "update weir_internal.queues set segment_bytes = 65536")
		for range 12 {
			if _, err := surface.Maintain(t.Context(), db.Pool(t)); err != nil {
				t.Fatal(err)
			}
			load(1)
		}
		e.wantIndexScans(t, "rotated", 10)
		explain(t, db).wantIndexScans(t, "rotated, in a new session,", 10)
	})
}

// TestAnAckCostsNoMoreWithManyClaimsBesideIt counts buffers: a plan may use the index and walk a whole slot with it.
func TestAnAckCostsNoMoreWithManyClaimsBesideIt(t *testing.T) {
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		db := pgtest.New(t, pgtest.Options{Major: major})
		surface.CreateQueue(t, db.Pool(t), queue, "lanes => 1")
		conn := db.Conn(t)
		claim := func() int64 {
			db.Exec(t, "select weir.send($1, '1')", queue)
			return pgtest.QueryVal[int64](t, db, "select claim_id from weir.receive($1)", queue)
		}
		costs := func() map[string]int {
			sums := map[string]int{}
			for _, call := range []string{
				"ack($1, $2)", "ack_many($1, array[$2::bigint])", "extend_many($1, array[$2::bigint], '{1 h}')",
			} {
				for i := range 20 {
					if n := surface.Buffers(t, conn, "select weir."+call, queue, claim()); i >= 10 {
						sums[call] += n
					}
				}
			}
			return sums
		}
		grow := func(claims int) {
			db.Exec(t, fmt.Sprintf(`do $$ begin for i in 1 .. %d loop
				perform weir.send('plans', '1'); commit; perform weir.pop('plans'); commit; end loop; end $$`, claims))
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
