package server_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server"
)

func TestMain(m *testing.M) {
	pgtest.Main(m)
}

// logged keeps what a server logs.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}

// serve runs a server until the returned function stops it and gives what Serve returned.
func serve(t *testing.T, db *pgtest.DB, log io.Writer) (url string, stop func() error) {
	t.Helper()
	return serveWith(t, db, server.Options{Version: "test", Log: slog.New(slog.NewTextHandler(log, nil))})
}

// serveWith runs a server with options.
func serveWith(t *testing.T, db *pgtest.DB, opt server.Options) (url string, stop func() error) {
	t.Helper()
	client, err := engine.Open(t.Context(), db.DSN, engine.Options{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	listener, err := opt.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	s := server.New(client, opt)
	go func() { ended <- s.Serve(ctx, listener) }()
	stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = stop() })
	return opt.URL(listener), stop
}

func TestAStoppingServerAnswersTheReceivesThatWait(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, "select weir.create_queue('q')")
	url, stop := serve(t, db, io.Discard)
	answer := make(chan string, 1)
	go func() {
		defer close(answer)
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/queues/q/groups/default/receive",
			strings.NewReader(`{"wait_ms":60000}`))
		if err != nil {
			t.Error(err)
			return
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Error(err)
			return
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Error(err)
		}
		answer <- response.Status + " " + strings.TrimSpace(string(text))
	}()
	pgtest.WaitFor(t, "it to wait", func() bool {
		return strings.Contains(ask(t, http.MethodGet, url+"/metrics", "", nil).text, "\nweir_dispatch_receivers 1\n")
	})
	const listens = `select exists (select from pg_stat_activity
		where datname = current_database() and application_name = 'listener')`
	pgtest.WaitForRow(t, db, listens)
	if err := stop(); err != nil {
		t.Errorf("Serve returned %v", err)
	}
	if got := <-answer; got != `200 OK {"messages":[]}` {
		t.Errorf("the receive got %s", got)
	}
	pgtest.WaitForRow(t, db, "select not ("+listens+")")
}

func TestUpkeepThatFailsIsReportedOnceAndTheServerGoesOn(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, `create or replace procedure weir.maintain(every interval default '0', inout steps int default 0)
		language plpgsql as $$ begin raise exception 'no upkeep today' using errcode = 'WR016'; end $$`)
	log := &logged{}
	url, stop := serve(t, db, log)
	pgtest.WaitFor(t, "the report", func() bool { return log.count("no upkeep today") > 0 })
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/healthz", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("health check: %s", response.Status)
	}
	if err := stop(); err != nil || log.count("no upkeep today") != 1 {
		t.Errorf("%v, reported %d times", err, log.count("no upkeep today"))
	}
}

func TestUpkeepRunsWithoutBeingAsked(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, "create sequence public.rounds")
	db.Exec(t, `create or replace procedure weir.maintain(every interval default '0', inout steps int default 0)
		language plpgsql as $$ begin steps := case when nextval('public.rounds') < 3 then 1 else 0 end; end $$`)
	_, stop := serve(t, db, io.Discard)
	pgtest.WaitForRow(t, db, "select last_value >= 4 from public.rounds")
	if err := stop(); err != nil {
		t.Error(err)
	}
}

func TestMetricsNameRoutesAndQueuesAndNothingThatUsersMakeUp(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, "select weir.create_queue('q')")
	db.Exec(t, "select weir.send('q', '1', key => 'secret')")
	url, _ := serve(t, db, io.Discard)
	ask := func(method, path, body string) string { return ask(t, method, url+path, body, nil).text }
	ask("POST", "/v1/queues/q/messages", `{"messages":[{"payload":{"a":"secret"},"key":"secret"}]}`)
	ask("POST", "/v1/queues/secret/groups/secret/receive", "")
	ask("GET", "/secret", "")
	got := ask("GET", "/metrics", "")
	for _, want := range []string{
		`weir_http_requests_total{route="POST /v1/queues/{queue}/messages",status="201"} 1`,
		`weir_http_requests_total{route="POST /v1/queues/{queue}/groups/{group}/receive",status="404"} 1`,
		`weir_http_requests_total{route="none",status="404"} 1`,
		`weir_dispatch_requests_total{kind="send"} 1`,
		`weir_queue_messages{group="default",queue="q",state="waiting"} 2`,
		`weir_database_up 1`, `weir_queue_expiries{group="default",queue="q"} 0`, `weir_log_segments{log="main"} 1`,
		`weir_queue_delivered_rate{group="default",queue="q"} 0`, `weir_log_rotation_blocked{log="main"} 0`,
		`weir_queues 1`, `weir_queues_unshown 0`, `weir_db_pool_connections_max 4`, `weir_build_info{version="test"} 1`,
		`weir_http_requests_in_flight 1`, `process_resident_memory_bytes `,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, "secret") {
		t.Errorf("the metrics tell what users made up:\n%s", got)
	}
	if text := ask("GET", "/debug/pprof/", ""); !strings.Contains(text, "there is nothing at") {
		t.Errorf("profiles without being asked for: %s", text)
	}
}
