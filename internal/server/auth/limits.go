package auth

import (
	"net/netip"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"
)

// bucketsMax is how many callers' rates are kept; who was not heard of for longest is forgotten first.
const bucketsMax = 50_000

// limits holds every caller to a rate.
type limits struct {
	rate    rate.Limit
	burst   int
	buckets *lru.Cache[string, *rate.Limiter]
}

// newLimits returns nil, which limits nobody, for the rate 0.
func newLimits(perSecond float64, burst int) *limits {
	if perSecond <= 0 {
		return nil
	}
	if burst <= 0 {
		burst = max(1, int(2*perSecond))
	}
	buckets, _ := lru.New[string, *rate.Limiter](bucketsMax) // it fails on sizes below 1 only
	return &limits{rate: rate.Limit(perSecond), burst: burst, buckets: buckets}
}

// take counts a request of a caller, or refuses it.
func (l *limits) take(caller string, now time.Time) error {
	if l == nil {
		return nil
	}
	bucket, ok := l.buckets.Get(caller)
	if !ok {
		bucket = rate.NewLimiter(l.rate, l.burst)
		if earlier, there, _ := l.buckets.PeekOrAdd(caller, bucket); there {
			bucket = earlier
		}
	}
	turn := bucket.ReserveN(now, 1)
	if delay := turn.DelayFrom(now); delay > 0 {
		turn.CancelAt(now)
		return tooMany(delay)
	}
	return nil
}

// addressKey is what the requests of one address are counted under. One IPv6 host may have all addresses of a /64.
func addressKey(remote string) string {
	at, err := netip.ParseAddrPort(remote)
	if err != nil {
		return "address " + remote
	}
	address := at.Addr().Unmap().WithZone("")
	if address.Is6() {
		if network, err := address.Prefix(64); err == nil {
			return "address " + network.String()
		}
	}
	return "address " + address.String()
}
