package pause_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/weirmq/weir/test/surface"
)

// What uses the queue takes its locks in another order than the drop does.
func TestAQueueInUseIsDroppedWithoutADeadlock(t *testing.T) {
	each(t, "2", func(b bench) {
		for range 5 {
			b.send(10)
			var users sync.WaitGroup
			begun := make(chan struct{}, 8)
			for i := range cap(begun) {
				conn := b.db.Conn(b)
				users.Go(func() { b.useUntilGone(conn, i%2 == 0, begun) })
			}
			for range cap(begun) {
				<-begun
			}
			b.exec("select weir.drop_queue($1)", queue)
			users.Wait()
			b.wantCount(0, "select count(*) from weir.list_queues()")
			b.wantCount(0, "select count(*) from pg_class where relname ~ '^q\\d+_'")
			b.exec("select weir.create_queue($1, lanes => 2)", queue)
		}
	})
}

func TestAQueueIsMadeAndDroppedWithoutANotice(t *testing.T) {
	each(t, "2", func(b bench) {
		config := b.db.Conn(b).Config()
		config.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) { b.Errorf("%s: %s", n.Severity, n.Message) }
		conn, err := pgx.ConnectConfig(b.Context(), config)
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close(b.Context()) //nolint:errcheck // nothing is left to say
		for _, sql := range []string{"select weir.create_queue('quiet')", "select weir.drop_queue('quiet')"} {
			if _, err := conn.Exec(b.Context(), sql); err != nil {
				b.Error(err)
			}
		}
	})
}

// useUntilGone sends or consumes until the queue is gone, and tells when it has begun.
func (b bench) useUntilGone(conn *pgx.Conn, sends bool, begun chan<- struct{}) {
	for n := 0; ; n++ {
		var err error
		if sends {
			_, err = surface.Send(b.Context(), conn, queue, "1", nil, nil, nil)
		} else {
			_, err = surface.Pop(b.Context(), conn, queue, "default", 3)
		}
		if n == 3 {
			begun <- struct{}{}
		}
		if err == nil {
			continue
		}
		if state := surface.SQLState(err); strings.HasPrefix(state, "40") || state == "" {
			b.Errorf("use of a queue that is dropped: %v", err)
		} else if n > 3 && !goneStates[state] {
			b.Errorf("use of a queue that is gone: %v", err)
		}
		return
	}
}

// goneStates are what a call may meet that was under way when the queue went, and one that came after.
var goneStates = map[string]bool{"WR001": true, "42883": true, "42P01": true, "XX000": true}
