package server

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/weirmq/weir/web"
)

func TestPagesOfOtherSitesAndForeignHostNamesAreRefused(t *testing.T) {
	t.Parallel()
	s := New(nil, Options{Hosts: []string{"queues.example"}})
	handler := s.guard(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	for _, c := range []struct {
		name, method, host string
		headers            map[string]string
		status             int
	}{
		{"curl", "POST", "127.0.0.1:9347", nil, 204},
		{"curl by name", "POST", "localhost:9347", nil, 204},
		{"curl over IPv6", "POST", "[::1]:9347", nil, 204},
		{"a proxy that was allowed", "POST", "Queues.Example", nil, 204},
		{"a name made to resolve to loopback", "GET", "evil.example:9347", nil, 403},
		{"a page of another site", "POST", "localhost:9347", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"an image of another site", "GET", "localhost:9347", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"an address", "POST", "192.0.2.7:9347", nil, 204},
		{"the same in an old browser", "POST", "localhost:9347", map[string]string{"Origin": "http://evil.example"}, 403},
		{
			"an origin although none was", "POST", "localhost:9347",
			map[string]string{"Sec-Fetch-Site": "none", "Origin": "http://evil.example"},
			403,
		},
		{
			"the same of a page without one", "GET", "localhost:9347",
			map[string]string{"Sec-Fetch-Site": "none", "Origin": "null"},
			403,
		},
		{
			"the same by another port", "DELETE", "localhost:9347",
			map[string]string{"Sec-Fetch-Site": "none", "Origin": "http://localhost:1"},
			403,
		},
		{
			"the own origin", "POST", "localhost:9347",
			map[string]string{"Sec-Fetch-Site": "none", "Origin": "http://localhost:9347"},
			204,
		},
		{"typed by the user", "GET", "localhost:9347", map[string]string{"Sec-Fetch-Site": "none"}, 204},
		{"the own page", "POST", "localhost:9347", map[string]string{"Sec-Fetch-Site": "same-origin"}, 204},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, "http://"+c.host+"/v1/queues/q", nil)
		for name, value := range c.headers {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != c.status {
			t.Errorf("%s: status %d, want %d", c.name, w.Code, c.status)
		}
	}
}

func TestAnswersForbidBrowsersWhatTheyNeedNotDo(t *testing.T) {
	t.Parallel()
	inner := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	handler := New(nil, Options{}).guard(web.Handler(inner))
	for path, policy := range map[string]string{"/v1/queues": "default-src 'none'", "/": "script-src 'self'"} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost"+path, http.NoBody)
		r.Header.Set("Sec-Fetch-Site", "none") // typed into the browser
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		got := w.Header().Get("Content-Security-Policy")
		if !strings.Contains(got, policy) || !strings.Contains(got, "frame-ancestors 'none'") ||
			strings.Contains(got, "unsafe") {
			t.Errorf("%s: policy %q", path, got)
		}
		for name, want := range map[string]string{
			"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store",
			"Cross-Origin-Resource-Policy": "same-origin",
		} {
			if got := w.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", path, name, got, want)
			}
		}
	}
}

func TestOnlyLoopbackIsListenedOn(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "192.0.2.1:0", "example.com:0", "nonsense"} {
		if listener, err := Listen(t.Context(), address); err == nil {
			_ = listener.Close()
			t.Errorf("%s: no error", address)
		}
	}
	listener, err := Listen(t.Context(), "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if _, err := Listen(t.Context(), listener.Addr().String()); err == nil {
		t.Error("a taken address: no error")
	}
}
