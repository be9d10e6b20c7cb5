package server

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestTheClientIsWhoAskedTheOutermostTrustedProxy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		header, from string
		says         []string
		other        string // what the header says that does not count
		want         string
	}{
		{HeaderForwardedFor, "10.0.0.1:5", []string{"192.0.2.7"}, "", "192.0.2.7"},
		{HeaderForwardedFor, "10.0.0.1:5", []string{"198.51.100.1, 192.0.2.7"}, "", "192.0.2.7"}, // the first is made up
		{HeaderForwardedFor, "10.0.0.1:5", []string{"192.0.2.7, 10.9.9.9"}, "", "192.0.2.7"},
		{HeaderForwardedFor, "10.0.0.1:5", []string{"192.0.2.7", "10.9.9.9 ,10.8.8.8"}, "", "192.0.2.7"},
		{HeaderForwardedFor, "10.0.0.1:5", []string{"10.9.9.9, 10.8.8.8"}, "", "10.9.9.9"},
		{HeaderForwardedFor, "192.0.2.1:5", []string{"10.9.9.9"}, "", "192.0.2.1"}, // it is no proxy
		{HeaderForwardedFor, "[2001:db8:1::9]:5", []string{"2001:db8:2::1"}, "", "2001:db8:2::1"},
		{HeaderForwardedFor, "[::ffff:10.0.0.1]:5", []string{"::ffff:192.0.2.7"}, "", "192.0.2.7"},
		{HeaderForwardedFor, "10.0.0.1:5", []string{"192.0.2.7:4711"}, "", "192.0.2.7"},
		{HeaderForwardedFor, "10.0.0.1:5", []string{"[2001:db8:2::1]:4711"}, "", "2001:db8:2::1"},
		{HeaderForwardedFor, "10.0.0.1:5", []string{"192.0.2.7, unknown"}, "", "10.0.0.1"},
		{HeaderForwardedFor, "10.0.0.1:5", nil, "", "10.0.0.1"},
		{HeaderForwardedFor, "10.0.0.1:5", []string{""}, "for=192.0.2.7", "10.0.0.1"},
		{HeaderForwarded, "10.0.0.1:5", []string{"for=192.0.2.7"}, "198.51.100.1", "192.0.2.7"},
		{HeaderForwarded, "10.0.0.1:5", []string{`proto=https;For="[2001:db8:2::1]:4711";by=10.0.0.1`}, "", "2001:db8:2::1"},
		{HeaderForwarded, "10.0.0.1:5", []string{"for=192.0.2.7;proto=http, for=10.9.9.9"}, "", "192.0.2.7"},
		{HeaderForwarded, "10.0.0.1:5", []string{"for=_hidden"}, "", "10.0.0.1"},
		{HeaderForwarded, "10.0.0.1:5", []string{"by=192.0.2.7"}, "", "10.0.0.1"},
		{HeaderForwarded, "not an address", []string{"for=192.0.2.7"}, "", "not an address"},
	} {
		proxies, err := ParseProxies([]string{"10.0.0.0/8", "2001:db8:1::9"}, c.header)
		if err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		r.RemoteAddr = c.from
		r.Header[c.header] = c.says
		if c.other != "" {
			unread := map[string]string{HeaderForwarded: HeaderForwardedFor, HeaderForwardedFor: HeaderForwarded}
			r.Header.Set(unread[c.header], c.other)
		}
		got := ""
		proxies.resolve(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			got = hostOf(r.RemoteAddr)
		})).ServeHTTP(nil, r)
		if got != c.want || r.RemoteAddr != c.from {
			t.Errorf("%s %v from %s: %s, want %s", c.header, c.says, c.from, got, c.want)
		}
	}
}

func TestWhatAreNoProxiesIsRefused(t *testing.T) {
	t.Parallel()
	for network, header := range map[string]string{
		"10.0.0.0/33": HeaderForwarded, "proxy.example": HeaderForwarded, "": HeaderForwarded, "10.0.0.1": "X-Real-Ip",
	} {
		if _, err := ParseProxies([]string{network}, header); !errors.Is(err, ErrProxies) {
			t.Errorf("%q %s: %v", network, header, err)
		}
	}
	if p, err := ParseProxies(nil, "x-forwarded-for"); err != nil || len(p.Networks) > 0 {
		t.Errorf("none: %+v, %v", p, err)
	}
}
