package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server/api"
)

func TestAServerIsReadyWhileItsDatabaseHasAnEngineThatFits(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	if text := s.want(http.StatusOK, "GET", "/readyz", ""); !strings.Contains(text, `"status":"ready"`) {
		t.Errorf("with its engine: %s", text)
	}
	for _, c := range []struct{ version, says string }{
		{"0.1.0", "the engine in the database is 0.1.0"}, {"1.0.0", "the engine in the database is 1.0.0"},
	} {
		s.db.Exec(t, "update weir_internal.installation set version = $1", c.version)
		p := s.unready(c.says)
		if !strings.Contains(p.Hint, "weir install") || !p.Retryable {
			t.Errorf("engine %s: %+v", c.version, p)
		}
	}
	s.db.Exec(t, "update weir_internal.installation set version = '0.999.7'")
	s.becomesReady()
	s.db.Exec(t, "drop schema weir cascade")
	if p := s.unready("engine_not_installed"); !strings.Contains(p.Hint, "weir install") {
		t.Errorf("without an engine: %+v", p)
	}
	if status, text := s.send("GET", "/healthz", ""); status != http.StatusOK {
		t.Errorf("the process lives all the same: %d %s", status, text)
	}
}

// unready waits until the server is not ready for a reason, and returns the problem. An answer may be a second old.
func (s *site) unready(says string) (p api.Problem) {
	s.Helper()
	pgtest.WaitFor(s.T, "the server to be not ready: "+says, func() bool {
		status, text := s.send("GET", "/readyz", "")
		if status != http.StatusServiceUnavailable {
			return false
		}
		p = decode[api.Problem](s, text)
		return strings.Contains(p.Detail+p.Name, says)
	})
	return p
}

func (s *site) becomesReady() {
	s.Helper()
	pgtest.WaitFor(s.T, "the server to be ready", func() bool {
		status, _ := s.send("GET", "/readyz", "")
		return status == http.StatusOK
	})
}

func TestAServerIsNotReadyWhileTheDatabaseIsAwayAndSaysNotWhere(t *testing.T) {
	t.Parallel()
	server := pgtest.StartServer(t, pgtest.ServerOptions{Fast: true})
	db := server.NewDB(t, false)
	client, err := engine.Open(t.Context(), db.DSN, engine.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	s := &site{T: t, db: db, client: client}
	web := httptest.NewServer(api.New(client, api.Options{Version: "test", Drain: t.Context()}))
	t.Cleanup(web.Close)
	s.url = web.URL
	s.becomesReady()
	server.Kill()
	p := s.unready("cannot be reached")
	if p.SQLState != "57P03" || !p.Retryable || strings.Contains(p.Detail+p.Hint, "/") {
		t.Errorf("%+v", p)
	}
	s.want(http.StatusOK, "GET", "/healthz", "")
}

func TestADrainingServerIsNotReadyAndStillServes(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, "select weir.create_queue('q')")
	client, err := engine.Open(t.Context(), db.DSN, engine.Options{MaxConns: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	var draining atomic.Bool
	web := httptest.NewServer(api.New(client, api.Options{Drain: t.Context(), Draining: draining.Load}))
	t.Cleanup(web.Close)
	s := &site{T: t, db: db, client: client, url: web.URL}
	s.want(http.StatusOK, "GET", "/readyz", "")
	draining.Store(true)
	p := decode[api.Problem](s, s.want(http.StatusServiceUnavailable, "GET", "/readyz", ""))
	if !strings.Contains(p.Detail, "draining") {
		t.Errorf("%+v", p)
	}
	s.want(http.StatusOK, "GET", "/healthz", "")
	s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", `{"messages":[{"payload":1}]}`)
}
