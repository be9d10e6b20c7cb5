package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server"
)

// answer is what a request got.
type answer struct {
	status int
	header http.Header
	text   string
}

// ask makes a request.
func ask(t *testing.T, method, url, body string, header http.Header) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		r.Header[name] = values
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(text)}
}

// lines reads what was logged as JSON.
func (l *logged) lines(t *testing.T) []map[string]any {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []map[string]any
	lines := bufio.NewScanner(strings.NewReader(l.text.String()))
	for lines.Scan() {
		var line map[string]any
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		list = append(list, line)
	}
	return list
}

func TestRequestsAreLoggedWithTheirIDsAndWithoutWhatTheyCarry(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, "select weir.create_queue('q')")
	log := &logged{}
	url, stop := serveWith(t, db, server.Options{
		Log: slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	own := http.Header{"X-Request-Id": {"order-17"}, "Authorization": {"Bearer secret"}}
	got := ask(t, "POST", url+"/v1/queues/q/messages?secret=1", `{"messages":[{"payload":"secret","key":"secret"}]}`, own)
	if id := got.header.Get("X-Request-Id"); id != "order-17" {
		t.Errorf("the client's id came back as %q", id)
	}
	forged := http.Header{"X-Request-Id": {"a b=c"}}
	made := ask(t, "GET", url+"/v1/queues", "", forged).header.Get("X-Request-Id")
	if len(made) != 16 {
		t.Errorf("instead of an id that is none came %q", made)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	seen := map[string]map[string]any{}
	for _, line := range log.lines(t) {
		if line["msg"] == "request" {
			seen[line["request_id"].(string)] = line //nolint:errcheck // a panic fails the test, too
		}
	}
	if line := seen["order-17"]; line["route"] != "POST /v1/queues/{queue}/messages" || line["status"] != 400.0 ||
		line["path"] != "/v1/queues/q/messages" || line["ms"] == nil {
		t.Errorf("logged %v", line)
	}
	if line := seen[made]; line["route"] != "GET /v1/queues" || line["status"] != 200.0 {
		t.Errorf("logged %v", line)
	}
	if log.count("secret") > 0 {
		t.Errorf("the log tells what requests carry: %s", log.text.String())
	}
}

func TestAnAnswerSaysHowLongItTook(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	url, _ := serveWith(t, db, quiet)
	for _, path := range []string{"/v1/queues", "/v1/queues/missing", "/"} {
		timing := ask(t, "GET", url+path, "", nil).header.Get("Server-Timing")
		if took, err := strconv.ParseFloat(strings.TrimPrefix(timing, "total;dur="), 64); err != nil || took < 0 {
			t.Errorf("%s says %q", path, timing)
		}
	}
}

func TestAServerThatFailsLogsWhichRequestItWas(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, `create or replace function weir.version() returns text language plpgsql as
		$$ begin raise exception 'out of order' using errcode = 'XX000'; end $$`)
	log := &logged{}
	url, _ := serveWith(t, db, server.Options{Log: slog.New(slog.NewJSONHandler(log, nil))})
	got := ask(t, "GET", url+"/v1/version", "", http.Header{"X-Request-Id": {"v-1"}})
	if got.status != http.StatusInternalServerError {
		t.Fatalf("%d %s", got.status, got.text)
	}
	for _, line := range log.lines(t) {
		if line["request_id"] == "v-1" && line["level"] == "ERROR" {
			return
		}
	}
	t.Errorf("no error of request v-1 in %s", log.text.String())
}

func TestAServerToldToStopSaysSoBeforeItStopsToListen(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, "select weir.create_queue('q')")
	client, err := engine.Open(t.Context(), db.DSN, engine.Options{MaxConns: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	listener, err := server.Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String()
	ctx, tell := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.New(client, server.Options{DrainDelay: time.Hour}).Serve(ctx, listener) }()
	if got := ask(t, "GET", url+"/readyz", "", nil); got.status != http.StatusOK {
		t.Fatalf("before: %d %s", got.status, got.text)
	}
	tell()
	pgtest.WaitFor(t, "the server to be not ready", func() bool {
		return ask(t, "GET", url+"/readyz", "", nil).status == http.StatusServiceUnavailable
	})
	got := ask(t, "POST", url+"/v1/queues/q/messages", `{"messages":[{"payload":1}]}`, nil)
	if got.status != http.StatusCreated {
		t.Errorf("a send while it drains: %d %s", got.status, got.text)
	}
	select {
	case err := <-ended:
		t.Errorf("it stopped before the drain delay was over: %v", err)
	default:
	}
	_ = listener.Close() // nobody waits for an hour
	if err := <-ended; err == nil {
		t.Error("a server that cannot listen any more ended well")
	}
}

func TestQueuesBeyondTheLimitAreSummedAndCountersOnlyRise(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	const queues = 5
	for i := range queues {
		db.Exec(t, "select weir.create_queue($1)", "q"+strconv.Itoa(i))
		db.Exec(t, "select weir.send_batch($1, array_fill('1'::jsonb, array[$2::int]))", "q"+strconv.Itoa(i), i+1)
	}
	shown := func(t *testing.T, limit int) string {
		t.Helper()
		url, _ := serveWith(t, db, server.Options{MetricsGroups: limit})
		return ask(t, "GET", url+"/metrics", "", nil).text
	}
	got := shown(t, 2)
	for _, want := range []string{
		`weir_queue_messages{group="default",queue="q0",state="waiting"} 1`,
		`weir_queue_messages{group="default",queue="q1",state="waiting"} 2`,
		`weir_queue_messages{group="(rest)",queue="(rest)",state="waiting"} 12`,
		`weir_queue_sent_rate{queue="(rest)"} 0.2`, `weir_queues 5`, `weir_queues_unshown 3`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	if strings.Contains(got, `queue="q2"`) {
		t.Errorf("a queue beyond the limit is shown:\n%s", got)
	}
	if got := shown(t, queues); strings.Contains(got, `"(rest)"`) || !strings.Contains(got, `queue="q4"`) {
		t.Errorf("with room for all:\n%s", got)
	}
}

// quiet are the options of a server that logs nothing.
var quiet = server.Options{Version: "test"}
