package api_test

import (
	"net/http"
	"sync"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

func TestAQueueWhoseCallsHangLeavesConnectionsToOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.db.Exec(t, "select weir.create_queue('other')")
	busy := s.db.Conn(t)
	for _, sql := range []string{"begin", "select weir.pause('q', 'default')"} {
		if _, err := busy.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	var hanging sync.WaitGroup
	for range 20 { // the server has eight connections
		hanging.Go(func() { s.want(http.StatusOK, "POST", group+"/resume", "") })
	}
	pgtest.WaitForRow(t, s.db, `select count(*) = 4 from pg_stat_activity
		where datname = current_database() and wait_event_type = 'Lock'`)
	for range 20 {
		s.want(http.StatusOK, "GET", "/v1/queues/other/groups/default/peek?max=1", "")
	}
	if _, err := busy.Exec(t.Context(), "rollback"); err != nil {
		t.Fatal(err)
	}
	hanging.Wait()
}
