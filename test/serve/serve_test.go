// Package serve_test runs `weir serve` as a program, several against one database, and ends them in every way: what was
// acknowledged to a producer is never lost, and what comes twice does so only after its lease.
package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// build makes the program once.
var build = sync.OnceValues(func() (string, error) {
	dir, err := pgtest.ProgramDir()
	if err != nil {
		return "", err
	}
	program := filepath.Join(dir, "weir")
	out, err := exec.Command("go", "build", "-o", program, "github.com/weirmq/weir/cmd/weir").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("build program: %w: %s", err, out)
	}
	return program, err
})

// server is a running `weir serve`.
type server struct {
	*testing.T

	cmd    *exec.Cmd
	url    string
	client *http.Client
	ended  chan error
}

func start(t *testing.T, db *pgtest.DB) *server {
	t.Helper()
	program, err := build()
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	s := &server{T: t, ended: make(chan error, 1), client: &http.Client{Transport: transport}}
	s.cmd = exec.CommandContext(t.Context(), program, "serve", "--direct", "--listen", "127.0.0.1:0", "--dsn", db.DSN)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(stderr)
	line, err := lines.ReadString('\n')
	if err != nil {
		t.Fatalf("the server did not start: %v %s", err, line)
	}
	_, address, _ := strings.Cut(strings.TrimSpace(line), "http://")
	s.url = "http://" + address
	go func() {
		_, _ = io.Copy(io.Discard, lines) // until the process ends
		s.ended <- s.cmd.Wait()
	}()
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		_ = s.cmd.Process.Kill() // of most tests it has ended by then
	})
	return s
}

// stop ends the server by a signal and returns what it ended with.
func (s *server) stop(signal os.Signal) error {
	s.Helper()
	if err := s.cmd.Process.Signal(signal); err != nil {
		s.Fatal(err)
	}
	return <-s.ended
}

// post sends a request; an error means that the server is gone or going.
func (s *server) post(ctx context.Context, path, body string, into any) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/queues/q"+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	response, err := s.client.Do(r)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("%s: %s", response.Status, text)
	}
	return json.NewDecoder(bytes.NewReader(text)).Decode(into)
}

type message struct {
	ID      int64
	ClaimID int64 `json:"claim_id"`
	Attempt int
	Payload string
}

// ledger is what the clients of all servers know.
type ledger struct {
	mu    sync.Mutex
	sent  map[string]bool  // payloads whose send was confirmed
	acked map[string]int   // payloads, how often their ack was confirmed
	early []string         // payloads that came again before the lease of an earlier delivery was over
	until map[string]int64 // payloads, the end of the latest lease in Unix milliseconds
}

func newLedger() *ledger {
	return &ledger{sent: map[string]bool{}, acked: map[string]int{}, until: map[string]int64{}}
}

func (l *ledger) note(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
}

// produce sends until ctx ends or the server does.
func (l *ledger) produce(ctx context.Context, s *server, name string) {
	for i := 0; ctx.Err() == nil; i++ {
		payload := fmt.Sprintf("%s-%d", name, i)
		var out struct{ IDs []int64 }
		if s.post(ctx, "/messages", fmt.Sprintf(`{"messages":[{"payload":%q}]}`, payload), &out) != nil {
			return
		}
		l.note(func() { l.sent[payload] = true })
	}
}

// consume receives and acknowledges until ctx ends or the server does. A lease begins before the server gets the
// request, as far as the ledger is concerned.
func (l *ledger) consume(ctx context.Context, s *server, lease time.Duration) {
	for ctx.Err() == nil {
		var out struct{ Messages []message }
		asked := time.Now()
		body := fmt.Sprintf(`{"max":3,"wait_ms":1000,"lease_ms":%d}`, lease.Milliseconds())
		if s.post(ctx, "/groups/default/receive", body, &out) != nil {
			return
		}
		for _, m := range out.Messages {
			l.note(func() {
				if l.acked[m.Payload] > 0 || time.Now().UnixMilli() < l.until[m.Payload] {
					l.early = append(l.early, m.Payload)
				}
				l.until[m.Payload] = asked.Add(lease).UnixMilli()
			})
		}
		for _, m := range out.Messages {
			var done struct{ Acks []struct{ Finished int } }
			body := fmt.Sprintf(`{"acks":[{"claim_id":%d,"ids":[%d]}]}`, m.ClaimID, m.ID)
			if s.post(ctx, "/groups/default/ack", body, &done) != nil {
				return
			}
			l.note(func() { l.acked[m.Payload] += done.Acks[0].Finished })
		}
	}
}

// complete reports whether everything that was sent is finished.
func complete(t *testing.T, db *pgtest.DB) func() bool {
	return func() bool {
		return pgtest.QueryVal[bool](t, db, `select bool_and(waiting + claimed + delayed = 0) from weir.stats('q')`)
	}
}

func TestAServerThatIsKilledUnderLoadLosesNothingAndRepeatsNothingBeforeItsLease(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, "select weir.create_queue('q')")
	stays, dies := start(t, db), start(t, db)
	l := newLedger()
	producing, enough := context.WithCancel(t.Context())
	consuming, over := context.WithCancel(t.Context())
	const lease = 15 * time.Second
	var producers, consumers sync.WaitGroup
	for i, s := range []*server{stays, dies} {
		for j := range 4 {
			producers.Go(func() { l.produce(producing, s, fmt.Sprintf("%d-%d", i, j)) })
			consumers.Go(func() { l.consume(consuming, s, lease) })
		}
	}
	acked := func() (n int) {
		l.note(func() { n = len(l.acked) })
		return n
	}
	pgtest.WaitFor(t, "traffic", func() bool { return acked() > 200 })
	if err := dies.stop(syscall.SIGKILL); err == nil {
		t.Error("the server survived")
	}
	before := acked()
	pgtest.WaitFor(t, "traffic of the other server", func() bool { return acked() > before+100 })
	enough()
	producers.Wait()
	pgtest.WaitFor(t, "the queue to be empty", complete(t, db))
	over()
	consumers.Wait()
	// What was sent and not confirmed, or acknowledged and not confirmed, may be either way; all else is known.
	if len(l.early) > 0 {
		t.Errorf("%d messages came again before their lease was over: %v", len(l.early), l.early[:min(5, len(l.early))])
	}
	for payload, n := range l.acked {
		if n > 1 {
			t.Errorf("%s was finished %d times", payload, n)
		}
	}
	lost := 0
	for payload := range l.sent {
		if l.until[payload] == 0 {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d confirmed messages never came", lost, len(l.sent))
	}
	if dead := pgtest.QueryVal[int](t, db, "select count(*) from weir.dead_letters('q', 'default')"); dead > 0 {
		t.Errorf("%d dead letters", dead)
	}
	if err := stays.stop(syscall.SIGTERM); err != nil {
		t.Errorf("the other server ended with %v", err)
	}
}

func TestAServerThatIsAskedToStopAnswersEverybodyAndKeepsNothing(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, "select weir.create_queue('q'), weir.create_queue('idle')")
	s := start(t, db)
	l := newLedger()
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() { l.produce(t.Context(), s, strconv.Itoa(i)) })
		clients.Go(func() { l.consume(t.Context(), s, time.Hour) })
	}
	waited := make(chan error, 50)
	for range cap(waited) {
		go func() {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
				s.url+"/v1/queues/idle/groups/default/receive", strings.NewReader(`{"wait_ms":60000}`))
			if err != nil {
				waited <- err
				return
			}
			response, err := s.client.Do(r)
			if err == nil {
				_, err = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
			waited <- err
		}()
	}
	pgtest.WaitFor(t, "traffic and waiting", func() bool {
		acked := 0
		l.note(func() { acked = len(l.acked) })
		return acked > 100 && s.metric("weir_dispatch_receivers") >= float64(cap(waited))
	})
	if err := s.stop(syscall.SIGTERM); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	for range cap(waited) {
		if err := <-waited; err != nil {
			t.Errorf("a receive that waited: %v", err)
		}
	}
	clients.Wait()
	// What a consumer got and could not acknowledge is claimed; nothing else is.
	claimed := pgtest.QueryVal[int64](t, db, "select sum(claimed)::bigint from weir.stats('q')")
	if held := int64(len(l.until) - len(l.acked)); claimed > held {
		t.Errorf("%d messages are claimed, and consumers hold %d", claimed, held)
	}
}

// metrics returns what /metrics shows, or nothing.
func (s *server) metrics() string {
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.url+"/metrics", nil)
	if err != nil {
		s.Fatal(err)
	}
	response, err := s.client.Do(r)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return ""
	}
	return string(text)
}
