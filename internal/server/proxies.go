package server

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Headers in which a reverse proxy says for whom it asks.
const (
	HeaderForwardedFor = "X-Forwarded-For"
	HeaderForwarded    = "Forwarded"
)

// Proxies are the reverse proxies whose word counts about who sent a request. The zero value trusts none.
type Proxies struct {
	// Networks are where they are.
	Networks []netip.Prefix
	// Header is the one that all of them write, HeaderForwardedFor or HeaderForwarded; the other is never looked at,
	// since it may be the client's own.
	Header string
}

// ParseProxies reads addresses and networks, such as 10.0.0.7 and 10.0.0.0/8, and the name of a header.
func ParseProxies(networks []string, header string) (Proxies, error) {
	p := Proxies{Header: http.CanonicalHeaderKey(header)}
	if p.Header != HeaderForwardedFor && p.Header != HeaderForwarded {
		return p, fmt.Errorf("%w: %q is neither %s nor %s", ErrProxies, header, HeaderForwardedFor, HeaderForwarded)
	}
	for _, text := range networks {
		if address, err := netip.ParseAddr(text); err == nil {
			text = netip.PrefixFrom(address, address.BitLen()).String()
		}
		network, err := netip.ParsePrefix(text)
		if err != nil {
			return p, fmt.Errorf("%w: %q is neither an address nor a network such as 10.0.0.0/8", ErrProxies, text)
		}
		p.Networks = append(p.Networks, network.Masked())
	}
	return p, nil
}

// trust reports whether an address is one of a proxy.
func (p Proxies) trust(address netip.Addr) bool {
	return slices.ContainsFunc(p.Networks, func(n netip.Prefix) bool { return n.Contains(address) })
}

// resolve has what follows see the address of the client instead of that of the last proxy.
func (p Proxies) resolve(next http.Handler) http.Handler {
	if len(p.Networks) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
			if client := p.client(at.Addr().Unmap(), r.Header); client != at.Addr().Unmap() {
				r = r.WithContext(r.Context()) // a copy
				r.RemoteAddr = net.JoinHostPort(client.String(), "0")
			}
		}
		next.ServeHTTP(w, r)
	})
}

// client is who sent a request that came from an address: the header is read from its end, which the nearest proxy
// wrote, for as long as the one who asked is a proxy. What stands before that may be anybody's invention.
func (p Proxies) client(address netip.Addr, header http.Header) netip.Addr {
	said := strings.Split(strings.Join(header.Values(p.Header), ","), ",")
	for i := len(said) - 1; i >= 0 && p.trust(address); i-- {
		earlier, ok := p.parse(said[i])
		if !ok {
			break
		}
		address = earlier
	}
	return address
}

// parse reads one element of the header.
func (p Proxies) parse(element string) (netip.Addr, bool) {
	if p.Header == HeaderForwarded {
		element = forParameter(element)
	}
	element = strings.Trim(strings.TrimSpace(element), `"`)
	if at, err := netip.ParseAddrPort(element); err == nil {
		return at.Addr().Unmap(), true
	}
	address, err := netip.ParseAddr(strings.Trim(element, "[]"))
	return address.Unmap().WithZone(""), err == nil
}

// forParameter is the value of "for" in an element of a header Forwarded, as RFC 7239 has it.
func forParameter(element string) string {
	for pair := range strings.SplitSeq(element, ";") {
		if name, value, _ := strings.Cut(strings.TrimSpace(pair), "="); strings.EqualFold(name, "for") {
			return value
		}
	}
	return ""
}

// hostOf is an address without its port.
func hostOf(remote string) string {
	if host, _, err := net.SplitHostPort(remote); err == nil {
		return host
	}
	return remote
}
