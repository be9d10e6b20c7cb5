package around_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/weirmq/weir/internal/embedded"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/test/surface"
)

// TestMaintainRunsFromPgCron has pg_cron call maintain at the start of the server, which saves the wait for a minute's
// beginning, and looks at what it gave back.
func TestMaintainRunsFromPgCron(t *testing.T) {
	t.Parallel()
	want15(t, "../lib/pg_cron.so")
	s := pgtest.StartServer(t, pgtest.ServerOptions{BinDir: debian15, Fast: true, Settings: map[string]string{
		"shared_preload_libraries": "pg_cron", "cron.database_name": "test_cron", "cron.use_background_workers": "on",
		"autovacuum": "off",
	}})
	db := s.NewDB(t, false)
	ctx := t.Context()
	admin := connect(t, s.SocketDSN(embedded.Superuser, "postgres"))
	get[any](t)(admin.Exec(ctx, "create database test_cron template "+db.Name+" owner "+pgtest.Owner))
	cron := connect(t, s.SocketDSN(embedded.Superuser, "test_cron"))
	get[any](t)(cron.Exec(ctx, "create extension pg_cron; grant usage on schema cron to "+pgtest.Owner))
	owner := connect(t, s.SocketDSN(pgtest.Owner, "test_cron"))
	surface.CreateQueue(t, owner, "q", "")
	get[any](t)(owner.Exec(ctx, "select weir.send('q', '1', delay => '1 microsecond') from generate_series(1, 200)"))
	get[any](t)(owner.Exec(ctx, "select count(*) from weir.pop('q', max => 1000)"))
	get[any](t)(owner.Exec(ctx, "select cron.schedule('weir', '@reboot', 'call weir.maintain()')"))
	var before int64
	const size = "select pg_relation_size('weir_log.delayed')"
	must(t, owner.QueryRow(ctx, size).Scan(&before))
	s.Up(t)
	again := connect(t, s.SocketDSN(pgtest.Owner, "test_cron"))
	super := connect(t, s.SocketDSN(embedded.Superuser, "test_cron"))
	pgtest.WaitFor(t, "pg_cron", func() bool {
		var status, who string
		const note = "select coalesce(max(status), ''), coalesce(max(username), '') from cron.job_run_details"
		must(t, super.QueryRow(ctx, note).Scan(&status, &who))
		if status == "failed" || who != "" && who != pgtest.Owner {
			t.Fatalf("the job %s as %s", status, who)
		}
		return status == "succeeded"
	})
	// Only now, and without autovacuum: maintain runs once, and whoever has a lock on the table at that moment hinders it.
	var after int64
	must(t, again.QueryRow(ctx, size).Scan(&after))
	if before == 0 || after != 0 {
		t.Errorf("what was delayed took %d octets before and %d after maintain", before, after)
	}
}

// rest calls a function as PostgREST does: in a transaction of the role of the request, with the arguments by name out
// of one JSON object, and the answer as JSON.
func rest(ctx context.Context, conn *pgx.Conn, role, function, columns, args string) (string, error) {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return "", err
	}
	defer tx.Rollback(ctx) //nolint:errcheck // it is over, unless the call failed
	var named []string
	for column := range strings.SplitSeq(columns, ", ") {
		name, _, _ := strings.Cut(column, " ")
		named = append(named, name+" := a."+name)
	}
	_, err = tx.Exec(ctx, `select set_config('search_path', '"weir", "public"', true), set_config('role', $1, true),
		set_config('request.jwt.claims', '{}', true), set_config('request.method', 'POST', true)`, role)
	if err != nil {
		return "", err
	}
	var body string
	err = tx.QueryRow(ctx, `with pgrst_source as (
			select pgrst_call.* from (select $1::json as json_data) pgrst_payload,
			lateral (select * from json_to_record(pgrst_payload.json_data) as _(`+columns+`) limit 1) a,
			lateral weir.`+function+`(`+strings.Join(named, ", ")+`) pgrst_call)
		select coalesce(json_agg(_postgrest_t), '[]')::text from (select * from pgrst_source) _postgrest_t`,
		args).Scan(&body)
	if err != nil {
		return "", err
	}
	return body, tx.Commit(ctx)
}

func TestPostgRESTCanCallTheFunctions(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	surface.CreateQueue(t, db.Pool(t), "q", "lanes => 1")
	web, stranger := db.Role(t), db.Role(t)
	login := db.Super(t) // PostgREST's own role may become those of the requests
	db.Exec(t, "select weir.grant_produce('q', $1), weir.grant_consume('q', $1)", web)
	ctx := t.Context()
	call := func(function, columns, args string) string {
		t.Helper()
		return get[string](t)(rest(ctx, login, web, function, columns, args))
	}
	const send = "queue_name text, payload jsonb, key text, headers jsonb"
	if got := call("send", send, `{"queue_name": "q", "payload": {"a": [1]}, "key": "k", "headers": {"h": "x"}}`); got !=
		`[{"pgrst_call":1000}]` {
		t.Errorf("send: %s", got)
	}
	batch := `{"queue_name": "q", "payloads": [2, {"b": 3}]}`
	if got := call("send_batch", "queue_name text, payloads jsonb[]", batch); got !=
		"[{\"pgrst_call\":2000}, \n {\"pgrst_call\":2001}]" {
		t.Errorf("send_batch: %s", got)
	}
	var messages []struct {
		ID      int64 `json:"id"`
		ClaimID int64 `json:"claim_id"`
		Payload any   `json:"payload"`
	}
	list := call("receive", "queue_name text, max int, lease interval",
		`{"queue_name": "q", "max": 10, "lease": "1 hour"}`)
	if err := json.Unmarshal([]byte(list), &messages); err != nil || len(messages) != 3 || messages[0].Payload != 2.0 {
		t.Fatalf("receive: %s: %v", list, err)
	}
	ack := fmt.Sprintf(`{"queue_name": "q", "claim_id": %d, "ids": [%d, %d]}`,
		messages[0].ClaimID, messages[0].ID, messages[1].ID)
	if got := call("ack", "queue_name text, claim_id bigint, ids bigint[]", ack); got != `[{"pgrst_call":2}]` {
		t.Errorf("ack: %s", got)
	}
	nack := fmt.Sprintf(`{"queue_name": "q", "claim_id": %d, "delay": "0", "reason": "no"}`, messages[0].ClaimID)
	if got := call("nack", "queue_name text, claim_id bigint, delay interval, reason text", nack); got !=
		`[{"pgrst_call":1}]` {
		t.Errorf("nack: %s", got)
	}
	_, err := rest(ctx, login, stranger, "send", send, `{"queue_name": "q", "payload": 1}`)
	surface.WantState(t, err, "42501")
	_, err = rest(ctx, login, web, "create_queue", "queue_name text", `{"queue_name": "mine"}`)
	surface.WantState(t, err, "42501")
}
