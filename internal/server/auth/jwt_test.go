package auth_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/auth"
)

// issuer is an identity provider of its own.
type issuer struct {
	*httptest.Server

	mu      sync.Mutex
	keys    jose.JSONWebKeySet
	fetches int
	down    bool
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
	})
	mux.HandleFunc("GET /keys", func(w http.ResponseWriter, _ *http.Request) {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.fetches++
		if i.down {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		_ = json.NewEncoder(w).Encode(i.keys)
	})
	i.Server = httptest.NewServer(mux)
	t.Cleanup(i.Close)
	return i
}

// publish makes a key the only one that the issuer shows.
func (i *issuer) publish(kid string, public crypto.PublicKey) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys = jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: public, KeyID: kid, Use: "sig"}}}
}

// sign makes a JWT.
func sign(t *testing.T, alg jose.SignatureAlgorithm, key any, kid string, claims map[string]any) string {
	t.Helper()
	options := (&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", kid)
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: key}, options)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func rsaKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// claims are those of a good JWT, with changes; nil takes one away.
func claims(i *issuer, changes map[string]any) map[string]any {
	c := map[string]any{
		"iss": i.URL, "aud": "weir", "sub": "shop", "exp": time.Now().Add(time.Hour).Unix(),
		"scope": "openid weir:produce:orders.* weir:read",
	}
	maps.Copy(c, changes)
	maps.DeleteFunc(c, func(_ string, v any) bool { return v == nil })
	return c
}

// gateOf lets in whoever has a JWT of the issuer.
func gateOf(t *testing.T, opt auth.JWTOptions, now func() time.Time) *auth.Gate {
	t.Helper()
	jwt, err := auth.NewJWT(t.Context(), opt)
	if err != nil {
		t.Fatal(err)
	}
	return auth.New(auth.Options{JWT: jwt, Now: now})
}

func TestAJWTOfTheIssuerLetsInAsFarAsItsScopesSay(t *testing.T) {
	t.Parallel()
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	public, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private := rsaKey(t)
	for alg, pair := range map[jose.SignatureAlgorithm][2]any{
		jose.RS256: {private, private.Public()}, jose.PS512: {private, private.Public()},
		jose.ES256: {curve, curve.Public()}, jose.EdDSA: {edwards, public},
	} {
		i := newIssuer(t)
		i.publish("k", pair[1])
		g := gateOf(t, auth.JWTOptions{Issuer: i.URL, Audience: "weir"}, nil)
		c, err := enter(t, g, here, "Bearer "+sign(t, alg, pair[0], "k", claims(i, nil)))
		if err != nil {
			t.Errorf("%s: %v", alg, err)
			continue
		}
		if c.Name != "shop" || !c.May(auth.Produce, "orders.eu") || c.May(auth.Produce, "mail") ||
			!c.MayEverywhere(auth.Read) || c.MaySomewhere(auth.Consume) || c.MaySomewhere(auth.Admin) {
			t.Errorf("%s: let in %+v", alg, c)
		}
	}
}

func TestScopesThatAreNotWellFormedAllowNothing(t *testing.T) {
	t.Parallel()
	i, key := newIssuer(t), rsaKey(t)
	i.publish("k", key.Public())
	g := gateOf(t, auth.JWTOptions{Issuer: i.URL, Audience: "weir", ScopeClaim: "roles"}, nil)
	for _, scope := range []any{
		nil, "", 7,
		map[string]any{"weir:admin": true},
		"weir", "weir:", "weir:*", "weir:*:*", "weir:write:*", "weir:admin:",
		"Weir:admin:*", "x-weir:admin:*", "admin:*",
		[]any{"weir:admin", 1},
		"weir:adminx",
	} {
		c, err := enter(t, g, here, "Bearer "+sign(t, jose.RS256, key, "k", claims(i, map[string]any{"roles": scope})))
		if err != nil {
			t.Errorf("%v: %v", scope, err)
			continue
		}
		for _, verb := range []auth.Verb{auth.Produce, auth.Consume, auth.Admin, auth.Read} {
			if c.May(verb, "orders") || c.May(verb, "") || c.MayEverywhere(verb) {
				t.Errorf("%v allows %s", scope, verb)
			}
		}
	}
	list := []string{"weir:admin:a", "weir:consume:b*"}
	c, err := enter(t, g, here, "Bearer "+sign(t, jose.RS256, key, "k", claims(i, map[string]any{"roles": list})))
	if err != nil || !c.May(auth.Admin, "a") || !c.May(auth.Consume, "bb") || c.May(auth.Admin, "bb") {
		t.Errorf("a list: %+v, %v", c, err)
	}
}

func TestAJWTThatIsNotTheIssuersOrNotForUsOrNotNowIsRefused(t *testing.T) {
	t.Parallel()
	i, key, foreign := newIssuer(t), rsaKey(t), rsaKey(t)
	i.publish("k", key.Public())
	g := gateOf(t, auth.JWTOptions{Issuer: i.URL, Audience: "weir"}, nil)
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	good := sign(t, jose.RS256, key, "k", claims(i, nil))
	parts := strings.Split(good, ".")
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	of := func(changes map[string]any) string { return sign(t, jose.RS256, key, "k", claims(i, changes)) }
	all, err := json.Marshal(claims(i, map[string]any{"scope": "weir:admin"}))
	if err != nil {
		t.Fatal(err)
	}
	for what, token := range map[string]string{
		"signed by another":          sign(t, jose.RS256, foreign, "k", claims(i, nil)),
		"of an unknown key":          sign(t, jose.RS256, foreign, "other", claims(i, nil)),
		"signed with the public key": sign(t, jose.HS256, der, "k", claims(i, nil)),
		"not signed":                 part(`{"alg":"none","kid":"k"}`) + "." + parts[1] + ".",
		"not signed, in capitals":    part(`{"alg":"NONE","kid":"k"}`) + "." + parts[1] + ".",
		"with other claims":          parts[0] + "." + part(string(all)) + "." + parts[2],
		"with a key of its own":      part(`{"alg":"RS256","jwk":{"kty":"oct","k":"AA"}}`) + "." + parts[1] + "." + parts[2],
		"cut short":                  good[:len(good)-8],
		"for another audience":       of(map[string]any{"aud": "mail"}),
		"for no audience":            of(map[string]any{"aud": nil}),
		"of another issuer":          of(map[string]any{"iss": "https://evil.example"}),
		"of no issuer":               of(map[string]any{"iss": nil}),
		"expired":                    of(map[string]any{"exp": time.Now().Add(-time.Minute).Unix()}),
		"without an end":             of(map[string]any{"exp": nil}),
		"not valid yet":              of(map[string]any{"nbf": time.Now().Add(time.Hour).Unix()}),
		"nothing":                    "..",
	} {
		if c, err := enter(t, g, here, "Bearer "+token); engine.Code(err) != engine.CodeUnauthenticated {
			t.Errorf("%s: got %v, %v", what, c, err)
		}
	}
	if _, err := enter(t, g, here, "Bearer "+good); err != nil {
		t.Errorf("the good one: %v", err)
	}
	if i.fetches > 5 {
		t.Errorf("keys were fetched %d times", i.fetches)
	}
}

func TestAJWTLetsInNoLongerThanItSays(t *testing.T) {
	t.Parallel()
	i, key, now := newIssuer(t), rsaKey(t), &clock{time.Now()}
	i.publish("k", key.Public())
	g := gateOf(t, auth.JWTOptions{Issuer: i.URL, Audience: "weir"}, now.Now)
	end := now.now.Add(2 * time.Second)
	token := "Bearer " + sign(t, jose.RS256, key, "k", claims(i, map[string]any{"exp": end.Unix()}))
	if _, err := enter(t, g, here, token); err != nil {
		t.Fatal(err)
	}
	now.now = end
	if _, err := enter(t, g, here, token); engine.Code(err) != engine.CodeUnauthenticated {
		t.Errorf("after its end: %v", err)
	}
}

func TestAKeyThatIsNewIsFetchedAndGuessesDoNotMakeItBeFetchedOverAndOver(t *testing.T) {
	t.Parallel()
	i, first, second := newIssuer(t), rsaKey(t), rsaKey(t)
	i.publish("first", first.Public())
	g := gateOf(t, auth.JWTOptions{Issuer: i.URL, Audience: "weir"}, nil)
	if _, err := enter(t, g, here, "Bearer "+sign(t, jose.RS256, first, "first", claims(i, nil))); err != nil {
		t.Fatal(err)
	}
	i.publish("second", second.Public())
	if _, err := enter(t, g, here, "Bearer "+sign(t, jose.RS256, second, "second", claims(i, nil))); err != nil {
		t.Errorf("the new key: %v", err)
	}
	before := i.fetches
	for n := range 50 {
		token := sign(t, jose.RS256, first, "guess", claims(i, map[string]any{"n": n}))
		if _, err := enter(t, g, here, "Bearer "+token); engine.Code(err) != engine.CodeUnauthenticated {
			t.Fatal(err)
		}
	}
	if extra := i.fetches - before; extra > 2 {
		t.Errorf("50 guesses made the keys be fetched %d times", extra)
	}
}

func TestAnIssuerThatIsDownIsTroubleAndNotARefusal(t *testing.T) {
	t.Parallel()
	i, key := newIssuer(t), rsaKey(t)
	i.publish("k", key.Public())
	g := gateOf(t, auth.JWTOptions{Issuer: i.URL, Audience: "weir"}, nil)
	i.mu.Lock()
	i.down = true
	i.mu.Unlock()
	token := "Bearer " + sign(t, jose.RS256, key, "k", claims(i, nil))
	if _, err := enter(t, g, here, token); err == nil || engine.Code(err) == engine.CodeUnauthenticated {
		t.Errorf("while it is down: %v", err)
	}
	i.mu.Lock()
	i.down = false
	i.mu.Unlock()
	if _, err := enter(t, g, here, token); err != nil {
		t.Errorf("when it is back: %v", err)
	}
}

func TestKeysComeFromAFileToo(t *testing.T) {
	t.Parallel()
	i, key := newIssuer(t), rsaKey(t)
	i.publish("k", key.Public())
	text, err := json.Marshal(i.keys)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "keys.json")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	g := gateOf(t, auth.JWTOptions{Issuer: i.URL, Audience: "weir", Keys: path}, nil)
	if _, err := enter(t, g, here, "Bearer "+sign(t, jose.RS256, key, "k", claims(i, nil))); err != nil || i.fetches != 0 {
		t.Errorf("%v, %d fetches from the issuer", err, i.fetches)
	}
	for _, keys := range []string{path + ".missing", "http://127.0.0.1:1/keys", i.URL + "/nothing"} {
		if _, err := auth.NewJWT(t.Context(), auth.JWTOptions{Issuer: i.URL, Audience: "weir", Keys: keys}); err == nil {
			t.Errorf("%s: no error at the start", keys)
		}
	}
}

func TestAJWTThatEndsPastAllCalendarsCanBeShown(t *testing.T) {
	t.Parallel()
	key, i := rsaKey(t), newIssuer(t)
	i.publish("k", &key.PublicKey)
	gate := gateOf(t, auth.JWTOptions{Issuer: i.URL, Audience: "weir"}, nil)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/v1/whoami", nil)
	far := claims(i, map[string]any{"exp": int64(1) << 40})
	r.Header.Set("Authorization", "Bearer "+sign(t, jose.RS256, key, "k", far))
	caller, err := gate.Enter(r)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := json.Marshal(caller.ExpiresAt); err != nil || string(text) != `"9999-12-31T23:59:59Z"` {
		t.Errorf("it ends at %s, %v", text, err)
	}
}
