package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server/api"
	"github.com/weirmq/weir/internal/server/auth"
)

// operation is a route of the OpenAPI document.
type operation struct {
	method, path, name string
	needs              []string // any of these verbs
	open               bool
}

// url is the path with names in it.
func (o operation) url(queue string) string {
	return strings.NewReplacer("{queue}", queue, "{group}", "default", "{id}", "1", "{topic}", "news", "{pattern}",
		"news").Replace(o.path)
}

// operations reads the OpenAPI document.
func operations(t *testing.T) []operation {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string                `json:"operationId"`
			Security    []map[string][]string `json:"security"`
		}
	}
	if err := json.Unmarshal(ask(t, "GET", "/openapi.json", "", "").Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	var list []operation
	for path, methods := range doc.Paths {
		for method, op := range methods {
			o := operation{method: strings.ToUpper(method), path: path, name: op.OperationID, open: len(op.Security) == 0}
			if !o.open {
				o.needs = op.Security[0]["token"]
			}
			list = append(list, o)
		}
	}
	return list
}

// holders lets in who has one of some tokens, by what they may do.
type holders struct {
	db     *pgtest.DB
	tokens map[string]string
}

// holder makes a token and returns its name, to be used with as.
func (h *holders) holder(t *testing.T, name, queues, verbs string) {
	t.Helper()
	token, digest := auth.NewToken()
	h.db.Exec(t, "select weir.create_token($1, $2, queues => $3::text[], verbs => $4::text[])", name, digest,
		"{"+queues+"}", "{"+verbs+"}")
	h.tokens[name] = token
}

// gatedSite is a site that asks for tokens. Requests of its own helpers are those of root, who may do everything.
func gatedSite(t *testing.T, opt auth.Options) (*site, *holders) {
	t.Helper()
	db := pgtest.New(t, pgtest.Options{})
	client, err := engine.Open(t.Context(), db.DSN, engine.Options{MaxConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	opt.Tokens = client
	drain, stop := context.WithCancel(t.Context())
	s := &site{T: t, db: db, client: client, drain: stop}
	server := httptest.NewServer(api.New(client, api.Options{Version: "test", Drain: drain, Gate: auth.New(opt)}))
	t.Cleanup(server.Close)
	s.url = server.URL
	return s, &holders{db: db, tokens: map[string]string{}}
}

// as makes a request with a token and returns status and SQLSTATE.
func (s *site) as(h *holders, name, method, path, body string) (status int, code, text string) {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	if body == "" {
		r.Body, r.ContentLength = http.NoBody, 0
	}
	if name != "" {
		r.Header.Set("Authorization", "Bearer "+h.tokens[name])
	}
	status, text = s.do(r)
	var p api.Problem
	_ = json.Unmarshal([]byte(text), &p)
	return status, p.SQLState, text
}

var verbs = []string{"produce", "consume", "admin", "read"}

// implied are the verbs with which one may do what needs one of some.
func implied(needs []string) []string {
	var list []string
	for _, v := range verbs {
		if slices.Contains(needs, v) || slices.Contains(needs, "read") && v != "produce" {
			list = append(list, v)
		}
	}
	return list
}

func TestEveryRouteAsksForATokenWithItsVerbAndQueue(t *testing.T) {
	t.Parallel()
	s, h := gatedSite(t, auth.Options{})
	s.db.Exec(t, "select weir.create_queue('mine'), weir.create_queue('other')")
	for _, verb := range verbs {
		rest := strings.Join(slices.DeleteFunc(slices.Clone(verbs), func(v string) bool { return v == verb }), ",")
		h.holder(t, "only-"+verb, "mine", verb)
		h.holder(t, "all-but-"+verb, "*", rest)
		h.holder(t, "other-"+verb, "other", strings.Join(verbs, ","))
	}
	for _, o := range operations(t) {
		name, path := o.method+" "+o.path, o.url("mine")
		status, code, text := s.as(h, "", o.method, path, "")
		if o.open {
			if status == http.StatusUnauthorized {
				t.Errorf("%s asks for a token", name)
			}
			continue
		}
		if status != http.StatusUnauthorized || code != "WR041" {
			t.Errorf("%s without a token: %d %s", name, status, text)
		}
		for _, verb := range verbs {
			if len(o.needs) == 0 || slices.Contains(implied(o.needs), verb) {
				continue
			}
			if status, code, text := s.as(h, "only-"+verb, o.method, path, ""); status != 403 || code != "WR042" {
				t.Errorf("%s with the verb %s: %d %s", name, verb, status, text)
			}
		}
		if len(o.needs) == 1 && o.needs[0] != "read" {
			if status, code, text := s.as(h, "all-but-"+o.needs[0], o.method, path, ""); status != 403 || code != "WR042" {
				t.Errorf("%s with every verb but %s: %d %s", name, o.needs[0], status, text)
			}
		}
		if strings.Contains(o.path, "{queue}") {
			if status, code, text := s.as(h, "other-read", o.method, path, ""); status != 403 || code != "WR042" {
				t.Errorf("%s with a token for another queue: %d %s", name, status, text)
			}
		}
	}
	if n := pgtest.QueryVal[int](t, s.db, "select count(*)::int from weir.list_queues()"); n != 2 {
		t.Errorf("%d queues, want 2", n)
	}
}

func TestAServerThatOnlyLetsLookRefusesEverythingElseToEverybody(t *testing.T) {
	t.Parallel()
	s, h := gatedSite(t, auth.Options{ReadOnly: true})
	s.db.Exec(t, "select weir.create_queue('mine'), weir.send('mine', '1')")
	h.holder(t, "root", "*", strings.Join(verbs, ","))
	looking := 0
	for _, o := range operations(t) {
		status, code, text := s.as(h, "root", o.method, o.url("mine"), "")
		if o.open || len(o.needs) == 0 || slices.Contains(o.needs, "read") {
			looking++
			if status >= 400 && code != "WR001" && code != "WR006" && code != "WR018" {
				t.Errorf("%s %s: %d %s", o.method, o.path, status, text)
			}
			if o.method != http.MethodGet {
				t.Errorf("%s %s counts as looking", o.method, o.path)
			}
			continue
		}
		if status != http.StatusForbidden || code != "WR042" {
			t.Errorf("%s %s: %d %s", o.method, o.path, status, text)
		}
	}
	if looking < 10 {
		t.Errorf("only %d routes look", looking)
	}
	if _, _, text := s.as(h, "root", "GET", "/v1/whoami", ""); !strings.Contains(text, `"read_only":true`) {
		t.Errorf("whoami says %s", text)
	}
}

func TestATokenSeesAndTouchesItsOwnQueuesOnly(t *testing.T) {
	t.Parallel()
	s, h := gatedSite(t, auth.Options{})
	s.db.Exec(t, `select weir.create_queue(n) from unnest(array['eu.orders', 'eu.mail', 'us.orders']) n`)
	s.db.Exec(t, "select weir.bind('news', 'eu.mail'), weir.bind('news.all', 'eu.mail')")
	s.db.Exec(t, "select weir.bind('news.all', 'us.orders')")
	s.db.Exec(t, "select weir.send('us.orders', '1')")
	foreign := pgtest.QueryVal[string](t, s.db, "select claim_id::text from weir.receive('us.orders')")
	s.db.Exec(t, "select weir.send('eu.orders', '1')")
	own := pgtest.QueryVal[string](t, s.db, "select claim_id::text from weir.receive('eu.orders')")
	h.holder(t, "eu", "eu.*", "produce,consume,read,admin")
	const message = `"messages":[{"payload":1}]`
	for _, c := range []struct {
		method, path, body string
		status             int
		has                string // in the answer
		lacks              string
	}{
		{"GET", "/v1/queues", "", 200, "eu.mail", "us."},
		{"GET", "/v1/stats", "", 200, "eu.mail", "us."},
		{"GET", "/v1/stats?queue=us.orders", "", 403, "", ""},
		{"GET", "/v1/topics", "", 200, "eu.mail", "us."},
		{"GET", "/v1/topics/news.all/route", "", 200, "eu.mail", "us."},
		{"GET", "/v1/doctor", "", 403, "", ""},
		{"POST", "/v1/topics/news/messages", "{" + message + "}", 201, "eu.mail", ""},
		{"POST", "/v1/topics/news.all/messages", "{" + message + "}", 403, "us.orders", ""},
		{"PUT", "/v1/topics/%23/queues/eu.mail", "", 403, "", ""},
		{"PUT", "/v1/queues/eu.new", "", 201, "", ""},
		{"PUT", "/v1/queues/us.new", "", 403, "", ""},
		{"POST", "/v1/queues/eu.new/rename", `{"new_name":"us.new"}`, 403, "", ""},
		{"POST", "/v1/queues/eu.new/rename", `{"new_name":"eu.newer"}`, 200, "", ""},
		{"POST", "/v1/transaction", `{"sends":[{"queue":"us.orders",` + message + `}]}`, 403, "body.sends[0]", ""},
		{
			"POST", "/v1/transaction", `{"acks":[{"queue":"us.orders","claim_id":` + foreign + `,"all":true}]}`,
			403, "body.acks[0]", "",
		},
		{
			"POST", "/v1/transaction", `{"finishes":[{"queue":"us.orders","claim_id":` + foreign + `,"id":1}]}`,
			403, "body.finishes[0]", "",
		},
		{
			"POST", "/v1/transaction", `{"nacks":[{"queue":"us.orders","claim_id":` + foreign + `,"all":true}]}`,
			403, "body.nacks[0]", "",
		},
		{
			"POST", "/v1/transaction",
			`{"acks":[{"queue":"eu.orders","claim_id":` + own + `,"all":true}],"sends":[{"queue":"us.orders",` + message + `}]}`,
			403, "body.sends[0]", "",
		},
		{"POST", "/v1/queues/us%2Eorders/messages", "{" + message + "}", 403, "", ""},
		{"POST", "/v1/queues/%75s.orders/messages", "{" + message + "}", 403, "", ""},
		{"POST", "/v1/queues/eu.orders%2F..%2F..%2Fus.orders/messages", "{" + message + "}", 404, "WR001", ""},
		{"POST", "/v1/queues/eu./../us.orders/messages", "{" + message + "}", 403, "", ""},
		{"POST", "/v1/queues/EU.orders/messages", "{" + message + "}", 403, "", ""},
		{"POST", "/v1/queues/eu.orders%00/messages", "{" + message + "}", 400, "", ""},
		{"GET", "/v1/whoami", "", 200, `"queues":["eu.*"]`, ""},
	} {
		status, _, text := s.as(h, "eu", c.method, c.path, c.body)
		if status != c.status || !strings.Contains(text, c.has) || c.lacks != "" && strings.Contains(text, c.lacks) {
			t.Errorf("%s %s %s: %d %s, want %d with %q, without %q", c.method, c.path, c.body, status, text, c.status,
				c.has, c.lacks)
		}
	}
	if n := pgtest.QueryVal[int](t, s.db, "select sum(waiting)::int from weir.stats('us.orders')"); n != 0 {
		t.Errorf("%d messages came to a queue that the token does not cover", n)
	}
	if n := pgtest.QueryVal[int](t, s.db, "select sum(waiting)::int from weir.stats('eu.mail')"); n != 1 {
		t.Errorf("%d messages in eu.mail, want that of the allowed topic alone", n)
	}
}

func TestATokenSeesAndTouchesTheSchedulesOfItsOwnQueuesOnly(t *testing.T) {
	t.Parallel()
	s, h := gatedSite(t, auth.Options{})
	for _, at := range []string{"eu", "us"} {
		s.db.Exec(t, "select weir.create_queue($1 || '.orders')", at)
		s.db.Exec(t, "select weir.schedule($1, $1 || '.orders', 'k', cron => '@hourly')", at)
	}
	h.holder(t, "eu", "eu.*", "produce,consume,read,admin")
	for _, c := range []struct {
		method, path, body string
		status             int
		has                string // in the answer
		lacks              string
	}{
		{"GET", "/v1/schedules", "", 200, `"name":"eu"`, "us."},
		{"GET", "/v1/schedules?queue=us.orders", "", 200, `"schedules":[]`, "us"},
		{"PUT", "/v1/schedules/new", `{"queue":"us.orders","kind":"k","every_ms":60000}`, 403, "us.orders", ""},
		{"PUT", "/v1/schedules/us", `{"queue":"eu.orders","kind":"k","every_ms":60000}`, 409, "WR054", ""},
		{"POST", "/v1/schedules/us/pause", "", 403, "WR042", ""},
		{"POST", "/v1/schedules/us/resume", "", 403, "WR042", ""},
		{"DELETE", "/v1/schedules/us", "", 403, "WR042", ""},
		{"DELETE", "/v1/schedules/none", "", 404, "WR053", ""},
		{"POST", "/v1/schedules/eu/pause", "", 204, "", ""},
		{"DELETE", "/v1/schedules/eu", "", 200, "true", ""},
	} {
		status, _, text := s.as(h, "eu", c.method, c.path, c.body)
		if status != c.status || !strings.Contains(text, c.has) || c.lacks != "" && strings.Contains(text, c.lacks) {
			t.Errorf("%s %s %s: %d %s, want %d with %q, without %q", c.method, c.path, c.body, status, text, c.status,
				c.has, c.lacks)
		}
	}
	if n := pgtest.QueryVal[int](t, s.db, "select count(*)::int from weir.list_schedules() where not paused"); n != 1 {
		t.Errorf("%d schedules are left as they were, want that of the other queue", n)
	}
}

func TestWhoMayOnlyReadSeesClaimsAndCanDoNothingWithThem(t *testing.T) {
	t.Parallel()
	s, h := gatedSite(t, auth.Options{})
	s.db.Exec(t, "select weir.create_queue('q')")
	s.db.Exec(t, "select weir.send('q', '1')")
	claim := pgtest.QueryVal[int64](t, s.db, "select claim_id from weir.receive('q')")
	h.holder(t, "reader", "q", "read")
	h.holder(t, "elsewhere", "other", "read")
	if status, code, text := s.as(h, "elsewhere", "GET", group+"/claims", ""); status != http.StatusForbidden {
		t.Errorf("a reader of another queue got %d %s: %s", status, code, text)
	}
	status, _, text := s.as(h, "reader", "GET", group+"/claims", "")
	if list := decode[struct{ Claims []engine.Claim }](s, text).Claims; status != http.StatusOK || len(list) != 1 ||
		list[0].ClaimID != claim || list[0].Messages != 1 || list[0].PID == nil {
		t.Fatalf("claims: %d %s, want one, %d", status, text, claim)
	}
	for _, verb := range []string{"ack", "nack", "release", "reject", "extend"} {
		body := fmt.Sprintf(`{"%ss":[{"claim_id":%d,"lease_ms":1000}]}`, verb, claim)
		if status, code, text := s.as(h, "reader", "POST", group+"/"+verb, body); status != http.StatusForbidden {
			t.Errorf("%s by a reader: %d %s: %s", verb, status, code, text)
		}
	}
	pgtest.WaitForRow(t, s.db, "select claimed = 1 from weir.stats('q')")
}

func TestAClaimNamesTheClientThatThisServerHandedItTo(t *testing.T) {
	t.Parallel()
	s, h := gatedSite(t, auth.Options{})
	s.db.Exec(t, "select weir.create_queue('q')")
	s.db.Exec(t, "select weir.send_batch('q', array['1', '2', '3', '4', '5']::jsonb[])")
	s.db.Exec(t, "select weir.receive('q')")
	h.holder(t, "cook", "q", "consume")
	h.holder(t, "waiter", "q", "consume")
	take := func(name, path, body string) int64 {
		status, _, text := s.as(h, name, "POST", group+"/receive"+path, body)
		list := decode[struct{ Messages []engine.Message }](s, text).Messages
		if status != http.StatusOK || len(list) == 0 {
			t.Fatalf("receive by %s: %d %s", name, status, text)
		}
		return list[0].ClaimID
	}
	cooks, waiters := take("cook", "", `{"max":2}`), take("waiter", "", "")
	callers := func() map[int64]string {
		_, _, text := s.as(h, "cook", "GET", group+"/claims", "")
		list := decode[struct {
			Claims []struct {
				ClaimID        int64 `json:"claim_id"`
				Client, Caller *string
			}
		}](s, text).Claims
		of := map[int64]string{}
		for _, c := range list {
			switch {
			case c.Client == nil && c.Caller == nil:
				of[c.ClaimID] = "nobody"
			case c.Client == nil || c.Caller == nil || net.ParseIP(*c.Client) == nil:
				t.Errorf("claims: %s", text)
			default:
				of[c.ClaimID] = *c.Caller
			}
		}
		return of
	}
	all := callers()
	if len(all) != 3 || all[cooks] != "cook" || all[waiters] != "waiter" {
		t.Errorf("the claims are of %v, want those of cook %d, waiter %d and nobody", all, cooks, waiters)
	}
	first := pgtest.QueryVal[int64](t, s.db, "select first_id from weir.claims('q') where claim_id = $1", cooks)
	body := fmt.Sprintf(`{"acks":[{"claim_id":%d,"ids":[%d]}]}`, cooks, first)
	if status, _, text := s.as(h, "cook", "POST", group+"/ack", body); status != http.StatusOK {
		t.Fatalf("ack: %d %s", status, text)
	}
	if all := callers(); all[cooks] != "cook" {
		t.Errorf("after a part of it the claim is of %q", all[cooks])
	}
}
