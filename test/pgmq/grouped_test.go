package pgmq_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
)

// TestReadersOfGroupsHaveEachMessageOnceAndOneOfAGroupAtATime lets several read by group and delete what they read,
// beside others that send: each message comes once, those of a group in their order, and never two at a time.
func TestReadersOfGroupsHaveEachMessageOnceAndOneOfAGroupAtATime(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := newFace(t, major)
		db.Exec(t, "select pgmq.create('q')")
		const readers, groups, each = 4, 5, 12
		conns := make([]*pgx.Conn, readers+1)
		for i := range conns {
			conns[i] = db.Conn(t)
		}
		seen := newSeen()
		var work sync.WaitGroup
		work.Go(func() {
			for n := range groups * each {
				_, err := conns[readers].Exec(t.Context(), `select pgmq.send('q', to_jsonb($1::int),
					jsonb_build_object('x-pgmq-group', 'g' || $2::int))`, n, n%groups)
				if err != nil {
					t.Error(err)
				}
			}
		})
		for i := range readers {
			read := []string{"read_grouped", "read_grouped_rr", "read_grouped_head"}[i%3]
			work.Go(func() { readGroups(t, conns[i], read, groups*each, seen) })
		}
		work.Wait()
		for g := range groups {
			if n := seen.next[fmt.Sprintf("g%d", g)]; n != each {
				t.Errorf("group %d: %d messages came, want %d", g, n, each)
			}
		}
	})
}

// seen is what came of each group.
type seen struct {
	mu    sync.Mutex
	next  map[string]int // messages that came
	held  map[string]int // readers that have some now
	count int
}

func newSeen() *seen { return &seen{next: map[string]int{}, held: map[string]int{}} }

// readGroups reads and deletes until so many messages came to all readers together.
func readGroups(t *testing.T, conn *pgx.Conn, read string, all int, s *seen) {
	for t.Context().Err() == nil {
		s.mu.Lock()
		over := s.count >= all
		s.mu.Unlock()
		if over {
			return
		}
		rows, err := conn.Query(t.Context(),
			"select msg_id, message::int, headers ->> 'x-pgmq-group' as fifo from pgmq."+read+"('q', 100, 3) order by 1")
		got, err2 := pgx.CollectRows(rows, pgx.RowToStructByPos[struct {
			ID, N int
			Group string
		}])
		if err != nil || err2 != nil {
			t.Error(err, err2)
			return
		}
		mine := map[string]int{}
		s.mu.Lock()
		for _, m := range got {
			if mine[m.Group]++; mine[m.Group] == 1 {
				if s.held[m.Group]++; s.held[m.Group] > 1 {
					t.Errorf("two have messages of %s", m.Group)
				}
			}
			if m.N/5 != s.next[m.Group] {
				t.Errorf("%s: message %d came as number %d", m.Group, m.N, s.next[m.Group])
			}
			s.next[m.Group]++
			s.count++
		}
		s.mu.Unlock()
		for _, m := range got {
			if mine[m.Group]--; mine[m.Group] == 0 { // with the last delete another may have the group
				s.mu.Lock()
				s.held[m.Group]--
				s.mu.Unlock()
			}
			if _, err := conn.Exec(t.Context(), "select pgmq.delete('q', $1::bigint)", m.ID); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestAReaderOfGroupsThatWaitsForMessagesKeepsNobodyFromReading(t *testing.T) {
	t.Parallel()
	for name, poll := range map[string]string{
		"groups":    "select from pgmq.read_grouped_with_poll('q', 100, 1, 3600, 3600000)",
		"condition": `select from pgmq.read_with_poll('q', 100, 1, 3600, 3600000, '{"a": 1}')`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := newFace(t, 0)
			db.Exec(t, "select pgmq.create('q')")
			ctx, cancel := context.WithCancel(t.Context())
			polling, ended := db.Conn(t), make(chan struct{})
			go func() {
				defer close(ended)
				polling.Exec(ctx, poll) //nolint:errcheck // it is cancelled
			}()
			pgtest.WaitForRow(t, db, "select count(*) = 1 from pg_stat_activity where wait_event = 'PgSleep'")
			db.Exec(t, `select pgmq.send_batch('q', array['{"a": 1}', '{"a": 1}', '{"a": 1}']::jsonb[])`)
			got := ids(t, db, "select msg_id from pgmq.read_grouped('q', 100, 1)")
			got = append(got, ids(t, db, `select msg_id from pgmq.read('q', 100, 1, '{"a": 1}')`)...)
			got = append(got, ids(t, db, "select msg_id from pgmq.read('q', 100, 1)")...)
			if fmt.Sprint(got) != "[1 2 3]" {
				t.Errorf("read %v beside one that waits", got)
			}
			cancel()
			<-ended
		})
	}
}

func TestAReaderOfGroupsThatStaysInItsTransactionKeepsOthersWaitingShortly(t *testing.T) {
	t.Parallel()
	db := newFace(t, 0)
	db.Exec(t, "select pgmq.create('q')")
	db.Exec(t, "select pgmq.send_batch('q', array['1', '2']::jsonb[])")
	held := begin(t, db.Conn(t))
	defer held.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing is left to say
	if id := value[int64](t, held, "select msg_id from pgmq.read_grouped('q', 100, 1)"); id != 1 {
		t.Errorf("read %d", id)
	}
	if got := ids(t, db, "select msg_id from pgmq.read_grouped_head('q', 100, 1)"); len(got) != 0 {
		t.Errorf("another read %v of the same group", got)
	}
	if err := held.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := pgtest.QueryAll[string](t, db, "select msg_id || ' ' || read_ct from pgmq.read_grouped_rr('q', 100, 5)")
	if fmt.Sprint(got) != "[1 1 2 1]" {
		t.Errorf("after the rollback: %v", got)
	}
}
