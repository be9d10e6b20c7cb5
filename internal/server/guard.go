package server

import (
	"encoding/json"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/weirmq/weir/internal/server/api"
)

// guard keeps web pages of other sites out. There is no authentication on loopback, but every page that the user's
// browser shows can make it send requests there: one from another origin is refused by what the browser says about
// it, and one under a foreign name that was made to resolve to loopback by that name.
func (s *Server) guard(next http.Handler) http.Handler {
	origin := http.NewCrossOriginProtection()
	origin.SetDenyHandler(refuse("a web page of another site sent this request",
		"Use the API from a program or from its own page."))
	protected := origin.Handler(next)
	misdirected := refuse("the request is for another host than this machine",
		"Ask for 127.0.0.1 or localhost, or name the host with --allow-host.")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-store")
		if !s.knownHost(r.Host) {
			misdirected.ServeHTTP(w, r)
			return
		}
		protected.ServeHTTP(w, r)
	})
}

// knownHost reports whether the host of a request is this machine by its own name or one the operator allowed.
func (s *Server) knownHost(hostPort string) bool {
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		host = strings.Trim(hostPort, "[]")
	}
	return host == "" || loopbackName(host) || slices.Contains(s.opt.Hosts, strings.ToLower(host))
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
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(api.Problem{
			Type: "urn:weir:error:insufficient_privilege", Title: http.StatusText(http.StatusForbidden),
			Status: http.StatusForbidden, Detail: detail, SQLState: "42501", Name: "insufficient_privilege", Hint: hint,
		})
	})
}
