package api_test

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/sql"
)

// withoutRoute are the public functions that no operation is named after, and what does their work or why nothing does.
var withoutRoute = map[string]string{
	"send": "send_batch", "send_once": "send_batch", "receive_records": "receive", "receive_many": "receive",
	"pop_records": "pop", "peek_records": "peek",
	"ack_many": "ack", "extend_many": "extend", "settle_many": "nack, release, snooze and reject",
	"mark_waiting": "receive", "enqueue_batch": "enqueue", "finish_many": "finish", "publish_batch": "publish",
	"maintain": "the server, once a second", "fire_schedules": "maintain, and so the server",
	"adopt":         "weir adopt: whoever restores a database decides it, before anything is served",
	"grant_produce": databaseRole, "revoke_produce": databaseRole, "grant_consume": databaseRole,
	"revoke_consume": databaseRole, "grant_admin": databaseRole, "revoke_admin": databaseRole,
	"create_token": "weir token create: a token that could make tokens would outlive being revoked",
	"revoke_token": "weir token revoke", "list_tokens": "weir token list", "find_token": "the server, for each request",
	"ack_all": "ack", "ack_and_receive": "ack and receive, whose calls share transactions", "maintain_step": "maintain",
	"maintenance": "maintain",
}

// databaseRole is why rights have no routes.
const databaseRole = "rights of database roles, of which the server has one; its callers have tokens"

// withoutFunction are the operations that no SQL function is named after.
var withoutFunction = []string{
	"events", "health", "pause_group", "preview_seek", "purge_group", "ready", "resume_group", "show_group", "show_queue",
	"transaction", "whoami",
}

func TestEveryPublicFunctionHasARouteOrAReasonNotTo(t *testing.T) {
	t.Parallel()
	functions := publicFunctions(t)
	exists := pgtest.QueryAll[string](t, pgtest.New(t, pgtest.Options{}), `select distinct p.proname::text from pg_proc p
		where p.pronamespace = 'weir'::regnamespace`)
	for _, f := range exists {
		if !slices.Contains(functions, f) {
			t.Errorf("function %s is not in install.sql", f)
		}
	}
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		}
	}
	if err := json.Unmarshal(ask(t, "GET", "/openapi.json", "", "").Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	var operations []string
	for _, methods := range doc.Paths {
		for _, op := range methods {
			operations = append(operations, op.OperationID)
		}
	}
	for _, f := range functions {
		if instead := withoutRoute[f]; slices.Contains(operations, f) == (instead != "") {
			t.Errorf("function %s has neither a route nor something instead, or both: %q", f, instead)
		}
	}
	for _, op := range operations {
		if slices.Contains(functions, op) == slices.Contains(withoutFunction, op) {
			t.Errorf("operation %s: neither or both of a function of its name and an exception", op)
		}
	}
	for f := range withoutRoute {
		if !slices.Contains(functions, f) {
			t.Errorf("exception for %s, which is none of the functions", f)
		}
	}
}

// publicFunctions returns the functions that install.sql makes for others.
func publicFunctions(t *testing.T) (functions []string) {
	t.Helper()
	text, err := fs.ReadFile(sql.FS, "install.sql")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if _, file, ok := strings.Cut(strings.TrimSpace(line), "functions/"); ok {
			functions = append(functions, strings.TrimSuffix(file, ".sql"))
		}
		if strings.HasSuffix(line, "functions/maintain_step.sql\n") {
			functions = append(functions, "maintenance") // in one file, since it tells the steps
		}
	}
	return functions
}
