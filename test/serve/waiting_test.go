package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
)

// waiters are connections each of which waits for a message.
type waiters struct {
	*testing.T

	address string
	got     atomic.Int64 // messages
	ended   sync.WaitGroup
}

// wait opens a connection and asks for a message on it, again and again until one comes or the server ends.
func (w *waiters) wait(ctx context.Context) {
	var dialer net.Dialer
	c, err := dialer.DialContext(ctx, "tcp", w.address)
	if err != nil {
		w.Error(err)
		return
	}
	ask := func() error {
		const body = `{"wait_ms":60000}`
		_, err := fmt.Fprintf(c, "POST /v1/queues/q/groups/default/receive HTTP/1.1\r\nHost: localhost\r\n"+
			"Content-Length: %d\r\n\r\n%s", len(body), body)
		return err
	}
	if err := ask(); err != nil {
		w.Error(err)
	}
	w.ended.Go(func() {
		defer c.Close()
		answers := bufio.NewReaderSize(c, 512)
		for again := false; ; again = true {
			answer, err := http.ReadResponse(answers, nil)
			if err != nil {
				if !again { // else the server may have ended before it read the request
					w.Error(err)
				}
				return
			}
			text, err := io.ReadAll(answer.Body)
			answer.Body.Close()
			if err != nil || answer.StatusCode != http.StatusOK {
				w.Errorf("%s %s %v", answer.Status, text, err)
			}
			n := strings.Count(string(text), `"claim_id"`)
			w.got.Add(int64(n))
			if n > 0 || answer.Close || w.Failed() {
				return
			}
			_ = ask() // a slow machine needed long for all the others; what fails is seen when the answer is read
		}
	})
}

func TestTenThousandConnectionsWaitInBoundedMemoryAndEachMessageGoesToOneOfThem(t *testing.T) {
	t.Parallel()
	const connections, messages = 10_000, 200
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, "select weir.create_queue('q')")
	s := start(t, db)
	w := &waiters{T: t, address: strings.TrimPrefix(s.url, "http://")}
	for range connections {
		w.wait(t.Context())
	}
	pgtest.WaitFor(t, "all to wait", func() bool {
		return strings.Contains(s.metrics(), fmt.Sprintf("\nweir_dispatch_receivers %d\n", connections))
	})
	if n := s.residentMB(); n > 500 {
		t.Errorf("%d connections that wait take %d MB", connections, n)
	}
	// A connection takes two goroutines, one of them to notice that the client goes, and the waiting none besides.
	if n := s.metric("go_goroutines"); n > 2*connections+500 {
		t.Errorf("%.0f goroutines", n)
	}
	const sessions = "select count(*) from pg_stat_activity where datname = current_database()"
	if n := pgtest.QueryVal[int](t, db, sessions); n > 30 {
		t.Errorf("%d sessions", n)
	}
	db.Exec(t, "select weir.send_batch('q', array_agg(to_jsonb(i))) from generate_series(1, 200) i")
	pgtest.WaitFor(t, "the messages to be handed out", func() bool { return w.got.Load() == messages })
	if err := s.stop(syscall.SIGTERM); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	w.ended.Wait()
	if n := w.got.Load(); n != messages {
		t.Errorf("%d messages were handed out", n)
	}
}

// metric is the value of a metric without labels, 0 when it is not there.
func (s *server) metric(name string) (value float64) {
	s.Helper()
	_, rest, _ := strings.Cut(s.metrics(), "\n"+name+" ")
	if _, err := fmt.Sscan(rest, &value); err != nil {
		s.Errorf("metric %s: %v", name, err)
	}
	return value
}

// residentMB is how much memory the server takes.
func (s *server) residentMB() (mb int) {
	s.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	if _, err := fmt.Sscan(rest, &mb); err != nil {
		s.Fatal(err)
	}
	return mb / 1024
}

func TestAClientThatGoesWhileItWaitsTakesNoMessageWithIt(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	db.Exec(t, "select weir.create_queue('q')")
	s := start(t, db)
	for range 20 {
		ctx, leave := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			var out struct{ Messages []message }
			left <- s.post(ctx, "/groups/default/receive", `{"wait_ms":60000,"lease_ms":3000}`, &out)
		}()
		pgtest.WaitFor(t, "it to wait", func() bool { return s.metric("weir_dispatch_receivers") == 1 })
		var sent struct{ IDs []int64 }
		go leave() // just as the message comes
		if err := s.post(t.Context(), "/messages", `{"messages":[{"payload":"1"}]}`, &sent); err != nil {
			t.Fatal(err)
		}
		if <-left == nil {
			// It got the message after all.
			db.Exec(t, "select weir.purge('q')")
			continue
		}
		var out struct{ Messages []message }
		ask := func() bool {
			err := s.post(t.Context(), "/groups/default/receive", `{"wait_ms":1000,"lease_ms":3600000}`, &out)
			if err != nil {
				t.Error(err)
			}
			return len(out.Messages) > 0
		}
		pgtest.WaitFor(t, "the message to come back", ask)
		// It comes back at once, or when the lease is over where the answer was on its way already.
		if m := out.Messages[0]; m.ID != sent.IDs[0] || m.Attempt > 2 {
			t.Errorf("the next client got %+v", m)
		}
		db.Exec(t, "select weir.ack_all('q', $1)", out.Messages[0].ClaimID)
	}
	if err := s.stop(syscall.SIGTERM); err != nil {
		t.Errorf("the server ended with %v", err)
	}
	if n := pgtest.QueryVal[int](t, db, "select count(*) from weir.dead_letters('q', 'default')"); n > 0 {
		t.Errorf("%d dead letters", n)
	}
}
