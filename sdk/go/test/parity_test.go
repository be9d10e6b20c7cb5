package test

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	weir "github.com/weirmq/weir/sdk/go"
)

// noMethods are the SQL functions that are no methods of a client, and why.
var noMethods = map[string]string{
	"grant_produce": "rights are for the role that administers, in SQL", "revoke_produce": "likewise",
	"grant_consume": "likewise", "revoke_consume": "likewise", "grant_admin": "likewise", "revoke_admin": "likewise",
	"adopt":           "likewise",
	"receive_records": "what Receive calls", "pop_records": "what Pop calls", "peek_records": "what Peek calls",
	"mark_waiting": "what Receive calls before it waits",
	"send_once":    "what the server calls; SendBatch takes dedup keys",
	"receive_many": "what the server calls for many consumers", "ack_many": "likewise", "publish_batch": "likewise",
	"settle_many": "what a worker calls", "extend_many": "likewise", "finish_many": "likewise", "cancelled": "likewise",
	"ack_and_receive": "for loops in SQL, and drivers that make one call a round trip",
	"fire_schedules":  "what maintain does", "maintain_step": "likewise", "maintenance": "likewise",
	"create_token": "tokens are for `weir token` and the server", "find_token": "likewise", "list_tokens": "likewise",
	"revoke_token": "likewise",
	"claims":       "for people who look, in SQL, over HTTP and on the page", "parked_keys": "likewise",
	"delayed": "likewise", "list_workflows": "likewise", "list_jobs": "likewise",
}

func TestEveryPublicFunctionIsAMethod(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	functions := strings.Fields(pgtest.QueryVal[string](t, db, `select string_agg(distinct proname, ' ')
		from pg_proc where pronamespace = 'weir'::regnamespace`))
	client, excepted := reflect.TypeFor[*weir.Client](), maps.Clone(noMethods)
	for _, name := range functions {
		words := strings.Split(name, "_")
		for i, word := range words {
			words[i] = strings.ToUpper(word[:1]) + word[1:]
		}
		method := strings.Join(words, "")
		_, is := client.MethodByName(method)
		switch why, known := excepted[name]; {
		case is && known:
			t.Errorf("weir.%s is a method, and is excepted: %s", name, why)
		case !is && !known:
			t.Errorf("weir.%s is no method", name)
		}
		delete(excepted, name)
	}
	for name := range excepted {
		t.Errorf("weir.%s is excepted, and there is no such function", name)
	}
}
