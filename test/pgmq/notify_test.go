package pgmq_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/pgtest"
)

// heard returns the channels of the notifications that came before one that is made now.
func heard(t *testing.T, listener *pgx.Conn) (channels []string) {
	t.Helper()
	if _, err := listener.Exec(t.Context(), "select pg_notify('mark', '')"); err != nil {
		t.Fatal(err)
	}
	for {
		n, err := listener.WaitForNotification(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if n.Channel == "mark" {
			return channels
		}
		channels = append(channels, n.Channel+n.Payload)
	}
}

func TestWhoListensIsToldOfMessagesAsOftenAsTheThrottleAllows(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := newFace(t, major)
		listener := db.Conn(t)
		for _, statement := range []string{
			`listen "pgmq.q_q.INSERT"`, "listen mark", "select pgmq.create('q')", "select pgmq.create('silent')",
		} {
			if _, err := listener.Exec(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		expect := func(n int, what string) {
			t.Helper()
			got := heard(t, listener)
			if len(got) != n || n > 0 && got[0] != "pgmq.q_q.INSERT" {
				t.Errorf("%s: heard %q, want %d", what, got, n)
			}
		}
		db.Exec(t, "select pgmq.send('q', '1')")
		expect(0, "before it was enabled")
		db.Exec(t, "select pgmq.enable_notify_insert('q', 0)")
		db.Exec(t, "select pgmq.send('q', '1')")
		db.Exec(t, "select pgmq.send_batch('q', array['1', '2']::jsonb[])")
		db.Exec(t, "select pgmq.send('q', '1', 1000)")
		db.Exec(t, "select pgmq.send('silent', '1')")
		expect(3, "without a throttle")
		db.Exec(t, "select pgmq.enable_notify_insert('q', 3600000)")
		db.Exec(t, "select pgmq.send('q', '1')")
		db.Exec(t, "select pgmq.send('q', '1')")
		expect(1, "with a throttle of an hour")
		db.Exec(t, "select pgmq.disable_notify_insert('q')")
		db.Exec(t, "select pgmq.send('q', '1')")
		expect(0, "after it was disabled")
	})
}

func TestASenderThatStaysInItsTransactionKeepsNobodyFromNotifying(t *testing.T) {
	t.Parallel()
	db := newFace(t, 0)
	db.Exec(t, "select pgmq.create('q')")
	db.Exec(t, "select pgmq.enable_notify_insert('q', 0)")
	held := begin(t, db.Conn(t))
	defer held.Rollback(context.WithoutCancel(t.Context())) //nolint:errcheck // nothing is left to say
	value[int64](t, held, "select * from pgmq.send('q', '1')")
	listener := db.Conn(t)
	for _, statement := range []string{`listen "pgmq.q_q.INSERT"`, "listen mark"} {
		if _, err := listener.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := db.Conn(t).Exec(ctx, "select pgmq.send('q', '2')"); errors.Is(err, context.DeadlineExceeded) {
		t.Fatal("a send waits for the one whose transaction is open")
	} else if err != nil {
		t.Fatal(err)
	}
	if got := heard(t, listener); len(got) != 1 {
		t.Errorf("heard %q", got)
	}
}

func TestSendersNeitherWaitForNorFailByWhoSwitchesNotificationsOffOrOn(t *testing.T) {
	t.Parallel()
	db := newFace(t, 0)
	db.Exec(t, "select pgmq.create('q')")
	db.Exec(t, "select pgmq.enable_notify_insert('q', 0)")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, call := range []string{"select pgmq.disable_notify_insert('q')", "select pgmq.enable_notify_insert('q', 0)"} {
		held := begin(t, db.Conn(t))
		if _, err := held.Exec(t.Context(), call); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Conn(t).Exec(ctx, "select pgmq.send('q', '1')"); err != nil {
			t.Errorf("a send while %s is not committed: %v", call, err)
		}
		if err := held.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		sender := begin(t, db.Conn(t))
		value[int64](t, sender, "select * from pgmq.send('q', '1')")
		if _, err := db.Conn(t).Exec(ctx, call); err != nil {
			t.Errorf("%s while a send is not committed: %v", call, err)
		}
		if err := sender.Commit(t.Context()); err != nil {
			t.Errorf("a send that began before %s: %v", call, err)
		}
	}
}

func TestAMessageWithHeadersGoesToATopic(t *testing.T) {
	t.Parallel()
	db := newFace(t, 0)
	db.Exec(t, "select pgmq.create('q')")
	db.Exec(t, "select pgmq.bind_topic('a.*', 'q')")
	sent := pgtest.QueryVal[int](t, db,
		"select pgmq.send_topic(routing_key => 'a.b', msg => '1'::jsonb, headers => '{\"h\": 1}'::jsonb)")
	if h := pgtest.QueryVal[string](t, db, "select headers ->> 'h' from pgmq.read('q', 1, 1)"); sent != 1 || h != "1" {
		t.Errorf("sent to %d queues with the header %s", sent, h)
	}
}
