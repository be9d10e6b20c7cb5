package claims_test

import (
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// As many consumers as meet in one lane are each given something while there is a backlog: the lane is split for them.
func TestNoReceiveOverABacklogIsEmpty(t *testing.T) {
	const consumers, receives = 8, 200
	surface.Each(t, "q", "", func(t *testing.T, db *pgtest.DB) {
		db.Exec(t, "select count(weir.send('q', to_jsonb(i))) from generate_series(1, 30000) i")
		var mu sync.Mutex
		var empty int
		seen := map[int64]bool{}
		receive := func(conn *pgx.Conn) {
			var ids []int64
			err := conn.QueryRow(t.Context(), "select coalesce(array_agg(id), '{}') from weir.receive('q')").Scan(&ids)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				t.Error(err)
			case len(ids) == 0:
				empty++
			case seen[ids[0]]:
				t.Errorf("%d came twice", ids[0])
			default:
				seen[ids[0]] = true
			}
		}
		var conns []*pgx.Conn
		for range consumers {
			conns = append(conns, db.Conn(t))
		}
		all := func(receives int) {
			var group sync.WaitGroup
			for _, conn := range conns {
				group.Go(func() {
					for range receives {
						receive(conn)
					}
				})
			}
			group.Wait()
		}
		all(10) // the first calls of a session may take longer than others wait
		empty = 0
		all(receives)
		if empty > 0 {
			t.Errorf("%d of %d receives were empty", empty, consumers*receives)
		}
	})
}
