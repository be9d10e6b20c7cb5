package server

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/weirmq/weir/internal/server/api"
)

// policy is for what is no page: a browser that shows it anyhow runs nothing of it.
const policy = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

// guard keeps web pages of other sites out. Every page that the user's browser shows can make it send requests here:
// one to the API that comes from another origin is refused by what the browser says about it, reading ones, too, since
// following a group consumes its messages. A name that was made to resolve to this machine makes another site's page
// one of ours, so where nobody is asked for a token, unknown names are refused.
func (s *Server) guard(next http.Handler) http.Handler {
	origin := http.NewCrossOriginProtection()
	foreign := refuse("a web page of another site sent this request",
		"Use the API from a program or from its own page.")
	misdirected := refuse("the request is for another host than this machine",
		"Ask for 127.0.0.1 or localhost, or name the host with --allow-host.")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-store")
		header.Set("Content-Security-Policy", policy)
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		if r.ContentLength != 0 && !strings.HasPrefix(r.URL.Path, "/v1/") { // nobody reads it, but net/http waits for it
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second))
		}
		if !s.gate.Asks() && !s.knownHost(r.Host) {
			misdirected.ServeHTTP(w, r)
			return
		}
		asked := &http.Request{Method: r.Method, Header: r.Header, Host: r.Host, URL: r.URL}
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			asked.Method = http.MethodPost
		}
		if origin.Check(asked) != nil || typedElsewhere(r) {
			foreign.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// typedElsewhere reports whether a request is said to come from no page, as one that the user typed, and from the page
// of another site as well. A browser says the first of requests that have no origin.
func typedElsewhere(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || r.Header.Get("Sec-Fetch-Site") != "none" {
		return false
	}
	from, err := url.Parse(origin)
	return err != nil || from.Host != r.Host
}

// knownHost reports whether the host of a request is an address, or a name of loopback or one the operator allowed.
func (s *Server) knownHost(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = strings.Trim(hostPort, "[]")
	}
	_, notAddress := netip.ParseAddr(host) // an address cannot be made to resolve to another machine
	return host == "" || loopbackName(host) || notAddress == nil || slices.Contains(s.opt.Hosts, strings.ToLower(host))
}

// loopbackName reports whether a name means this machine and nothing else.
func loopbackName(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsLoopback()
}

// refuse answers with 403 and a problem.
func refuse(detail, hint string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		api.Refuse(w, &api.Problem{
			Type: "urn:weir:error:insufficient_privilege", Title: http.StatusText(http.StatusForbidden),
			Status: http.StatusForbidden, Detail: detail, SQLState: "42501", Name: "insufficient_privilege", Hint: hint,
		})
	})
}
