package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
)

// wantError checks what a caller can ask an error.
func wantError(t *testing.T, what string, err error, code, name string, status int) *engine.Error {
	t.Helper()
	var e *engine.Error
	if !errors.As(err, &e) {
		t.Errorf("%s: error %v is no *engine.Error", what, err)
		return &engine.Error{}
	}
	if e.Code != code || e.Name != name || e.Status != status || engine.Code(err) != code || e.Message == "" {
		t.Errorf("%s: %s %s %d %q, want %s %s %d", what, e.Code, e.Name, e.Status, e.Message, code, name, status)
	}
	return e
}

// second drops the value of a call that must fail.
func second[T any](_ T, err error) error { return err }

func TestEveryErrorOfTheEngineHasItsCodeNameStatusAndHint(t *testing.T) {
	t.Parallel()
	pgtest.EachMajor(t, func(t *testing.T, major int) {
		t.Parallel()
		_, client := newQueue(t, major)
		ctx, one, plain := t.Context(), engine.Outgoing{Payload: json.RawMessage("1")}, engine.SendOptions{}
		id := get[int64](t)(client.Send(ctx, "q", one, plain))
		claim := receiveAll(t, client, "q")[0].ClaimID
		noGroup, five := engine.GroupOptions{}, []int64{5}
		other := engine.QueueOptions{QueueSettings: engine.QueueSettings{Lanes: ptr(7)}}
		large := engine.Outgoing{Payload: json.RawMessage(`"` + strings.Repeat("x", 2<<20) + `"`)}
		for what, c := range map[string]struct {
			err    error
			code   string
			name   string
			status int
		}{
			"unknown queue":       {second(client.Send(ctx, "x", one, plain)), "WR001", "queue_not_found", 404},
			"other settings":      {second(client.CreateQueue(ctx, "q", other)), "WR002", "queue_exists", 409},
			"unknown group":       {second(client.Receive(ctx, "q", "x", 1, time.Minute)), "WR003", "group_not_found", 404},
			"group that exists":   {client.CreateGroup(ctx, "q", "default", noGroup), "WR004", "group_exists", 409},
			"bad name":            {second(client.CreateQueue(ctx, "No Good", other)), "WR005", "invalid_name", 400},
			"too many":            {second(client.Receive(ctx, "q", "default", 1e6, 1)), "WR006", "invalid_argument", 400},
			"no lease":            {second(client.Receive(ctx, "q", "default", 1, 0)), "WR006", "invalid_argument", 400},
			"null payload":        {second(client.Send(ctx, "q", engine.Outgoing{}, plain)), "WR007", "null_payload", 400},
			"large payload":       {second(client.Send(ctx, "q", large, plain)), "WR008", "message_too_large", 413},
			"unknown claim":       {second(client.AckAll(ctx, "q", claim+1<<30)), "WR009", "claim_not_found", 404},
			"an ack of nothing":   {second(client.Ack(ctx, "q", claim, nil)), "WR006", "invalid_argument", 400},
			"foreign ids":         {second(client.Ack(ctx, "q", claim, []int64{id + 1})), "WR011", "ids_not_in_claim", 409},
			"unknown dead letter": {second(client.Redrive(ctx, "q", "default", five)), "WR017", "dead_letter_not_found", 404},
			"no dead letter":      {second(client.DeadLetter(ctx, "q", "default", 5)), "WR017", "dead_letter_not_found", 404},
		} {
			if e := wantError(t, what, c.err, c.code, c.name, c.status); e.Hint == "" {
				t.Errorf("%s: no hint", what)
			}
		}
	})
}

func TestErrorsOfPostgresKeepTheirOwnCodes(t *testing.T) {
	t.Parallel()
	db, client := newQueue(t, 0)
	ctx, one := t.Context(), engine.Outgoing{Payload: json.RawMessage("1")}
	err := second(client.Send(ctx, "q", engine.Outgoing{Payload: json.RawMessage(`"\u0000"`)}, engine.SendOptions{}))
	if e := wantError(t, "a text that jsonb cannot hold", err, "22P05", "data_exception", 400); e.Retryable {
		t.Error("a text that jsonb cannot hold is worth a retry")
	}

	stranger := engine.New(db.As(t, db.Role(t)))
	err = second(stranger.Send(ctx, "q", one, engine.SendOptions{}))
	if e := wantError(t, "a role without rights", err, "42501", "insufficient_privilege", 403); e.Retryable {
		t.Error("a missing right is worth a retry")
	}

	bare := engine.New(pgtest.New(t, pgtest.Options{Bare: true}).Pool(t))
	err = second(bare.Version(ctx))
	e := wantError(t, "no engine", err, "3F000", "engine_not_installed", 503)
	if !strings.Contains(e.Hint, "weir install") {
		t.Errorf("no engine: hint %q", e.Hint)
	}

	conn := db.Conn(t)
	if _, err := conn.Exec(ctx, "set statement_timeout = '1ms'"); err != nil {
		t.Fatal(err)
	}
	holder := db.Conn(t)
	if _, err := holder.Exec(ctx, "begin; select weir.create_queue('held')"); err != nil {
		t.Fatal(err)
	}
	err = second(engine.New(conn).CreateQueue(ctx, "held", engine.QueueOptions{}))
	if e := wantError(t, "a statement that took too long", err, "57014", "query_canceled", 503); !e.Retryable {
		t.Error("a cancelled statement is not retryable")
	}
}

func TestACallThatItsContextEndsSaysSo(t *testing.T) {
	t.Parallel()
	_, client := newQueue(t, 0)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Maintain(ctx, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestAnUnreachableDatabaseIsToldFromEveryOtherError(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	for what, dsn := range map[string]string{
		"nobody listens":     "postgres://weir:secret@127.0.0.1:1/weir",
		"no such database":   strings.Replace(db.TCP(), db.Name, "nowhere", 1),
		"the wrong password": strings.Replace(db.TCP(), pgtest.Owner+":"+pgtest.Owner, pgtest.Owner+":secret", 1),
	} {
		_, err := engine.Open(t.Context(), dsn, engine.Options{})
		var e *engine.Error
		if !errors.As(err, &e) || !e.Unreachable() || e.Status != 503 || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestABadDSNIsRefusedWithoutRepeatingIt(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{
		"postgres://u:secret@host:port/db", "host=x password='secret", "secret", "postgres://[::1/secret",
	} {
		_, err := engine.Open(t.Context(), dsn, engine.Options{})
		e := wantError(t, dsn, err, "08001", "invalid_dsn", 400)
		if strings.Contains(err.Error(), "secret") || e.Hint == "" {
			t.Errorf("%s: %v, hint %q", dsn, err, e.Hint)
		}
	}
}

func TestACommitThatFailsLeavesTheOutcomeOpen(t *testing.T) {
	t.Parallel()
	db, client := newQueue(t, 0)
	ctx := t.Context()
	super := db.Super(t)
	err := client.InTx(ctx, func(tx *engine.Client) error {
		if _, err := tx.Send(ctx, "q", engine.Outgoing{Payload: json.RawMessage("1")}, engine.SendOptions{}); err != nil {
			return err
		}
		_, err := super.Exec(ctx, `select pg_terminate_backend(pid) from pg_stat_activity
			where datname = current_database() and pid <> pg_backend_pid() and state = 'idle in transaction'`)
		return err
	})
	if !errors.Is(err, engine.ErrOutcomeUnknown) {
		t.Errorf("error %v", err)
	}
}
