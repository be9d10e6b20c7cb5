package test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
)

// Whether the claim of a message has a later deadline than it was made with, and whether it is long past its deadline.
const (
	extended = `select exists (select from weir.claims('q')
		where first_id = $1 and deadline > claimed_at + '12 s'::interval)`
	ended = `select exists (select from weir.claims('q')
		where first_id = $1 and deadline < clock_timestamp() - '2 s'::interval)`
)

// TestAHandlersOwnTransactionMayOutlastTheLease has another handler beside it, whose claim must be renewed as ever.
func TestAHandlersOwnTransactionMayOutlastTheLease(t *testing.T) {
	t.Parallel()
	db, c := newClient(t)
	db.Exec(t, "create table done (n int primary key)")
	begun, finish := make(chan int, 10), make(chan struct{})
	work := func(ctx context.Context, n int) error {
		begun <- n
		select {
		case <-finish:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	w := weir.NewWorker(c, "q", func(ctx context.Context, m *weir.Message[job]) error {
		if m.Payload.N == 2 {
			return work(ctx, 2)
		}
		return m.ExactlyOnce(ctx, func(tx pgx.Tx) error {
			if err := work(ctx, 1); err != nil {
				return err
			}
			_, err := tx.Exec(ctx, "insert into done values ($1)", m.Payload.N)
			return err
		})
	}, weir.WorkerOptions{
		Lease: 10 * time.Second, OnError: func(m *weir.RawMessage, err error) { t.Errorf("%v: %v", m, err) },
	})
	start(t, w)
	own := get(c.Send(t.Context(), "q", job{1}))(t)
	<-begun
	other := get(c.Send(t.Context(), "q", job{2}))(t)
	<-begun
	pgtest.WaitFor(t, "the lease to end", func() bool { return pgtest.QueryVal[bool](t, db, ended, own) })
	pgtest.WaitFor(t, "the other to be renewed", func() bool { return pgtest.QueryVal[bool](t, db, extended, other) })
	if got := get(c.Receive(t.Context(), "q", weir.Max(10)))(t); len(got) > 0 {
		t.Errorf("another consumer received %v", got[0])
	}
	close(finish)
	idle(t, c, "default")
	pgtest.WaitFor(t, "the worker to be rid of both", func() bool { return w.Health().Held == 0 })
	if n := pgtest.QueryVal[int](t, db, "select count(*)::int from done"); n != 1 || len(begun) > 0 {
		t.Errorf("%d rows, %d handlers began again", n, len(begun))
	}
}

func TestHandlersThatUseUpThePoolDoNotKeepTheWorkerFromRenewing(t *testing.T) {
	t.Parallel()
	db, _ := newClient(t)
	cfg, err := pgxpool.ParseConfig(db.DSN)
	must(t, err)
	cfg.MaxConns = 1
	pool := get(pgxpool.NewWithConfig(t.Context(), cfg))(t)
	t.Cleanup(pool.Close)
	c := weir.New(pool)
	t.Cleanup(c.Close)
	begun, finish := make(chan struct{}, 10), make(chan struct{})
	w := weir.NewWorker(c, "q", func(ctx context.Context, _ *weir.RawMessage) error {
		conn, err := pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer conn.Release()
		begun <- struct{}{}
		select {
		case <-finish:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}, weir.WorkerOptions{
		Lease: 10 * time.Second, OnError: func(m *weir.RawMessage, err error) { t.Errorf("%v: %v", m, err) },
	})
	start(t, w)
	sent := pgtest.QueryVal[int64](t, db, "select weir.send('q', '{}')")
	<-begun
	pgtest.WaitFor(t, "the lease to be renewed", func() bool { return pgtest.QueryVal[bool](t, db, extended, sent) })
	close(finish)
	pgtest.WaitFor(t, "the message to be done", func() bool { return w.Health().Held == 0 })
	if len(begun) > 0 {
		t.Error("it was delivered twice")
	}
}

func TestAClaimThatIsAckedWhileItIsRenewedIsNotLost(t *testing.T) {
	t.Parallel()
	db, _ := newClient(t)
	target := get(url.Parse(serve(t, db)))(t)
	refused := make(chan struct{}, 100)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		switch {
		case strings.HasSuffix(r.Request.URL.Path, "/ack"): // it is done, but the worker is not told
			for range 2 { // so that the worker knows of the first refusal
				select {
				case <-refused:
				case <-r.Request.Context().Done():
				}
			}
		case strings.HasSuffix(r.Request.URL.Path, "/extend") && r.StatusCode >= http.StatusBadRequest:
			refused <- struct{}{}
		}
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	c := connect(t, server.URL)
	get(c.Send(t.Context(), "q", 1))(t)
	handled := make(chan struct{}, 10)
	w := weir.NewWorker(c, "q", func(context.Context, *weir.RawMessage) error { handled <- struct{}{}; return nil },
		weir.WorkerOptions{
			Lease: 10 * time.Second, OnError: func(m *weir.RawMessage, err error) { t.Errorf("%v: %v", m, err) },
		})
	start(t, w)
	<-handled
	pgtest.WaitFor(t, "the message to be settled", func() bool { return w.Health().Held == 0 })
	if len(handled) > 0 {
		t.Error("it was delivered twice")
	}
}
