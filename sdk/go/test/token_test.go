package test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server"
	"github.com/weirmq/weir/internal/server/auth"
	weir "github.com/weirmq/weir/sdk/go"
)

// newToken makes a token for all queues.
func newToken(t *testing.T, db *pgtest.DB, name string, verbs ...string) string {
	t.Helper()
	token, digest := auth.NewToken()
	db.Exec(t, "select weir.create_token($1, $2, verbs => $3)", name, digest, verbs)
	return token
}

func TestAServerThatAsksForTokensIsShownOneWithEachRequest(t *testing.T) {
	t.Parallel()
	db, _ := newClient(t)
	url := serveWith(t, db, server.Options{AskTokens: true})
	produce, consume := newToken(t, db, "p", "produce"), newToken(t, db, "c", "consume")
	if _, err := connect(t, url).Send(t.Context(), "q", 1); !errors.Is(err, weir.ErrUnauthenticated) {
		t.Errorf("without a token: %v", err)
	}
	if _, err := connect(t, url, weir.Token("wrong")).Send(t.Context(), "q", 1); !errors.Is(err, weir.ErrUnauthenticated) {
		t.Errorf("with a wrong token: %v", err)
	}
	get(connect(t, url, weir.Token(produce)).Send(t.Context(), "q", 1))(t)
	if _, err := connect(t, url, weir.Token(produce)).Receive(t.Context(), "q"); !errors.Is(err, weir.ErrNotAllowed) {
		t.Errorf("with a token that does not allow it: %v", err)
	}
	var asked atomic.Int32
	changing := connect(t, url, weir.TokenFrom(func(context.Context) (string, error) {
		if asked.Add(1) == 1 {
			return produce, nil
		}
		return consume, nil
	}))
	get(changing.Send(t.Context(), "q", 2))(t)
	if got := get(changing.Receive(t.Context(), "q", weir.Max(10)))(t); len(got) != 2 {
		t.Errorf("received %d messages", len(got))
	}
	if asked.Load() != 2 {
		t.Errorf("asked for a token %d times", asked.Load())
	}
	must(t, connect(t, url, weir.Token(produce)).Transaction(t.Context(), func(tx *weir.Client) error {
		_, err := tx.Send(t.Context(), "q", 3)
		return err
	}))
	boom := errors.New("boom")
	broken := connect(t, url, weir.TokenFrom(func(context.Context) (string, error) { return "", boom }))
	if _, err := broken.Send(t.Context(), "q", 1); !errors.Is(err, boom) {
		t.Errorf("when there is no token to be had: %v", err)
	}
	if _, err := weir.Connect(t.Context(), db.DSN, weir.Token(produce)); !errors.Is(err, weir.ErrNotSupported) {
		t.Errorf("a database: %v", err)
	}
}
