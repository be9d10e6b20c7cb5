package api_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server/api"
)

// follow opens the event stream of the group default; next reads one event, "" at the end.
func (s *site) follow(ctx context.Context) (next func() (event, data string)) {
	s.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+group+"/events?max=2", http.NoBody)
	if err != nil {
		s.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = response.Body.Close() })
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		s.Fatalf("%s, %s", response.Status, kind)
	}
	lines := bufio.NewScanner(response.Body)
	return func() (event, data string) {
		for lines.Scan() {
			name, value, _ := strings.Cut(lines.Text(), ": ")
			switch {
			case name == "event":
				event = value
			case name == "data":
				data = value
			case name == "" && event != "" && value == "":
				return event, data
			}
		}
		return "", ""
	}
}

func TestAnEventStreamWritesWhatIsThereAndWhatComesAndFinishesIt(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", `{"messages":[{"payload":1},{"payload":2},{"payload":3}]}`)
	next := s.follow(t.Context())
	for _, payload := range []string{"1", "2", "3"} {
		event, data := next()
		if m := decode[engine.Message](s, data); event != "message" || string(m.Payload) != payload || m.Attempt != 1 {
			t.Errorf("event %s: %s, want payload %s", event, data, payload)
		}
	}
	s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", `{"messages":[{"payload":4}]}`)
	if event, data := next(); event != "message" || string(decode[engine.Message](s, data).Payload) != "4" {
		t.Errorf("event %s: %s", event, data)
	}
	pgtest.WaitFor(t, "the acks", func() bool {
		stats, err := s.client.Stats(t.Context(), "q")
		return err == nil && stats[0].Waiting+stats[0].Claimed == 0
	})
	s.drain()
	if event, data := next(); event != "" {
		t.Errorf("after the drain: %s %s", event, data)
	}
}

func TestAnEventStreamEndsWithAProblemWhenItsGroupIsDropped(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	next := s.follow(t.Context())
	s.want(http.StatusNoContent, "DELETE", group, "")
	event, data := next()
	if p := decode[api.Problem](s, data); event != "problem" || p.SQLState != "WR003" {
		t.Errorf("event %s: %s", event, data)
	}
}

func TestAMessageThatNoClientIsThereToReadIsNotFinished(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	ctx, leave := context.WithCancel(t.Context())
	s.follow(ctx)
	leave()
	pgtest.WaitFor(t, "the end of the stream", func() bool { return s.running.Load() == 0 })
	s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", `{"messages":[{"payload":1}]}`)
	if list := s.receive(); len(list) != 1 {
		t.Errorf("received %+v", list)
	}
}
