package cli

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

const settleHelp = `

Messages are named by ids after their claim, or, without a claim, by lines of JSON on standard input as ` +
	"`weir receive`" + `
writes them. What is named on standard input is done all together or not at all.`

// settling does what a command does with messages of a claim, and returns with how many.
type settling func(ctx context.Context, client *engine.Client, queue string, p engine.ClaimPart) (int, error)

// settleCommand is a command on messages of claims. One that has --all takes the whole claim when it is given.
func (a *app) settleCommand(verb, short, done string, hasAll bool, settle settling) *cobra.Command {
	var all bool
	use := verb + " QUEUE [CLAIM_ID ID...]"
	if hasAll {
		use = verb + " QUEUE [CLAIM_ID (ID... | --all)]"
	}
	c := leaf(use, short, cobra.MinimumNArgs(1), func(ctx context.Context, args []string) error {
		parts, err := a.claimParts(args[1:], all, hasAll)
		if err != nil {
			return err
		}
		return a.with(ctx, func(client *engine.Client) error {
			total := 0
			err := client.InTx(ctx, func(tx *engine.Client) error {
				for _, p := range parts {
					n, err := settle(ctx, tx, args[0], p)
					if err != nil {
						return err
					}
					total += n
				}
				return nil
			})
			if err != nil {
				return err
			}
			return a.say(map[string]int{"finished": total}, "%s %s", done, plural(int64(total), "message"))
		})
	})
	c.Long = short + "." + settleHelp
	if hasAll {
		c.Flags().BoolVar(&all, "all", false, "all of the claim that is not finished")
	}
	return c
}

// claimParts reads [CLAIM_ID (ID... | --all)]; without a claim it reads standard input.
func (a *app) claimParts(args []string, all, hasAll bool) ([]engine.ClaimPart, error) {
	if len(args) == 0 {
		if all {
			return nil, usagef("--all is about a claim: name it")
		}
		if f, ok := a.stdin.(*os.File); ok && isTerminal(f) {
			return nil, usagef("name a claim and messages, or pipe in what weir receive wrote")
		}
		return readParts(a.stdin)
	}
	claim, ids, err := claimArgs(args)
	switch {
	case err != nil:
		return nil, err
	case all == (len(ids) > 0) && hasAll:
		return nil, usagef("name the messages by id, or say --all for what is left of claim %d", claim)
	case len(ids) == 0 && !all:
		return nil, usagef("name the messages by id")
	}
	return []engine.ClaimPart{{Claim: claim, IDs: ids}}, nil
}

// readParts reads what `weir receive` wrote: the messages of each claim, in the order in which the claims came.
func readParts(from io.Reader) ([]engine.ClaimPart, error) {
	var parts []engine.ClaimPart
	lines := json.NewDecoder(from)
	for n := 1; ; n++ {
		var m struct {
			ID      *int64 `json:"id"`
			ClaimID *int64 `json:"claim_id"`
		}
		err := lines.Decode(&m)
		switch {
		case errors.Is(err, io.EOF):
			return parts, nil
		case err != nil:
			return nil, usagef("message %d on standard input: %s", n, err)
		case m.ID == nil || m.ClaimID == nil:
			return nil, usagef("message %d on standard input has no id or no claim_id", n)
		}
		i := slices.IndexFunc(parts, func(p engine.ClaimPart) bool { return p.Claim == *m.ClaimID })
		if i < 0 {
			i = len(parts)
			parts = append(parts, engine.ClaimPart{Claim: *m.ClaimID})
		}
		parts[i].IDs = append(parts[i].IDs, *m.ID)
	}
}
