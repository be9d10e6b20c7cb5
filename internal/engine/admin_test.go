package engine_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/migrate"
	"github.com/weirmq/weir/internal/pgtest"
)

func TestWhatIsNotAskedForIsWhatTheSQLFunctionsDo(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		client := open(t, db)
		ctx := t.Context()
		must(t, client.CreateQueue(ctx, "go", engine.QueueOptions{}))
		must(t, client.CreateGroup(ctx, "go", "g", engine.GroupOptions{}))
		db.Exec(t, "select weir.create_queue('sql')")
		db.Exec(t, "select weir.create_group('sql', 'g')")
		queues := get[[]engine.Queue](t)(client.ListQueues(ctx))
		if len(queues) != 2 {
			t.Fatalf("queues %+v", queues)
		}
		queues[1].Name, queues[1].CreatedAt = queues[0].Name, queues[0].CreatedAt
		if queues[0] != queues[1] {
			t.Errorf("queues differ: %+v", queues)
		}
		fromGo := get[engine.Group](t)(client.Group(ctx, "go", "g"))
		fromSQL := get[engine.Group](t)(client.Group(ctx, "sql", "g"))
		fromSQL.Queue, fromSQL.CreatedAt = fromGo.Queue, fromGo.CreatedAt
		if fromGo != fromSQL || !(engine.GroupOptions{}).Fits(fromSQL) {
			t.Errorf("groups differ: %+v, %+v", fromGo, fromSQL)
		}
	})
}

func TestAQueueAndAGroupAreWhatWasAskedForUntilTheyAreDropped(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	client := open(t, db)
	ctx := t.Context()
	queue := engine.QueueOptions{Lanes: ptr(3), MessageBytesMax: ptr(5000)}
	group := engine.GroupOptions{
		Start: "end", MaxAttempts: ptr(7), BackoffMin: ptr(1500 * time.Millisecond), BackoffMax: ptr(36 * time.Hour),
	}
	must(t, client.CreateQueue(ctx, "q", queue))
	must(t, client.CreateGroup(ctx, "q", "g", group))
	if q := get[engine.Queue](t)(client.Queue(ctx, "q")); !queue.Fits(q) || q.CreatedAt.IsZero() {
		t.Errorf("queue %+v", q)
	}
	if g := get[engine.Group](t)(client.Group(ctx, "q", "g")); !group.Fits(g) || g.CreatedAt.IsZero() {
		t.Errorf("group %+v", g)
	}
	must(t, client.DropGroup(ctx, "q", "g"))
	if _, err := client.Group(ctx, "q", "g"); engine.Code(err) != engine.CodeGroupNotFound {
		t.Errorf("a dropped group: %v", err)
	}
	must(t, client.DropQueue(ctx, "q"))
	if _, err := client.Queue(ctx, "q"); engine.Code(err) != engine.CodeQueueNotFound {
		t.Errorf("a dropped queue: %v", err)
	}
}

func TestTheEngineHasTheVersionOfTheProgramThatInstalledIt(t *testing.T) {
	t.Parallel()
	client := open(t, pgtest.New(t, pgtest.Options{}))
	if got := get[string](t)(client.Version(t.Context())); got != migrate.Version() {
		t.Errorf("engine %s, program %s", got, migrate.Version())
	}
}

func TestACallLeavesNothingBehindInItsSession(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		db := pgtest.New(t, pgtest.Options{Major: major})
		ctx := t.Context()
		conn := get[*pgx.Conn](t)(pgx.ConnectConfig(ctx, get[*pgx.ConnConfig](t)(engine.ConnConfig(db.DSN))))
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		client := engine.New(conn)
		must(t, client.CreateQueue(ctx, "q", engine.QueueOptions{}))
		for range 10 {
			get[int64](t)(client.Send(ctx, "q", engine.Outgoing{Payload: json.RawMessage("1")}, nil))
			for _, m := range receiveAll(t, client, "q") {
				get[int](t)(client.Ack(ctx, "q", m.ClaimID, nil))
			}
		}
		get[int](t)(client.Maintain(ctx))
		for what, sql := range map[string]string{
			"prepared statements": "select count(*) from pg_prepared_statements",
			"locks":               "select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory'",
			"channels":            "select count(*) from pg_listening_channels()",
			"settings":            "select count(*) from pg_settings where source = 'session'",
		} {
			var n int
			must(t, conn.QueryRow(ctx, sql, pgx.QueryExecModeSimpleProtocol).Scan(&n))
			if n != 0 {
				t.Errorf("%d %s", n, what)
			}
		}
	})
}

func TestTheEnvelopeOfADurationIsMilliseconds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"0": 0, "1500": 1500 * time.Millisecond, "-1": -time.Millisecond} {
		var m engine.Millis
		must(t, json.Unmarshal([]byte(text), &m))
		if back := string(get[[]byte](t)(json.Marshal(m))); time.Duration(m) != want || back != text {
			t.Errorf("%s is %s and %s again", text, m, back)
		}
	}
}
