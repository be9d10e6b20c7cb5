package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server/api"
)

func TestNumbersThatNoColumnHoldsAreRefusedOnEveryWayIn(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.want(http.StatusOK, "PATCH", "/v1/queues/q", `{"dedup_window_ms":60000}`)
	s.want(http.StatusNoContent, "PUT", "/v1/topics/news/queues/q", "")
	const tooLarge = "2147483648"
	send := func(more string) string { return `{"messages":[{"payload":1,"priority":` + tooLarge + more + `}]}` }
	for _, c := range []struct{ path, body string }{
		{"/v1/queues/q/messages", send("")},
		{"/v1/queues/q/messages", send(`,"dedup_key":"d"`)},
		{"/v1/queues/q/messages", `{"messages":[{"payload":1,"dedup_key":"d","priority":-2147483649}]}`},
		{"/v1/queues/q/messages", send(`},{"payload":2,"dedup_key":"d"`)},
		{"/v1/topics/news/messages", send(`,"dedup_key":"d"`)},
		{"/v1/transaction", `{"sends":[{"queue":"q",` + send(`,"dedup_key":"d"`)[1:] + `]}`},
		{"/v1/queues/q/jobs", `{"jobs":[{"kind":"k"}],"priority":` + tooLarge + `}`},
		{group + "/receive", `{"max":` + tooLarge + `}`},
		{group + "/receive", `{"max":` + tooLarge + `,"wait_ms":10}`},
		{group + "/pop", `{"max":` + tooLarge + `}`},
	} {
		text := s.want(http.StatusBadRequest, "POST", c.path, c.body)
		if p := decode[api.Problem](s, text); p.SQLState != "WR006" {
			t.Errorf("%s %s: %s", c.path, c.body, text)
		}
	}
	for _, path := range []string{
		group + "/peek?max=", group + "/dead_letters?max=", group + "/claims?max=", group + "/delayed?max=",
		group + "/parked_keys?max=", "/v1/queues/q/workflows?max=",
	} {
		s.want(http.StatusBadRequest, "GET", path+tooLarge, "")
	}
}

func TestAnItemThatNamesNoMessagesIsRefusedAndNotTakenForTheWholeClaim(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", `{"messages":[{"payload":1}]}`)
	claim := s.receive()[0].ClaimID
	for _, list := range []string{"acks", "nacks", "releases", "rejects", "snoozes"} {
		for _, names := range []string{"", `,"ids":[]`, `,"ids":null`} {
			item := fmt.Sprintf(`{"claim_id":%d%s}`, claim, names)
			paths := map[string]string{group + "/" + strings.TrimSuffix(list, "s"): item}
			if list != "snoozes" {
				paths["/v1/transaction"] = `{"queue":"q",` + item[1:]
			}
			for path, item := range paths {
				text := s.want(http.StatusBadRequest, "POST", path, `{"`+list+`":[`+item+`]}`)
				p := decode[api.Problem](s, text)
				if p.SQLState != "WR006" || len(p.Errors) != 1 || !strings.HasPrefix(p.Errors[0].Location, "body."+list+"[0]") {
					t.Errorf("%s %s: %s", path, list, text)
				}
			}
		}
	}
	text := s.want(http.StatusOK, "POST", "/v1/transaction",
		fmt.Sprintf(`{"acks":[{"queue":"q","claim_id":%d,"all":true}]}`, claim))
	if !strings.Contains(text, `"finished":1`) {
		t.Errorf("all of the claim: %s", text)
	}
}

func TestDueTimesThatNoAnswerCanHoldAreLeftOut(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	const leap = "/v1/next_times?cron=0+0+29+2+*&after="
	for after, want := range map[string]string{
		"9995-01-01T00:00:00Z": `{"times":["9996-02-29T00:00:00Z"]}`, "9999-12-31T23:59:59Z": `{"times":[]}`,
	} {
		if text := s.want(http.StatusOK, "GET", leap+after, ""); text != want {
			t.Errorf("after %s: %s", after, text)
		}
	}
}

func TestALookEndsInTheDatabaseTooWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	server := httptest.NewServer(api.New(s.client, api.Options{LookMax: 50 * time.Millisecond}))
	t.Cleanup(server.Close)
	s.url = server.URL
	conn := s.db.Conn(t)
	if _, err := conn.Exec(t.Context(), "begin; lock table weir_internal.schedules in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	text := s.want(http.StatusServiceUnavailable, "GET", "/v1/schedules", "")
	if p := decode[api.Problem](s, text); !p.Retryable || !strings.Contains(p.Detail, "did not answer in time") {
		t.Errorf("answer %s", text)
	}
	pgtest.WaitForRow(t, s.db, `select not exists (select from pg_stat_activity where datname = current_database()
		and state = 'active' and query like '%list_schedules%' and pid <> pg_backend_pid())`)
}

func TestLooksAtTheWholeDatabaseLeaveConnectionsForMessages(t *testing.T) {
	t.Parallel()
	s := newSite(t, 0)
	most := s.client.Pool().Max
	conn := s.db.Conn(t)
	if _, err := conn.Exec(t.Context(), "begin; lock table weir_internal.schedules in access exclusive mode"); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{}, 3*most)
	for range 3 * most {
		go func() {
			defer func() { ended <- struct{}{} }()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/schedules", http.NoBody)
			if err != nil {
				t.Error(err)
				return
			}
			response, err := http.DefaultClient.Do(r)
			if err != nil {
				t.Error(err)
				return
			}
			response.Body.Close()
		}()
	}
	pgtest.WaitFor(t, "all to have come", func() bool { return int(s.running.Load()) == 3*most })
	pgtest.WaitForRow(t, s.db, `select count(*) = $1 from pg_stat_activity where datname = current_database()
		and wait_event_type = 'Lock'`, most/2)
	s.want(http.StatusCreated, "POST", "/v1/queues/q/messages", `{"messages":[{"payload":1}]}`)
	if _, err := conn.Exec(t.Context(), "commit"); err != nil {
		t.Fatal(err)
	}
	for range 3 * most {
		<-ended
	}
}

func TestADatabaseThatIsGoneIsToldWithoutWhereItWas(t *testing.T) {
	t.Parallel()
	const address = "127.0.0.1:1"
	client, err := engine.Open(t.Context(), "postgres://someone:secret@"+address+"/somewhere",
		engine.Options{Later: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	s := &site{T: t, client: client}
	server := httptest.NewServer(api.New(client, api.Options{}))
	t.Cleanup(server.Close)
	s.url = server.URL
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/v1/queues", ""},
		{"GET", "/v1/stats", ""},
		{"GET", "/readyz", ""},
		{"POST", "/v1/queues/q/messages", `{"messages":[{"payload":1}]}`},
		{"POST", group + "/receive", `{}`},
		{"POST", "/v1/transaction", `{"acks":[{"queue":"q","claim_id":1,"all":true}]}`},
		{"GET", group + "/events", ""},
	} {
		text := s.want(http.StatusServiceUnavailable, c.method, c.path, c.body)
		for _, told := range []string{"127.0.0.1", "someone", "secret", "somewhere", "dial"} {
			if strings.Contains(text, told) {
				t.Errorf("%s tells %s: %s", c.path, told, text)
			}
		}
		if p := decode[api.Problem](s, text); !strings.Contains(p.Detail, "the database cannot be reached") || !p.Retryable {
			t.Errorf("%s: %s", c.path, text)
		}
	}
}
