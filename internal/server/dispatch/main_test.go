package dispatch_test

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server/dispatch"
)

func TestMain(m *testing.M) {
	pgtest.Main(m)
}

// site is a dispatcher in front of a database with the queue q of one lane.
type site struct {
	*testing.T

	db     *pgtest.DB
	client *engine.Client
	drain  context.CancelFunc
	*dispatch.Dispatcher
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{T: t, db: pgtest.New(t, pgtest.Options{})}
	s.db.Exec(t, "select weir.create_queue('q')")
	s.start()
	return s
}

// start puts another dispatcher in front of the same database.
func (s *site) start() {
	client, err := engine.Open(s.Context(), s.db.DSN, engine.Options{MaxConns: 6})
	if err != nil {
		s.Fatal(err)
	}
	listener := engine.NewListener(client, nil)
	drain, stop := context.WithCancel(context.Background())
	d := dispatch.New(drain, client, listener, nil)
	s.Cleanup(func() {
		stop()
		d.Close()
		listener.Close()
		client.Close()
	})
	s.client, s.drain, s.Dispatcher = client, stop, d
}

// message is one to send.
func message(n int) []engine.Outgoing {
	return []engine.Outgoing{{Payload: json.RawMessage(strconv.Itoa(n))}}
}

// wantNoGoroutines fails the test when its goroutines outlive it. Such a test cannot be parallel.
func wantNoGoroutines(t *testing.T) {
	t.Helper()
	pgtest.New(t, pgtest.Options{}) // PostgreSQL runs from here on
	ignore := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		for end := time.Now().Add(time.Minute); ; { // they may take a moment to end
			left := goleak.Find(ignore)
			if left == nil {
				return
			}
			if time.Now().After(end) {
				t.Error(left)
				return
			}
		}
	})
}

// Send sends messages without options and returns their ids.
func (s *site) Send(queue string, batch []engine.Outgoing) ([]int64, error) {
	list, err := s.Dispatcher.Send(queue, batch, engine.SendOptions{})
	ids := make([]int64, len(list))
	for i, sent := range list {
		ids[i] = sent.ID
	}
	return ids, err
}
