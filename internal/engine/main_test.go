package engine_test

import (
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
)

func TestMain(m *testing.M) {
	pgtest.Main(m)
}

// open returns a client as a program gets it.
func open(t *testing.T, db *pgtest.DB) *engine.Client {
	t.Helper()
	client, err := engine.Open(t.Context(), db.DSN, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// newQueue makes a database with the queue q.
func newQueue(t *testing.T, major int) (*pgtest.DB, *engine.Client) {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{Major: major})
	client := open(t, db)
	get[bool](t)(client.CreateQueue(t.Context(), "q", engine.QueueOptions{}))
	return db, client
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// get is must for a call that also returns a value.
func get[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		must(t, err)
		return v
	}
}

func ptr[T any](v T) *T { return &v }

func millis(d time.Duration) *engine.Millis { return ptr(engine.Millis(d)) }
