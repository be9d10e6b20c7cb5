package api_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server/auth"
)

// movable is a clock that a test moves while requests read it.
type movable struct{ ahead atomic.Int64 }

func (m *movable) Now() time.Time { return time.Now().Add(time.Duration(m.ahead.Load())) }

func TestWhoeverIsRevokedWhileHeWaitsGetsNothingThatComesLater(t *testing.T) {
	t.Parallel()
	for _, route := range []struct{ method, path, body string }{
		{"POST", "/receive", `{"wait_ms":60000,"max":10}`},
		{"GET", "/events", ""},
	} {
		t.Run(strings.Trim(route.path, "/"), func(t *testing.T) {
			t.Parallel()
			now := &movable{}
			s, h := gatedSite(t, auth.Options{Now: now.Now})
			s.db.Exec(t, "select weir.create_queue('q')")
			h.holder(t, "leaver", "*", "consume")
			answer := make(chan string, 1)
			go func() {
				_, _, text := s.as(h, "leaver", route.method, group+route.path, route.body)
				answer <- text
			}()
			pgtest.WaitForRow(t, s.db, `select exists (select from pg_stat_activity
				where datname = current_database() and query like '%receive_many%' and pid <> pg_backend_pid())`)
			s.db.Exec(t, "select weir.revoke_token('leaver')")
			now.ahead.Store(int64(auth.RecheckAfter))
			s.db.Exec(t, `select weir.send('q', '"secret"')`)
			if text := <-answer; strings.Contains(text, "secret") || !strings.Contains(text, "WR041") {
				t.Errorf("got %s", text)
			}
			pgtest.WaitForRow(t, s.db, "select waiting = 1 and claimed = 0 from weir.stats('q')")
			attempt := pgtest.QueryVal[int](t, s.db, "select attempt from weir.receive('q')")
			if attempt != 1 {
				t.Errorf("the next delivery is attempt %d, want 1", attempt)
			}
		})
	}
}

func TestARequestWithoutATokenIsRefusedBeforeItsBodyIsRead(t *testing.T) {
	t.Parallel()
	s, h := gatedSite(t, auth.Options{})
	h.holder(t, "reader", "*", "read")
	for name, want := range map[string]int{"": http.StatusUnauthorized, "reader": http.StatusForbidden} {
		body, rest := io.Pipe()
		t.Cleanup(func() { _ = rest.Close() })
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/v1/queues/q/messages", body)
		if err != nil {
			t.Fatal(err)
		}
		if name != "" {
			r.Header.Set("Authorization", "Bearer "+h.tokens[name])
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("%q: %s, want %d", name, response.Status, want)
		}
		if challenge := response.Header.Get("WWW-Authenticate"); (challenge != "") != (want == http.StatusUnauthorized) {
			t.Errorf("%q: WWW-Authenticate is %q", name, challenge)
		}
	}
}

func TestATokenCountsInTheHeaderOnly(t *testing.T) {
	t.Parallel()
	s, h := gatedSite(t, auth.Options{})
	h.holder(t, "root", "*", "produce,consume,admin,read")
	token := h.tokens["root"]
	for _, place := range []func(r *http.Request){
		func(r *http.Request) { r.URL.RawQuery = "access_token=" + token },
		func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "weir-token", Value: token}) },
		func(r *http.Request) { r.SetBasicAuth("root", token) },
		func(r *http.Request) { r.SetBasicAuth(token, "") },
		func(r *http.Request) { r.Header.Set("X-Forwarded-User", "root") },
		func(r *http.Request) { r.Header.Set("X-Original-Authorization", "Bearer "+token) },
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/whoami", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		place(r)
		if status, text := s.do(r); status != http.StatusUnauthorized {
			t.Errorf("%v %v: %d %s", r.URL, r.Header, status, text)
		}
	}
}

func TestACallerWhoSendsTooMuchIsToldWhenToComeAgain(t *testing.T) {
	t.Parallel()
	s, h := gatedSite(t, auth.Options{Rate: 0.01, Burst: 2})
	h.holder(t, "busy", "*", "read")
	for i, want := range []int{200, 200, 200, 429} { // the first counts for the address
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/v1/whoami", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+h.tokens["busy"])
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := bufio.NewReader(response.Body).ReadString('\n')
		response.Body.Close()
		if response.StatusCode != want || err != nil {
			t.Errorf("request %d: %s, want %d: %v", i, response.Status, want, err)
		}
		after := response.Header.Get("Retry-After")
		if want == 429 && (!strings.Contains(text, "WR045") || after == "" || after == "0") {
			t.Errorf("Retry-After is %q: %s", after, text)
		}
	}
}

func TestLookingAtWhatAnEventStreamWouldSayConsumesNothing(t *testing.T) {
	t.Parallel()
	s, h := gatedSite(t, auth.Options{})
	s.db.Exec(t, "select weir.create_queue('q'), weir.send('q', '1')")
	h.holder(t, "worker", "*", "consume")
	if status, _, text := s.as(h, "worker", http.MethodHead, group+"/events", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("%d %s", status, text)
	}
	if n := pgtest.QueryVal[int](t, s.db, "select waiting::int from weir.stats('q')"); n != 1 {
		t.Errorf("%d messages wait, want 1", n)
	}
}
