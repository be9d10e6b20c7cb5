package api_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server/api"
)

func TestMain(m *testing.M) {
	pgtest.Main(m)
}

// site is a server in front of a database of its own.
type site struct {
	*testing.T

	db     *pgtest.DB
	client *engine.Client
	url    string
	drain  context.CancelFunc

	running atomic.Int32 // requests
}

// newSite starts a server in front of a database with the queue q of one lane.
func newSite(t *testing.T, major int) *site {
	t.Helper()
	s := &site{T: t, db: pgtest.New(t, pgtest.Options{Major: major})}
	client, err := engine.Open(t.Context(), s.db.DSN, engine.Options{MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	listener := engine.NewListener(client, nil)
	t.Cleanup(listener.Close)
	drain, stop := context.WithCancel(t.Context())
	s.drain = stop
	handler := api.New(client, api.Options{Version: "test", Listener: listener, Drain: drain})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.running.Add(1)
		defer s.running.Add(-1)
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s.client, s.url = client, server.URL
	s.want(http.StatusCreated, "PUT", "/v1/queues/q", `{"lanes":1}`)
	return s
}

// send makes a request and returns status and body.
func (s *site) send(method, path, body string) (int, string) {
	s.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, content)
	if err != nil {
		s.Fatal(err)
	}
	return s.do(r)
}

// do makes a request and returns status and body.
func (s *site) do(r *http.Request) (int, string) {
	s.Helper()
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatal(err)
	}
	return response.StatusCode, strings.TrimSpace(string(text))
}

// want makes a request that must end with a status, and returns the body.
func (s *site) want(status int, method, path, body string) string {
	s.Helper()
	got, text := s.send(method, path, body)
	if got != status {
		s.Fatalf("%s %s %s: status %d, want %d: %s", method, path, body, got, status, text)
	}
	return text
}

const group = "/v1/queues/q/groups/default"

// receive claims up to 10 messages.
func (s *site) receive() []engine.Message {
	s.Helper()
	text := s.want(http.StatusOK, "POST", group+"/receive", `{"max":10}`)
	return decode[struct{ Messages []engine.Message }](s, text).Messages
}

// receiveByID is receive in the order of the ids: between messages with and without a key the queue has no order.
func (s *site) receiveByID() []engine.Message {
	s.Helper()
	list := s.receive()
	slices.SortFunc(list, func(a, b engine.Message) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// decode reads a body.
func decode[B any](s *site, text string) B {
	s.Helper()
	var body B
	if err := json.Unmarshal([]byte(text), &body); err != nil {
		s.Fatalf("%v: %s", err, text)
	}
	return body
}
