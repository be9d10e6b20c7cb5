package auth

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/time/rate"
)

const (
	// DefaultScopeClaim is where a JWT says what it allows.
	DefaultScopeClaim = "scope"
	// scopePrefix begins the scopes that are Weir's: weir:VERB:PATTERN, or weir:VERB for all queues.
	scopePrefix = "weir:"
	// How often the keys are fetched at most: a token of an unknown key makes them be.
	keysEvery   = 10 * time.Second
	keysBurst   = 3
	keysTimeout = 10 * time.Second
)

// algorithms are those that need a private key to sign: a public key of the issuer is not a secret to sign with.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
}

// JWTOptions say which JWTs let in.
type JWTOptions struct {
	// Issuer is what `iss` must be. Unless Keys is given, its discovery document tells where its keys are.
	Issuer string
	// Keys is the URL or the path of a JSON Web Key Set.
	Keys string
	// Audience is what `aud` must contain.
	Audience string
	// ScopeClaim says what the JWT allows: a list, or a string with spaces; empty means DefaultScopeClaim.
	ScopeClaim string
}

// JWT checks JWTs of one issuer.
type JWT struct {
	opt    JWTOptions
	keys   *keyFetcher
	keySet oidc.KeySet
}

// NewJWT finds out where the issuer's keys are.
func NewJWT(ctx context.Context, opt JWTOptions) (*JWT, error) {
	if opt.ScopeClaim == "" {
		opt.ScopeClaim = DefaultScopeClaim
	}
	transport := &http.Transport{Proxy: http.ProxyFromEnvironment}
	plain := &http.Client{Transport: transport, Timeout: keysTimeout}
	where, err := keysAddress(oidc.ClientContext(ctx, plain), opt, transport)
	if err != nil {
		return nil, err
	}
	if err := reachable(ctx, plain, where); err != nil {
		return nil, err
	}
	keys := &keyFetcher{next: transport, limiter: rate.NewLimiter(rate.Every(keysEvery), keysBurst)}
	client := &http.Client{Transport: keys, Timeout: keysTimeout}
	return &JWT{opt: opt, keys: keys, keySet: oidc.NewRemoteKeySet(oidc.ClientContext(ctx, client), where)}, nil
}

// keysAddress is the URL of the keys: as given, or as the issuer says. A path becomes a URL that the transport learns.
func keysAddress(ctx context.Context, opt JWTOptions, transport *http.Transport) (string, error) {
	if opt.Keys == "" {
		provider, err := oidc.NewProvider(ctx, opt.Issuer)
		if err != nil {
			return "", fmt.Errorf("%w: discover issuer %s: %w", ErrKeys, opt.Issuer, err)
		}
		var document struct {
			Keys string `json:"jwks_uri"`
		}
		if err := provider.Claims(&document); err != nil || document.Keys == "" {
			return "", fmt.Errorf("%w: issuer %s does not say where they are", ErrKeys, opt.Issuer)
		}
		return document.Keys, nil
	}
	if strings.Contains(opt.Keys, "://") {
		return opt.Keys, nil
	}
	path, err := filepath.Abs(opt.Keys)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrKeys, err)
	}
	transport.RegisterProtocol("file", http.NewFileTransport(http.Dir("/")))
	return (&url.URL{Scheme: "file", Path: path}).String(), nil
}

// reachable fetches the keys once, so that a wrong address is noticed at the start.
func reachable(ctx context.Context, client *http.Client, where string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, where, http.NoBody)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrKeys, err)
	}
	response, err := client.Do(r)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrKeys, err)
	}
	defer response.Body.Close()
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s answers %s", ErrKeys, where, response.Status)
	}
	if err := json.NewDecoder(response.Body).Decode(&set); err != nil || len(set.Keys) == 0 {
		return fmt.Errorf("%w: %s is no JSON Web Key Set with a key in it", ErrKeys, where)
	}
	return nil
}

// verify checks a JWT and tells who it lets in.
func (j *JWT) verify(ctx context.Context, text string, now time.Time) (*Caller, error) {
	verifier := oidc.NewVerifier(j.opt.Issuer, j.keySet, &oidc.Config{
		ClientID: j.opt.Audience, SupportedSigningAlgs: algorithms, Now: func() time.Time { return now },
	})
	token, err := verifier.Verify(ctx, text)
	if err != nil {
		if failure := j.keys.failure.Load(); failure != nil {
			return nil, fmt.Errorf("%w: %w", ErrKeys, *failure)
		}
		return nil, errJWT
	}
	var claims map[string]json.RawMessage
	if err := token.Claims(&claims); err != nil {
		return nil, errJWT
	}
	ends := token.Expiry
	if ends.After(lastTime) {
		ends = lastTime
	}
	return &Caller{
		Kind: ByJWT, Name: token.Subject, Grants: grantsOf(claims[j.opt.ScopeClaim]), ExpiresAt: &ends, proof: text,
	}, nil
}

// lastTime is the last second that an answer in JSON can name.
var lastTime = time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)

// grantsOf reads the scopes of a claim. Those that are not Weir's, or not well formed, allow nothing.
func grantsOf(claim json.RawMessage) []Grant {
	var list []string
	var text string
	if json.Unmarshal(claim, &text) == nil {
		list = strings.Fields(text)
	} else if json.Unmarshal(claim, &list) != nil {
		return nil
	}
	var grants []Grant
	for _, scope := range list {
		rest, ok := strings.CutPrefix(scope, scopePrefix)
		verb, pattern, named := strings.Cut(rest, ":")
		if !named {
			pattern = "*"
		}
		if ok && pattern != "" && slices.Contains(all, Verb(verb)) {
			grants = append(grants, Grant{Queues: []string{pattern}, Verbs: []Verb{Verb(verb)}})
		}
	}
	return grants
}

// keyFetcher fetches keys, not too often, and remembers whether that went wrong.
type keyFetcher struct {
	next    http.RoundTripper
	limiter *rate.Limiter
	failure atomic.Pointer[error] // of the last fetch
}

// RoundTrip implements http.RoundTripper.
func (f *keyFetcher) RoundTrip(r *http.Request) (*http.Response, error) {
	if !f.limiter.Allow() {
		return nil, errJustAsked
	}
	response, err := f.next.RoundTrip(r)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%w: %s", ErrKeys, response.Status)
		f.failure.Store(&err)
		return response, nil
	}
	if err != nil {
		f.failure.Store(&err)
		return nil, err //nolint:wrapcheck // as any round tripper
	}
	f.failure.Store(nil)
	return response, nil
}
