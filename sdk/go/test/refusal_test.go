package test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
)

func TestConnectRefusesWhatIsNoDatabaseAndNoServer(t *testing.T) {
	t.Parallel()
	for _, target := range []string{
		"", " ", "redis://localhost", "htps://localhost", "postgresql+psycopg://weir@localhost/weir",
		"redis://localhost/?host=x", "localhost", "host", "host=localhost port=five", "http://",
	} {
		_, err := weir.Connect(t.Context(), target)
		if !errors.Is(err, weir.ErrInvalidArgument) || weir.Retryable(err) {
			t.Errorf("%q: %v", target, err)
		}
	}
	if _, err := weir.Connect(t.Context(), "redis://ann:secret@x"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("%v tells the password", err)
	}
}

// changed is a DSN that differs.
func changed(t *testing.T, dsn string, change func(*url.URL)) string {
	t.Helper()
	u := get(url.Parse(dsn))(t)
	change(u)
	return u.String()
}

// refusedWith runs a worker of a client and fails unless it ends with an error that no retry cures.
func refusedWith(t *testing.T, c *weir.Client, code string) {
	t.Helper()
	w := weir.NewWorker(c, "q", (&seen{jobs: map[int]int{}}).handle,
		weir.WorkerOptions{OnError: func(*weir.RawMessage, error) {}})
	ended := make(chan error, 1)
	go func() { ended <- w.Run(t.Context()) }()
	pgtest.WaitFor(t, "the worker to end", func() bool { return len(ended) > 0 })
	if err := <-ended; weir.Code(err) != code || weir.Retryable(err) {
		t.Errorf("it ended with %v, not %s", err, code)
	}
}

func TestAWorkerEndsWithWhatNoRetryCures(t *testing.T) {
	t.Parallel()
	db, _ := newClient(t)
	server := serve(t, db)
	looks := db.Role(t)
	db.Exec(t, "select weir.grant_produce('q', $1)", looks)
	for _, refused := range []struct{ name, dsn, code string }{
		{"wrong password", changed(t, db.TCP(), func(u *url.URL) { u.User = url.UserPassword("weir", "wrong") }), "28P01"},
		{"no such role", changed(t, db.TCP(), func(u *url.URL) { u.User = url.UserPassword("nobody", "x") }), "28P01"},
		{"no such database", changed(t, db.TCP(), func(u *url.URL) { u.Path = "/no-such" }), "3D000"},
		{"no right", db.Server.SocketDSN(looks, db.Name), "42501"},
	} {
		t.Run(refused.name, func(t *testing.T) {
			t.Parallel()
			pool := get(pgxpool.New(t.Context(), refused.dsn))(t)
			t.Cleanup(pool.Close)
			refusedWith(t, weir.New(pool), refused.code)
		})
	}
	t.Run("no TLS", func(t *testing.T) {
		t.Parallel()
		refusedWith(t, get(weir.NewHTTP(strings.Replace(server, "http:", "https:", 1), nil))(t), "08001")
	})
}

func TestAWorkerWaitsWhileThereAreTooManyConnections(t *testing.T) {
	t.Parallel()
	db, _ := newClient(t)
	role := db.Role(t)
	db.Super(t).Exec(t.Context(), "alter role "+role+" connection limit 0") //nolint:errcheck // the wait below tells
	pool := get(pgxpool.New(t.Context(), db.Server.SocketDSN(role, db.Name)))(t)
	t.Cleanup(pool.Close)
	w := weir.NewWorker(weir.New(pool), "q", (&seen{jobs: map[int]int{}}).handle,
		weir.WorkerOptions{OnError: func(*weir.RawMessage, error) {}})
	ended := make(chan error, 1)
	go func() { ended <- w.Run(t.Context()) }()
	pgtest.WaitFor(t, "the worker to be told", func() bool { return weir.Code(w.Health().Err) == "53300" })
	must(t, w.Stop(t.Context()))
	if err := <-ended; !weir.Retryable(err) {
		t.Errorf("one that could not begin ended with %v", err)
	}
}
