package test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
	"github.com/weirmq/weir/sdk/go/weirtest"
)

func TestAUsersTestHasADatabaseAndATimeOfItsOwn(t *testing.T) { //nolint:tparallel // the subtests have to end within it
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	super := db.Super(t)
	_, err := super.Exec(t.Context(), "alter role "+pgtest.Owner+" createdb")
	must(t, err)
	must(t, super.Close(t.Context()))
	setUp := get(pgxpool.New(t.Context(), db.DSN))(t)
	newQueue(t, weir.New(setUp), "q", weir.QueueOptions{})
	setUp.Close()

	var names []string
	t.Run("user", func(t *testing.T) {
		for range 2 {
			pool := weirtest.Database(t, db.DSN)
			names = append(names, pool.Config().ConnConfig.Database)
			c := weir.New(pool)
			t.Cleanup(c.Close)
			get(c.Send(t.Context(), "q", job{1}))(t)
			weirtest.RequireSent(t, c, "q", job{1})
			if sent := weirtest.Sent[job](t, c, "q"); len(sent) != 1 {
				t.Errorf("sent %v", sent)
			}
			handled := weirtest.Work(t, c, "q", func(ctx context.Context, m *weir.Message[job]) error {
				if m.Payload.N == 3 {
					return nil
				}
				_, err := c.Send(ctx, "q", job{m.Payload.N + 1})
				return err
			})
			if handled != 3 || len(weirtest.Sent[job](t, c, "q")) != 0 {
				t.Errorf("handled %d", handled)
			}
		}
	})
	t.Run("time", func(t *testing.T) {
		pool := weirtest.Database(t, db.DSN)
		c := weir.New(pool)
		t.Cleanup(c.Close)
		get(c.Send(t.Context(), "q", job{1}, weir.Delay(2*time.Hour)))(t)
		weirtest.Advance(t, pool, time.Hour)
		if got := get(c.Receive(t.Context(), "q"))(t); len(got) != 0 {
			t.Error("it came an hour too early")
		}
		weirtest.Advance(t, pool, time.Hour)
		if got := get(c.Receive(t.Context(), "q", weir.Lease(time.Hour)))(t); len(got) != 1 {
			t.Error("it did not come when it was due")
		}
		weirtest.Advance(t, pool, time.Hour)
		if got := get(c.Receive(t.Context(), "q"))(t); len(got) != 1 || got[0].Attempt != 2 {
			t.Errorf("when its lease had ended it came as %v", got)
		}
	})
	if n := pgtest.QueryVal[int](t, db, "select count(*)::int from pg_database where datname = any($1)", names); n != 0 {
		t.Errorf("%d of %v are left", n, names)
	}
}
