package engine

import (
	"context"
	"time"
)

// Token is what lets a caller of the HTTP server in, and how far. What it proves itself with is not known.
type Token struct {
	Name      string     `json:"name"`
	Queues    []string   `json:"queues" doc:"Patterns of queue names; * stands for any characters."`
	Verbs     []string   `json:"verbs" doc:"Of produce, consume, admin and read."`
	CreatedAt time.Time  `json:"created_at"`
	CreatedBy string     `json:"created_by"`
	ExpiresAt *time.Time `json:"expires_at"`
}

// NewToken is a token to make.
type NewToken struct {
	Name     string
	Digest   []byte // SHA-256 of the token
	Queues   []string
	Verbs    []string
	Lifetime *Millis // nil: until it is revoked
}

const (
	sqlCreateToken = `select weir.create_token($1, $2, queues => $3, verbs => $4, lifetime => $5)`
	sqlRevokeToken = `select weir.revoke_token($1)`
	sqlListTokens  = `select token_name, queues, verbs, created_at, created_by, expires_at from weir.list_tokens()
		order by token_name`
	sqlFindToken = `select token_name, queues, verbs, expires_at from weir.find_token($1)`
)

// DefaultTokenQueues are the queues of a token unless told.
func DefaultTokenQueues() []string { return []string{"*"} }

// DefaultTokenVerbs are what a token allows unless told.
func DefaultTokenVerbs() []string { return []string{"produce", "consume", "read"} }

// CreateToken lets the holder of a token in.
func (c *Client) CreateToken(ctx context.Context, t NewToken) error {
	return c.exec(ctx, "create token", sqlCreateToken, t.Name, t.Digest, t.Queues, t.Verbs, t.Lifetime)
}

// RevokeToken removes a token.
func (c *Client) RevokeToken(ctx context.Context, name string) error {
	return c.exec(ctx, "revoke token", sqlRevokeToken, name)
}

// ListTokens returns all tokens by name.
func (c *Client) ListTokens(ctx context.Context) ([]Token, error) {
	return collect(ctx, c, "list tokens", sqlListTokens, func(t *Token) []any {
		return []any{&t.Name, &t.Queues, &t.Verbs, (*utc)(&t.CreatedAt), &t.CreatedBy, &t.ExpiresAt}
	})
}

// FindToken returns what the token with a digest allows; ok is false when nothing.
func (c *Client) FindToken(ctx context.Context, digest []byte) (t Token, ok bool, err error) {
	list, err := collect(ctx, c, "find token", sqlFindToken, func(t *Token) []any {
		return []any{&t.Name, &t.Queues, &t.Verbs, &t.ExpiresAt}
	}, digest)
	if err != nil || len(list) == 0 {
		return Token{}, false, err
	}
	return list[0], true, nil
}
