package auth_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/auth"
)

// book stands for the table of tokens, and counts how often it is asked.
type book struct {
	mu      sync.Mutex
	tokens  map[string]engine.Token // by digest
	looks   int
	trouble error
	hold    chan struct{} // when there is one, a look waits for it
}

func (b *book) FindToken(ctx context.Context, digest []byte) (engine.Token, bool, error) {
	if b.hold != nil {
		select {
		case <-b.hold:
		case <-ctx.Done():
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.looks++
	t, ok := b.tokens[string(digest)]
	return t, ok, b.trouble
}

// issue makes a token that allows everything on some queues.
func (b *book) issue(name string, queues ...string) string {
	token, digest := auth.NewToken()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tokens == nil {
		b.tokens = map[string]engine.Token{}
	}
	b.tokens[string(digest)] = engine.Token{Name: name, Queues: queues, Verbs: []string{"produce"}}
	return token
}

// clock is a time that a test moves.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

// enter asks the gate for a request with some Authorization headers, from an address.
func enter(t *testing.T, g *auth.Gate, from string, headers ...string) (*auth.Caller, error) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
	r.RemoteAddr = from
	for _, h := range headers {
		r.Header.Add("Authorization", h)
	}
	return g.Enter(r)
}

const here = "192.0.2.1:1000"

func TestATokenLetsInAndNothingElseDoes(t *testing.T) {
	t.Parallel()
	b := &book{}
	token := b.issue("t", "orders.*")
	other, _ := auth.NewToken()
	g := auth.New(auth.Options{Tokens: b})
	for _, header := range []string{"Bearer " + token, "bearer " + token, "BEARER  " + token} {
		c, err := enter(t, g, here, header)
		if err != nil || c.Name != "t" || !c.May(auth.Produce, "orders.eu") || c.May(auth.Produce, "mail") {
			t.Errorf("%v, %v", c, err)
		}
	}
	for _, headers := range [][]string{
		nil,
		{""},
		{"Bearer"},
		{"Bearer "},
		{"Basic " + token},
		{token},
		{"Bearer " + other},
		{"Bearer " + token + "A"},
		{"Bearer " + token[:len(token)-1]},
		{"Bearer weir_"},
		{"Bearer WEIR_" + token[5:]},
		{"Bearer a.b.c"},
		{"Bearer " + token, "Bearer " + token},
		{"Bearer " + other, "Bearer " + token},
		{"Bearer " + token + " " + other},
		{"Bearer weir_' or 1=1 --"},
	} {
		c, err := enter(t, g, here, headers...)
		if engine.Code(err) != engine.CodeUnauthenticated {
			t.Errorf("%q: got %v, %v", headers, c, err)
		}
	}
}

func TestARevokedTokenLetsInNoLongerThanItIsRemembered(t *testing.T) {
	t.Parallel()
	b, now := &book{}, &clock{time.Unix(1_000_000, 0)}
	if auth.RecheckAfter > 5*time.Second {
		t.Errorf("docs/security.md promises 5 seconds, it is %s", auth.RecheckAfter)
	}
	token := "Bearer " + b.issue("t", "*")
	g := auth.New(auth.Options{Tokens: b, Now: now.Now})
	caller, err := enter(t, g, here, token)
	if err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	b.tokens = nil
	b.mu.Unlock()
	now.now = now.now.Add(auth.RecheckAfter - time.Millisecond)
	if _, err := enter(t, g, here, token); err != nil || b.looks != 1 {
		t.Errorf("just before: %v, %d looks", err, b.looks)
	}
	now.now = now.now.Add(time.Millisecond)
	if _, err := enter(t, g, here, token); engine.Code(err) != engine.CodeUnauthenticated {
		t.Errorf("then: %v", err)
	}
	if _, err := g.Again(t.Context(), caller); engine.Code(err) != engine.CodeUnauthenticated {
		t.Errorf("a request that goes on: %v", err)
	}
	if b.looks != 2 {
		t.Errorf("%d looks, want 2: what lets nobody in is remembered, too", b.looks)
	}
}

func TestADatabaseThatDoesNotAnswerIsNoReasonToForgetOrToLetIn(t *testing.T) {
	t.Parallel()
	b, now := &book{}, &clock{time.Unix(1_000_000, 0)}
	token := "Bearer " + b.issue("t", "*")
	g := auth.New(auth.Options{Tokens: b, Now: now.Now})
	b.trouble = &engine.Error{Code: "08006", Status: http.StatusServiceUnavailable, Retryable: true}
	if c, err := enter(t, g, here, token); engine.Code(err) != "08006" || c != nil {
		t.Errorf("let in %v, %v", c, err)
	}
	b.trouble = nil
	if _, err := enter(t, g, here, token); err != nil {
		t.Errorf("when it answers again: %v", err)
	}
}

func TestRequestsWithOneTokenShareOneLook(t *testing.T) {
	t.Parallel()
	b := &book{hold: make(chan struct{})}
	token := "Bearer " + b.issue("t", "*")
	g := auth.New(auth.Options{Tokens: b})
	var all sync.WaitGroup
	var entered sync.WaitGroup
	for range 20 {
		entered.Add(1)
		all.Go(func() {
			entered.Done()
			if _, err := enter(t, g, here, token); err != nil {
				t.Error(err)
			}
		})
	}
	entered.Wait()
	close(b.hold)
	all.Wait()
	if b.looks != 1 {
		t.Errorf("%d looks, want 1", b.looks)
	}
}

func TestEachCallerIsHeldToTheRateAndToldWhenToComeAgain(t *testing.T) {
	t.Parallel()
	b, now := &book{}, &clock{time.Unix(1_000_000, 0)}
	one, two := "Bearer "+b.issue("one", "*"), "Bearer "+b.issue("two", "*")
	g := auth.New(auth.Options{Tokens: b, Rate: 1, Burst: 3, Now: now.Now})
	use := func(token, from string) error {
		_, err := enter(t, g, from, token)
		return err
	}
	for _, token := range []string{one, two} {
		if err := use(token, here); err != nil { // counted for the address: it is not known yet whose it is
			t.Fatal(err)
		}
	}
	for range 3 {
		if err := use(one, here); err != nil {
			t.Fatal(err)
		}
	}
	err := use(one, "198.51.100.7:1")
	var many *auth.TooMany
	if engine.Code(err) != engine.CodeTooManyRequests || !errors.As(err, &many) || many.After != time.Second {
		t.Errorf("the fourth: %v", err)
	}
	if err := use(two, here); err != nil {
		t.Errorf("another caller: %v", err)
	}
	now.now = now.now.Add(time.Second)
	if err := use(one, here); err != nil {
		t.Errorf("a second later: %v", err)
	}
}

func TestGuessedTokensAreCountedByAddressAndSoAreIPv6Networks(t *testing.T) {
	t.Parallel()
	b := &book{}
	g := auth.New(auth.Options{Tokens: b, Rate: 0.001, Burst: 2, Now: (&clock{time.Unix(1_000_000, 0)}).Now})
	guess := func(from string) string {
		token, _ := auth.NewToken()
		_, err := enter(t, g, from, "Bearer "+token)
		return engine.Code(err)
	}
	for i, c := range []struct{ from, want string }{
		{here, engine.CodeUnauthenticated},
		{"192.0.2.1:2000", engine.CodeUnauthenticated},
		{"192.0.2.1:3000", engine.CodeTooManyRequests},
		{"192.0.2.2:1", engine.CodeUnauthenticated},
		{"[2001:db8::1]:1", engine.CodeUnauthenticated},
		{"[2001:db8::2]:1", engine.CodeUnauthenticated},
		{"[2001:db8::3]:1", engine.CodeTooManyRequests},
		{"[2001:db8:0:1::3]:1", engine.CodeUnauthenticated},
	} {
		if got := guess(c.from); got != c.want {
			t.Errorf("%d: a guess from %s: %s, want %s", i, c.from, got, c.want)
		}
	}
	if b.looks != 6 {
		t.Errorf("%d looks, want 6: what is refused for its rate is not looked up", b.looks)
	}
}

func TestPatternsCoverNamesAndNothingBeyond(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, name string
		covers        bool
	}{
		{"*", "anything", true},
		{"**", "anything", true},
		{"orders", "orders", true},
		{"orders", "orders2", false},
		{"orders.*", "orders.eu", true},
		{"orders.*", "orders", false},
		{"orders.*", "xorders.eu", false},
		{"*.eu", "orders.eu", true},
		{"*.eu", "orders.eu.x", false},
		{"a*b*c", "abc", true},
		{"a*b*c", "a-b-b-c", true},
		{"a*b*c", "acb", false},
		{"ab*ba", "aba", false},
		{"", "", true},
		{"", "x", false},
		{"a.c", "abc", false},
	} {
		caller := auth.Caller{Grants: []auth.Grant{{Queues: []string{c.pattern}, Verbs: []auth.Verb{auth.Consume}}}}
		if got := caller.May(auth.Consume, c.name); got != c.covers {
			t.Errorf("%q covers %q: %v", c.pattern, c.name, got)
		}
		if got := caller.MayEverywhere(auth.Consume); got != (c.pattern == "*" || c.pattern == "**") {
			t.Errorf("%q is everywhere: %v", c.pattern, got)
		}
		if caller.May(auth.Produce, c.name) || caller.May(auth.Read, c.name) != c.covers {
			t.Errorf("%q: consume is not produce, and is read", c.pattern)
		}
	}
}
