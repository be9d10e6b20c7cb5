package cli

import (
	"context"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/server/auth"
)

// token is the parent of the commands on tokens.
func (a *app) token() *cobra.Command {
	return parent("token", "Create, list and revoke tokens for the HTTP server", a.tokenCreate(), a.tokenList(),
		a.tokenRevoke())
}

// tokenView is a new token, which is shown this once.
type tokenView struct {
	Name  string `json:"name"`
	Token string `json:"token"`
}

func (a *app) tokenCreate() *cobra.Command {
	var t engine.NewToken
	var expires string
	c := leaf("create NAME", "Make a token and print it, this once", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			lifetime, err := lifetimeOf(expires)
			if err != nil {
				return err
			}
			var secret string
			secret, t.Digest = auth.NewToken()
			t.Name, t.Lifetime = args[0], lifetime
			return a.with(ctx, func(client *engine.Client) error {
				if err := client.CreateToken(ctx, t); err != nil {
					return err
				}
				return a.say(tokenView{Name: t.Name, Token: secret}, "%s", secret)
			})
		})
	c.Long = c.Short + `. The database keeps its digest only.

A server that asks for tokens lets its holder use the queues whose names a pattern covers, for what is allowed:
produce, consume, admin (queues, groups, dead letters), read (look; consume and admin include it).`
	c.Flags().StringSliceVar(&t.Queues, "queue", engine.DefaultTokenQueues(),
		"pattern of queue names, in which * stands for any characters; may be repeated")
	c.Flags().StringSliceVar(&t.Verbs, "allow", engine.DefaultTokenVerbs(), "of produce, consume, admin and read")
	c.Flags().StringVar(&expires, "expires", "", "how long it lets in, such as 12h or 90d (default until it is revoked)")
	return c
}

// lifetimeOf reads a duration that may be a number of days.
func lifetimeOf(text string) (*engine.Millis, error) {
	if text == "" {
		return nil, nil
	}
	span, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		span = time.Duration(min(max(n, 0), 50_000)) * 24 * time.Hour
	}
	if err != nil || span <= 0 {
		return nil, usagef("--expires %s: a lifetime is like 12h or 90d", text)
	}
	lifetime := engine.Millis(span)
	return &lifetime, nil
}

func (a *app) tokenList() *cobra.Command {
	return leaf("list", "List the tokens, without what would let anybody in", cobra.NoArgs,
		func(ctx context.Context, _ []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				list, err := client.ListTokens(ctx)
				if err != nil {
					return err
				}
				return a.emit(list, func(w io.Writer) { tokenTable(w, list) })
			})
		})
}

func tokenTable(w io.Writer, list []engine.Token) {
	columns(w, "TOKEN", "QUEUES", "ALLOWS", "EXPIRES", "CREATED", "BY")
	for _, t := range list {
		var expires any = "never"
		if t.ExpiresAt != nil {
			expires = *t.ExpiresAt
		}
		columns(w, t.Name, strings.Join(t.Queues, " "), strings.Join(t.Verbs, " "), expires, t.CreatedAt, t.CreatedBy)
	}
}

func (a *app) tokenRevoke() *cobra.Command {
	return leaf("revoke NAME", "Let the holder of a token in no more, within some seconds", cobra.ExactArgs(1),
		func(ctx context.Context, args []string) error {
			return a.with(ctx, func(client *engine.Client) error {
				if err := client.RevokeToken(ctx, args[0]); err != nil {
					return err
				}
				return a.say(map[string]string{"revoked": args[0]}, "token %s is revoked", args[0])
			})
		})
}
