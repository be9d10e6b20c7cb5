package get_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// list returns the rows of a list, one string each.
func (b bench) list(sql string, args ...any) []string {
	b.Helper()
	return pgtest.QueryAll[string](b, b.db, sql, append([]any{queue}, args...)...)
}

func (b bench) wantList(what string, got []string, want ...string) {
	b.Helper()
	if !slices.Equal(got, want) {
		b.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// as is a session that calls itself by a name; never behind a pooler, where its server's process is of all clients.
func (b bench) as(name string) *pgx.Conn {
	b.Helper()
	conn := b.db.As(b, pgtest.Owner)
	if _, err := conn.Exec(b.Context(), "select set_config('application_name', $1, false)", name); err != nil {
		b.Fatal(err)
	}
	return conn
}

func (b bench) claim(conn *pgx.Conn, group string, batchMax int) []surface.Message {
	b.Helper()
	got, err := surface.Receive(b.Context(), conn, queue, group, batchMax, "1 minute")
	if err != nil || len(got) != batchMax {
		b.Fatalf("received %v, %v", got, err)
	}
	return got
}

const claims = `select format('%s: %s from %s, try %s, by %s, %s', claim_id, messages, first_id, attempt,
	application_name, case when deadline > weir_internal.clock() then 'held' else 'over' end)
	from weir.claims($1, max => $2, after => $3)`

func TestClaimsShowWhatIsHeldAndByWhom(t *testing.T) {
	each(t, "", func(b bench) {
		b.db.Exec(b, "select weir.create_group($1, 'other')", queue)
		// No more than the claims take: of what is new and what is due again a receive may take either first.
		b.db.Exec(b, "select count(*) from weir.send_batch($1, array_fill('1'::jsonb, array[5]))", queue)
		b.wantList("no claims", b.list(claims, 100, 0))
		first := b.claim(b.as("one"), "default", 3)
		second := b.claim(b.as("two"), "default", 2)
		b.claim(b.as("three"), "other", 1)
		line := func(of []surface.Message, n, from, attempt int, by, state string) string {
			return fmt.Sprintf("%d: %d from %d, try %d, by %s, %s", of[0].ClaimID, n, of[from].ID, attempt, by, state)
		}
		b.wantList("two claims", b.list(claims, 100, 0),
			line(first, 3, 0, 1, "one", "held"), line(second, 2, 0, 1, "two", "held"))
		b.wantList("a page", b.list(claims, 1, 0), line(first, 3, 0, 1, "one", "held"))
		b.wantList("the next page", b.list(claims, 1, first[0].ClaimID), line(second, 2, 0, 1, "two", "held"))
		b.db.Exec(b, "select weir.ack($1, $2, array[$3::bigint])", queue, first[0].ClaimID, first[0].ID)
		b.db.Exec(b, "select weir.extend($1, $2, '1 hour')", queue, second[0].ClaimID)
		b.clock.Advance(b, 10*time.Minute)
		b.wantList("after an ack, an extension and ten minutes", b.list(claims, 100, 0),
			line(first, 2, 1, 1, "one", "over"), line(second, 2, 0, 1, "two", "held"))
		again := b.claim(b.as("four"), "default", 2)
		b.wantList("given to another", b.list(claims, 100, 0),
			line(second, 2, 0, 1, "two", "held"), line(again, 2, 0, 2, "four", "held"))
		b.db.Exec(b, "select weir.nack($1, $2, delay => '0')", queue, again[0].ClaimID)
		b.db.Exec(b, "select weir.ack_all($1, $2)", queue, second[0].ClaimID)
		again = b.claim(b.as("five"), "default", 2)
		b.wantList("after a nack", b.list(claims, 100, 0), line(again, 2, 0, 3, "five", "held"))
		b.db.Exec(b, "select weir.ack_all($1, $2)", queue, again[0].ClaimID)
		b.wantList("all finished", b.list(claims, 100, 0))
	})
}

func TestEachPartOfAReceiveOfManyIsAClaimWithItsHolder(t *testing.T) {
	each(t, "", func(b bench) {
		b.db.Exec(b, "select count(*) from weir.send_batch($1, array_fill('1'::jsonb, array[10]))", queue)
		conn := b.as("server")
		if _, err := conn.Exec(b.Context(), `select * from weir.receive_many($1, 'default', '{2,1}',
			array_fill(interval '1 min', array[2]))`, queue); err != nil {
			b.Fatal(err)
		}
		got := b.list(`select format('%s %s %s', messages, pid = $2, role_name = current_user) from weir.claims($1)`,
			pgtest.PID(b.T, conn))
		b.wantList("claims", got, "2 t t", "1 t t")
		if err := conn.Close(b.Context()); err != nil {
			b.Fatal(err)
		}
		pgtest.WaitForRow(b, b.db, `select bool_and(application_name is null and pid is not null)
			from weir.claims($1)`, queue)
	})
}

func TestClaimsOutliveARotationInTheList(t *testing.T) {
	each(t, "", func(b bench) {
		b.db.Exec(b, "select weir.configure_log('main', claims_bytes => 65536)")
		b.send("1", nil, nil)
		b.claim(b.as("patient"), "default", 1)
		before := b.list(claims, 100, 0)
		rows := func() int64 {
			return pgtest.QueryVal[int64](b, b.db, "select pg_sequence_last_value('weir_log.claims_ring')")
		}
		ring := rows()
		for rows() < ring+4 {
			b.db.Exec(b, `select weir.send($1, '1'), (select count(*) from weir.pop($1))
				from generate_series(1, 500)`, queue)
			surface.Settle(b, b.db.Pool(b))
		}
		b.wantList("after rotations", b.list(claims, 100, 0), before...)
	})
}

const parked = `select format('%s: %s from %s, %s tries, waits for %s, %s', coalesce(key, '-' || lane), messages,
	first_id, attempts, waits_for, coalesce(reason, 'no reason')) from weir.parked_keys($1, 'o', $2, $3, $4)`

func TestParkedKeysShowWhatAKeyWaitsFor(t *testing.T) {
	each(t, "", func(b bench) {
		b.db.Exec(b, "select weir.create_group($1, 'o', ordered => true)", queue)
		ids := []int64{}
		for _, key := range []string{"a", "a", "b"} {
			ids = append(ids, b.send("1", surface.Text(key), nil))
		}
		b.wantList("no trouble", b.list(parked, 100, nil, nil))
		claim := b.receive("o", 3)[0].ClaimID
		b.db.Exec(b, "select weir.nack($1, $2, array[$3::bigint], '1 minute', 'no such customer')", queue, claim, ids[0])
		b.db.Exec(b, "select weir.ack_all($1, $2)", queue, claim)
		line := func(n int, attempts int, waits, reason string) string {
			return fmt.Sprintf("a: %d from %d, %d tries, waits for %s, %s", n, ids[0], attempts, waits, reason)
		}
		b.wantList("one in trouble", b.list(parked, 100, nil, nil), line(2, 1, "time", "no such customer"))
		b.send("1", surface.Text("a"), nil)
		b.db.Exec(b, "select count(*) from weir.receive($1, 'o', 10)", queue)
		b.wantList("another joins", b.list(parked, 100, nil, nil), line(3, 1, "time", "no such customer"))
		b.clock.Advance(b, time.Hour)
		b.wantList("due", b.list(parked, 100, nil, nil), line(3, 1, "consumer", "no such customer"))
		claim = b.receive("o", 1)[0].ClaimID
		b.wantList("claimed", b.list(parked, 100, nil, nil), line(3, 1, "claim", "no such customer"))
		b.db.Exec(b, "select weir.nack($1, $2, delay => '1 minute', reason => 'still none')", queue, claim)
		b.wantList("again in trouble", b.list(parked, 100, nil, nil), line(3, 2, "time", "still none"))
		b.send("1", surface.Text("b"), nil)
		b.send("1", nil, nil)
		b.receive("o", 2)
		b.clock.Advance(b, 70*time.Second)
		b.receive("o", 3)
		got := b.list(parked, 100, nil, nil)
		if len(got) != 3 || !strings.Contains(got[1], "the lease expired") || !strings.HasPrefix(got[2], "-0: 1 from") {
			b.Errorf("after a lease that expired: %s", strings.Join(got, "\n"))
		}
		b.wantList("the first", b.list(parked, 1, nil, nil), got[0])
		b.wantList("the next page", b.list(parked, 1, "a", nil), got[1])
		b.wantList("what has no key", b.list(parked, 2, "b", nil), got[2])
		b.wantList("behind the last", b.list(parked, 1, nil, 0))
		if n := len(b.list("select 'x' from weir.parked_keys($1) where $1 <> ''")); n != 0 {
			b.Errorf("a group without order has %d parked keys", n)
		}
		old := b.list(`select 'x' from weir.parked_keys($1, 'o') 
			where parked_at is null or parked_at > weir_internal.clock()`)
		b.wantList("without a time", old)
	})
}

func TestParkedKeysShowKeysThatTakeTurns(t *testing.T) {
	each(t, "lanes => 1", func(b bench) {
		b.db.Exec(b, "select weir.create_group($1, 'o', key_concurrency_max => 1)", queue)
		for _, key := range []string{"a", "a", "a", "b"} {
			b.send("1", surface.Text(key), nil)
		}
		b.db.Exec(b, "select count(*) from weir.receive($1, 'o', 1)", queue)
		got := b.list("select format('%s: %s, %s', key, messages, waits_for) from weir.parked_keys($1, 'o')")
		b.wantList("keys", got, "a: 2, key_concurrency", "b: 1, turn")
		next := b.list("select format('%s: %s, %s', key, messages, waits_for) from weir.parked_keys($1, 'o', after => 'a')")
		b.wantList("the next page", next, "b: 1, turn")
	})
}

func TestDelayedShowsWhatIsNotDueOfAGroup(t *testing.T) {
	each(t, "", func(b bench) {
		const delayed = `select format('%s: %s tries, %s%s', id, attempts, payload, ', ' || reason)
			from weir.delayed($1, $2, $3, $4)`
		late := b.send("1", nil, surface.Text("1 hour"))
		b.db.Exec(b, "select weir.create_group($1, 'other')", queue)
		soon := b.send("2", nil, surface.Text("10 minutes"))
		retried := b.send("3", nil, nil)
		b.db.Exec(b, "select weir.nack($1, $2, delay => '30 minutes', reason => 'no flour')", queue,
			b.receive("default", 1)[0].ClaimID)
		b.wantList("delayed", b.list(delayed, "default", 100, 0), fmt.Sprintf("%d: 0 tries, 2", soon),
			fmt.Sprintf("%d: 1 tries, 3, no flour", retried), fmt.Sprintf("%d: 0 tries, 1", late))
		b.wantList("the next", b.list(delayed, "default", 1, 0), fmt.Sprintf("%d: 0 tries, 2", soon))
		b.wantList("the next page", b.list(delayed, "default", 1, soon), fmt.Sprintf("%d: 1 tries, 3, no flour", retried))
		b.wantList("the last page", b.list(delayed, "default", 1, retried), fmt.Sprintf("%d: 0 tries, 1", late))
		b.wantList("behind the last", b.list(delayed, "default", 1, late))
		b.wantList("of another group", b.list(delayed, "other", 100, 0), fmt.Sprintf("%d: 0 tries, 2", soon),
			fmt.Sprintf("%d: 0 tries, 1", late))
		b.clock.Advance(b, 45*time.Minute)
		for _, after := range []int64{0, soon, retried, 4711} {
			b.wantList("later", b.list(delayed, "default", 100, after), fmt.Sprintf("%d: 0 tries, 1", late))
		}
		b.db.Exec(b, "select weir.purge($1)", queue)
		b.wantList("after a purge", b.list(delayed, "default", 100, 0))
	})
}

func TestWorkflowsAreListedWithHowTheyStand(t *testing.T) {
	each(t, "", func(b bench) {
		const workflows = `select format('%s %s: %s of %s, %s failed, %s cancelled', coalesce(name, '-'), state, done, steps,
			failed, cancelled) from weir.list_workflows($1, $2, $3)`
		b.wantList("none", b.list(workflows, 100, nil))
		start := func(name, kinds string) int64 {
			return pgtest.QueryVal[int64](b, b.db, "select weir.start_chain($1, $2::text::jsonb[], $3)", queue, kinds, name)
		}
		first := start("one", `{"{\"kind\":\"a\"}","{\"kind\":\"b\"}"}`)
		b.wantList("started", b.list(workflows, 100, nil), "one running: 0 of 2, 0 failed, 0 cancelled")
		for range 2 {
			m := b.receive("default", 1)[0]
			b.db.Exec(b, "select weir.finish($1, $2, $3)", queue, m.ClaimID, m.ID)
		}
		start("two", `{"{\"kind\":\"a\"}","{\"kind\":\"b\"}"}`)
		b.db.Exec(b, "select weir.reject($1, claim_id, array[id]) from weir.receive($1)", queue)
		b.wantList("ended", b.list(workflows, 100, nil),
			"two stopped: 0 of 2, 1 failed, 0 cancelled", "one done: 2 of 2, 0 failed, 0 cancelled")
		b.wantList("the newest", b.list(workflows, 1, nil), "two stopped: 0 of 2, 1 failed, 0 cancelled")
		b.wantList("before the first", b.list(workflows, 100, first))
	})
}

func TestListsRefuseWhatIsOutOfRange(t *testing.T) {
	each(t, "", func(b bench) {
		for call, state := range map[string]string{
			"claims($1, max => 0)": "WR006", "claims($1, max => 1001)": "WR006", "claims($1, max => null)": "WR006",
			"claims($1, after => null)": "WR006", "claims($1, after => 9223372036854775807)": "WR006",
			"claims($1, 'none')": "WR003", "claims($1 || 'x')": "WR001",
			"parked_keys($1, max => 0)": "WR006", "parked_keys($1, max => 1001)": "WR006", "parked_keys($1, 'none')": "WR003",
			"parked_keys($1, after => 'a', after_lane => 1)": "WR006", "delayed($1, after => null)": "WR006",
			"delayed($1, max => 0)": "WR006", "delayed($1, max => 1001)": "WR006", "delayed($1, 'none')": "WR003",
			"list_workflows($1, 0)": "WR006", "list_workflows($1, 1001)": "WR006", "list_workflows($1 || 'x')": "WR001",
		} {
			_, err := b.db.Pool(b).Exec(b.Context(), "select weir."+call, queue)
			if surface.SQLState(err) != state {
				b.Errorf("%s: %v, want %s", call, err, state)
			}
		}
		err := pgx.BeginTxFunc(b.Context(), b.db.Pool(b), pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, func(tx pgx.Tx) error {
			_, err := tx.Exec(context.WithoutCancel(b.Context()), "select weir.claims($1)", queue)
			return err
		})
		surface.WantState(b, err, "WR012")
	})
}

// TestListsCostTheSameOnALargeQueue compares pages read on a small queue and on one with fifty times the messages, of
// which nothing was analysed.
func TestListsCostTheSameOnALargeQueue(t *testing.T) {
	each(t, "", func(b bench) {
		b.db.Exec(b, "select weir.create_group($1, 'o', ordered => true)", queue)
		conn := b.db.Conn(b)
		lists := []string{
			"select * from weir.claims($1)", "select * from weir.claims($1, 'o')",
			"select * from weir.parked_keys($1, 'o', 10)",
			"select * from weir.parked_keys($1, 'o', 10, after => '5')",
			"select * from weir.delayed($1, max => 10)",
			"select * from weir.delayed($1, max => 10, after => 205)", "select * from weir.list_workflows($1, 10)",
		}
		fill := func(n int) {
			b.db.Exec(b, `select count(m) from generate_series(1, $2) i cross join lateral weir.send_batch($1,
				array_fill('1'::jsonb, array[100]), array(select (i * 100 + k)::text from generate_series(1, 100) k)) m`,
				queue, n)
			b.db.Exec(b, `select count(m) from generate_series(1, $2) i cross join lateral weir.send_batch($1,
				array_fill('1'::jsonb, array[100]), delay => '1 hour') m`, queue, n)
			b.db.Exec(b, `select weir.nack($1, claim_id, array_agg(id), '1 hour') from weir.receive($1, 'o', 100 * $2)
				group by claim_id`, queue, n)
			b.db.Exec(b, `select count(weir.start_chain($1, array['{"kind": "a"}']::jsonb[])) from generate_series(1, $2)`,
				queue, n)
			for range n {
				b.db.Exec(b, "select count(*) from weir.pop($1)", queue)
			}
		}
		cost := func(list string) int {
			for range 10 { // the first ones read the catalogue
				surface.Buffers(b, conn, list, queue)
			}
			return surface.Buffers(b, conn, list, queue)
		}
		fill(2)
		b.db.Exec(b, "select count(*) from weir.receive($1, max => 1)", queue)
		small := map[string]int{}
		for _, list := range lists {
			small[list] = cost(list)
		}
		fill(50)
		for _, list := range lists {
			if large := cost(list); large > 4*small[list]+200 {
				b.Errorf("%s read %d buffers on a small queue and %d on a large one", list, small[list], large)
			}
		}
	})
}
