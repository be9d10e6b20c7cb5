package engine_test

import (
	"context"
	"encoding/json"
	"slices"
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
		get[bool](t)(client.CreateQueue(ctx, "go", engine.QueueOptions{}))
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
		if fromGo != fromSQL {
			t.Errorf("groups differ: %+v, %+v", fromGo, fromSQL)
		}
	})
}

func TestAQueueAndAGroupAreWhatWasAskedForUntilTheyAreDropped(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	client := open(t, db)
	ctx := t.Context()
	settings := engine.QueueSettings{
		Lanes: ptr(3), MessageBytesMax: ptr(5000), Aging: millis(time.Hour), TTL: millis(48 * time.Hour),
		DedupWindow: millis(time.Hour), BacklogMax: ptr(int64(1000)), JobRetention: millis(2 * time.Hour),
	}
	get[bool](t)(client.CreateQueue(ctx, "q", engine.QueueOptions{Priorities: ptr(2), QueueSettings: settings}))
	must(t, client.CreateGroup(ctx, "q", "g", engine.GroupOptions{
		Ordered: ptr(true), Start: ptr("end"), GroupSettings: engine.GroupSettings{
			MaxAttempts: ptr(7), BackoffMin: millis(1500 * time.Millisecond), BackoffMax: millis(36 * time.Hour),
			ConcurrencyMax: ptr(8), RateMax: ptr(9), RatePeriod: millis(time.Minute),
		},
	}))
	q := get[engine.Queue](t)(client.Queue(ctx, "q"))
	wantQueue := engine.Queue{
		Name: "q", Log: "main", Lanes: 3, MessageBytesMax: 5000, Priorities: 2,
		Aging: *settings.Aging, TTL: *settings.TTL,
		DedupWindow: *settings.DedupWindow, BacklogMax: *settings.BacklogMax,
		JobRetention: *settings.JobRetention, CreatedAt: q.CreatedAt,
	}
	if q != wantQueue || q.CreatedAt.IsZero() {
		t.Errorf("queue %+v", q)
	}
	g := get[engine.Group](t)(client.Group(ctx, "q", "g"))
	wantGroup := engine.Group{
		Queue: "q", Name: "g", Ordered: true, MaxAttempts: 7, BackoffMin: *millis(1500 * time.Millisecond),
		BackoffMax: *millis(36 * time.Hour), ConcurrencyMax: 8, RateMax: 9,
		RatePeriod: *millis(time.Minute), CreatedAt: g.CreatedAt,
	}
	if g != wantGroup || g.CreatedAt.IsZero() {
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

func TestAQueueOrALogThatIsThereIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	client := open(t, pgtest.New(t, pgtest.Options{}))
	ctx := t.Context()
	settings := engine.LogSettings{SegmentBytes: ptr(int64(100_000)), Retention: millis(time.Hour)}
	ordered := engine.QueueOptions{Ordered: ptr(true), Log: ptr("own")}
	for _, first := range []bool{true, false} {
		if made := get[bool](t)(client.CreateLog(ctx, "own", engine.LogOptions{LogSettings: settings})); made != first {
			t.Errorf("the log was made: %t", made)
		}
		if made := get[bool](t)(client.CreateQueue(ctx, "q", ordered)); made != first {
			t.Errorf("the queue was made: %t", made)
		}
	}
	if g := get[engine.Group](t)(client.Group(ctx, "q", "default")); !g.Ordered {
		t.Errorf("group %+v", g)
	}
	must(t, client.ConfigureLog(ctx, "own", engine.LogSettings{ClaimsBytes: ptr(int64(200_000))}))
	logs := get[[]engine.Log](t)(client.ListLogs(ctx))
	want := engine.Log{
		Name: "own", SegmentBytes: 100_000, ClaimsBytes: 200_000, Retention: *millis(time.Hour), Queues: 1,
		Bytes: logs[1].Bytes, CreatedAt: logs[1].CreatedAt,
	}
	if len(logs) != 2 || logs[0].Name != "main" || logs[1] != want {
		t.Errorf("logs %+v, want %+v", logs, want)
	}
	if err := client.DropLog(ctx, "own"); engine.Code(err) != engine.CodeInvalidArgument {
		t.Errorf("a log that is used: %v", err)
	}
	must(t, client.DropQueue(ctx, "q"))
	must(t, client.DropLog(ctx, "own"))
	if logs := get[[]engine.Log](t)(client.ListLogs(ctx)); len(logs) != 1 {
		t.Errorf("logs %+v", logs)
	}
}

func TestConfiguringChangesWhatIsNamedAndNothingElse(t *testing.T) {
	t.Parallel()
	db, client := newQueue(t, 0)
	ctx := t.Context()
	q, g := get[engine.Queue](t)(client.Queue(ctx, "q")), get[engine.Group](t)(client.Group(ctx, "q", "default"))
	must(t, client.ConfigureQueue(ctx, "q", engine.QueueSettings{MessageBytesMax: ptr(2000)}))
	must(t, client.ConfigureQueue(ctx, "q", engine.QueueSettings{Lanes: ptr(5)}))
	must(t, client.ConfigureQueue(ctx, "q", engine.QueueSettings{TTL: millis(time.Hour)}))
	must(t, client.ConfigureGroup(ctx, "q", "default", engine.GroupSettings{MaxAttempts: ptr(2)}))
	must(t, client.ConfigureGroup(ctx, "q", "default", engine.GroupSettings{BackoffMin: millis(time.Minute)}))
	must(t, client.ConfigureQueue(ctx, "q", engine.QueueSettings{JobRetention: millis(time.Minute)}))
	q.TTL, q.JobRetention = *millis(time.Hour), *millis(time.Minute)
	q.MessageBytesMax, q.Lanes, g.MaxAttempts, g.BackoffMin = 2000, 5, 2, *millis(time.Minute)
	if got := get[engine.Queue](t)(client.Queue(ctx, "q")); got != q {
		t.Errorf("queue %+v, want %+v", got, q)
	}
	if got := get[engine.Group](t)(client.Group(ctx, "q", "default")); got != g {
		t.Errorf("group %+v, want %+v", got, g)
	}
	if err := client.ConfigureQueue(ctx, "q", engine.QueueSettings{MessageBytesMax: ptr(1)}); engine.Code(err) !=
		engine.CodeInvalidArgument {
		t.Errorf("a limit of one byte: %v", err)
	}
	if n := pgtest.QueryAll[int](t, db, "select message_bytes_max from weir.list_queues()"); n[0] != 2000 {
		t.Errorf("a refused change was made: %v", n)
	}
}

func TestAPausedQueueOrGroupDeliversNothingUntilItIsResumed(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	ctx := t.Context()
	get[int64](t)(client.Send(ctx, "q", engine.Outgoing{Payload: json.RawMessage("1")}, engine.SendOptions{}))
	for _, group := range []string{"", "default"} {
		must(t, client.Pause(ctx, "q", group))
		g := get[engine.Group](t)(client.Group(ctx, "q", "default"))
		if list := receiveAll(t, client, "q"); len(list) != 0 || !g.Paused {
			t.Errorf("pause %q: %v, %+v", group, list, g)
		}
		if q := get[engine.Queue](t)(client.Queue(ctx, "q")); q.Paused != (group == "") {
			t.Errorf("pause %q: queue %+v", group, q)
		}
		must(t, client.Resume(ctx, "q", group))
	}
	if list := receiveAll(t, client, "q"); len(list) != 1 {
		t.Errorf("after the pause: %v", list)
	}
}

func TestPurgeDropsOneGroupsMessagesOrAll(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	ctx := t.Context()
	must(t, client.CreateGroup(ctx, "q", "other", engine.GroupOptions{}))
	get[[]int64](t)(client.SendBatch(ctx, "q", []engine.Outgoing{
		{Payload: json.RawMessage("1")}, {Payload: json.RawMessage("2")},
	}, engine.SendOptions{}))
	if n := get[int64](t)(client.Purge(ctx, "q", "other")); n != 2 {
		t.Errorf("one group: purged %d", n)
	}
	if n := get[int64](t)(client.Purge(ctx, "q", "")); n != 2 {
		t.Errorf("all groups: purged %d", n)
	}
	if list := receiveAll(t, client, "q"); len(list) != 0 {
		t.Errorf("after the purge: %v", list)
	}
}

func TestARightIsThereFromItsGrantToItsRevoke(t *testing.T) {
	t.Parallel()
	db, client := newQueue(t, 0)
	ctx := t.Context()
	role := db.Role(t)
	theirs := get[*engine.Client](t)(engine.Open(ctx, db.Server.SocketDSN(role, db.Name), engine.Options{}))
	t.Cleanup(theirs.Close)
	for right, try := range map[engine.Right]func() error{
		engine.Produce: func() error {
			_, err := theirs.Send(ctx, "q", engine.Outgoing{Payload: json.RawMessage("1")}, engine.SendOptions{})
			return err
		},
		engine.Consume: func() error { _, err := theirs.Receive(ctx, "q", "default", 1, time.Minute); return err },
		engine.Admin:   func() error { return theirs.Pause(ctx, "q", "none at all") },
	} {
		if err := try(); engine.Code(err) != "42501" {
			t.Errorf("%s before the grant: %v", right, err)
		}
		must(t, client.Grant(ctx, right, "q", role))
		if err := try(); engine.Code(err) == "42501" {
			t.Errorf("%s after the grant: %v", right, err)
		}
		must(t, client.Revoke(ctx, right, "q", role))
		if err := try(); engine.Code(err) != "42501" {
			t.Errorf("%s after the revoke: %v", right, err)
		}
	}
	for _, err := range []error{client.Grant(ctx, "own", "q", role), client.Revoke(ctx, "", "q", role)} {
		if engine.Code(err) != engine.CodeInvalidArgument {
			t.Errorf("an unknown right: %v", err)
		}
	}
}

func TestATopicLeadsToTheQueuesThatAreBoundToIt(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	ctx := t.Context()
	get[bool](t)(client.CreateQueue(ctx, "all", engine.QueueOptions{}))
	must(t, client.Bind(ctx, "order.*", "q"))
	must(t, client.Bind(ctx, "#", "all"))
	if list := get[[]engine.Binding](t)(client.ListBindings(ctx)); len(list) != 2 || list[1].Pattern != "order.*" ||
		list[1].Queue != "q" || list[1].CreatedAt.IsZero() {
		t.Errorf("bindings %+v", list)
	}
	if queues := get[[]string](t)(client.Route(ctx, "order.paid")); !slices.Equal(queues, []string{"all", "q"}) {
		t.Errorf("order.paid leads to %v", queues)
	}
	m := engine.Outgoing{Payload: json.RawMessage(`{"n": 1}`), Key: ptr("k"), Headers: json.RawMessage(`{"h": 2}`)}
	sent := get[[]engine.Published](t)(client.Publish(ctx, "order.paid", m, engine.SendOptions{}))
	if len(sent) != 2 || sent[1].Queue != "q" {
		t.Fatalf("published %+v", sent)
	}
	if list := receiveAll(t, client, "q"); len(list) != 1 || list[0].ID != sent[1].ID || *list[0].Key != "k" ||
		string(list[0].Headers) != `{"h": 2}` {
		t.Errorf("received %+v", list)
	}
	if !get[bool](t)(client.Unbind(ctx, "#", "all")) || get[bool](t)(client.Unbind(ctx, "#", "all")) {
		t.Error("a binding is removed once")
	}
	if sent := get[[]engine.Published](t)(client.Publish(ctx, "user.new", m, engine.SendOptions{})); len(sent) != 0 {
		t.Errorf("published %+v", sent)
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
		get[bool](t)(client.CreateQueue(ctx, "q", engine.QueueOptions{}))
		for range 10 {
			get[int64](t)(client.Send(ctx, "q", engine.Outgoing{Payload: json.RawMessage("1")}, engine.SendOptions{}))
			for _, m := range receiveAll(t, client, "q") {
				get[int](t)(client.Ack(ctx, "q", m.ClaimID, []int64{m.ID}))
			}
		}
		get[int](t)(client.Maintain(ctx, 0))
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
