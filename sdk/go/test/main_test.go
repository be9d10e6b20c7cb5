package test

import (
	"context"
	"testing"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server"
	weir "github.com/weirmq/weir/sdk/go"
)

func TestMain(m *testing.M) {
	pgtest.SetInstaller(migrate.Install)
	runChild() // in the processes that tests start
	pgtest.Main(m)
}

// connect opens a client as a program does.
func connect(t *testing.T, target string, opts ...weir.ConnectOption) *weir.Client {
	t.Helper()
	client, err := weir.Connect(t.Context(), target, opts...)
	must(t, err)
	t.Cleanup(client.Close)
	return client
}

// newClient makes a database with the queue q.
func newClient(t *testing.T) (*pgtest.DB, *weir.Client) {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{})
	client := connect(t, db.DSN)
	newQueue(t, client, "q", weir.QueueOptions{})
	return db, client
}

// newQueue makes a queue that is not there.
func newQueue(t *testing.T, client *weir.Client, queue string, o weir.QueueOptions) {
	t.Helper()
	if !get(client.CreateQueue(t.Context(), queue, o))(t) {
		t.Fatalf("the queue %s was there", queue)
	}
}

// serve starts a server in front of a database and returns its URL.
func serve(t *testing.T, db *pgtest.DB) string {
	t.Helper()
	return serveWith(t, db, server.Options{})
}

// serveWith is serve with options, such as that callers must have a token.
func serveWith(t *testing.T, db *pgtest.DB, opt server.Options) string {
	t.Helper()
	client, err := engine.Open(t.Context(), db.DSN, engine.Options{MaxConns: 8})
	must(t, err)
	t.Cleanup(client.Close)
	at, err := server.Listen(t.Context(), "127.0.0.1:0")
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	opt.Version = "test"
	go func() { ended <- server.New(client, opt).Serve(ctx, at) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "http://" + at.Addr().String()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// get is must for a call that also returns a value.
func get[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		must(t, err)
		return v
	}
}
