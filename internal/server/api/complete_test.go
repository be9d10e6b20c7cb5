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

// served are the groups of public functions in sql/install.sql that are for HTTP. Not among them are schedules and
// workflows, which programs with a driver use, and rights and tokens: those of database roles, of which the server has
// one, and those of `weir token`.
var served = []string{"queues and groups", "messages", "jobs", "dead letters", "topics", "operation"}

// withoutRoute are the functions in them that no operation is named after, and what does their work.
var withoutRoute = map[string]string{
	"send": "send_batch", "send_once": "send_batch", "receive_records": "receive", "receive_many": "receive",
	"ack_many": "ack", "extend_many": "extend", "mark_waiting": "receive", "maintain": "the server, once a second",
	"adopt": "weir adopt", "enqueue_batch": "enqueue", "finish_many": "finish",
}

// withoutFunction are the operations that no SQL function is named after.
var withoutFunction = []string{
	"events", "health", "pause_group", "purge_group", "ready", "resume_group", "show_group", "show_queue", "transaction",
	"whoami",
}

func TestEveryPublicFunctionHasARouteOrAReasonNotTo(t *testing.T) {
	t.Parallel()
	functions, all := publicFunctions(t)
	exists := pgtest.QueryAll[string](t, pgtest.New(t, pgtest.Options{}), `select distinct p.proname::text from pg_proc p
		where p.pronamespace = 'weir'::regnamespace`)
	for _, f := range exists {
		if !slices.Contains(all, f) {
			t.Errorf("function %s is in no group", f)
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

// publicFunctions returns the functions of the groups that are served, and those of all groups.
func publicFunctions(t *testing.T) (functions, all []string) {
	t.Helper()
	text, err := fs.ReadFile(sql.FS, "install.sql")
	if err != nil {
		t.Fatal(err)
	}
	group := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if title, ok := strings.CutPrefix(line, "-- Public: "); ok {
			group = title
		}
		if file, ok := strings.CutPrefix(line, `\ir functions/`); ok {
			all = append(all, strings.TrimSuffix(file, ".sql"))
			if slices.Contains(served, group) {
				functions = append(functions, all[len(all)-1])
			}
		}
	}
	return functions, all
}
