package cli

import (
	"bufio"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// yesFlag adds the flag of commands that ask before they take something away for good.
func yesFlag(c *cobra.Command, yes *bool) *cobra.Command {
	c.Flags().BoolVar(yes, "yes", false, "do not ask; without a terminal nothing is done unless this is said")
	return c
}

// loss is what a command takes away.
type loss struct {
	Messages int64 `json:"messages"` // that are not finished, counted once a group
	Dead     int64 `json:"dead"`

	known  bool
	about  string // before numbers that are estimates
	groups int
}

// String words the loss of a queue or a group that is dropped.
func (l loss) String() string {
	messages := l.about + plural(l.Messages, "message") + " not finished"
	if l.groups > 1 {
		messages = l.about + plural(l.Messages, "message") + " that its groups have not finished"
	}
	return messages + " and " + l.about + plural(l.Dead, "dead letter")
}

// suffix adds the loss to a sentence about what is gone, where it is known.
func (l loss) suffix() string {
	if !l.known {
		return ""
	}
	return ", with " + l.String()
}

// lossOf counts what a queue has, or one of its groups.
func lossOf(ctx context.Context, client *engine.Client, queue, group string) (l loss, err error) {
	list, err := client.Stats(ctx, queue)
	if err != nil {
		return loss{}, err
	}
	for _, g := range list {
		if group != "" && g.Group != group {
			continue
		}
		l.groups++
		l.Messages += g.Waiting + g.Claimed + g.Delayed + g.Parked
		l.Dead += g.Dead
		if !g.Exact {
			l.about = "about "
		}
	}
	if group != "" && l.groups == 0 {
		if _, err := client.Group(ctx, queue, group); err != nil {
			return loss{}, err
		}
	}
	l.known = true
	return l, nil
}

// consent counts what would go and asks whether it may. Who has said yes already is not kept from it by a count that
// fails.
func (a *app) consent(
	ctx context.Context, client *engine.Client, yes bool, queue, group string, words func(loss) string,
) (loss, error) {
	l, err := lossOf(ctx, client, queue, group)
	if yes {
		return l, nil
	}
	if err != nil {
		return l, err
	}
	return l, a.confirm(ctx, words(l))
}

// confirm asks at a terminal whether something may be done for good; where nobody can be asked it refuses.
func (a *app) confirm(ctx context.Context, what string) error {
	readable, _ := terminalOf(a.stdin)
	shown, _ := terminalOf(a.stderr)
	if !readable || !shown {
		return &usageError{err: fmt.Errorf("%s for good", what), hint: "Say --yes to do it without being asked."}
	}
	fmt.Fprintf(a.stderr, "%s for good. Go on? [y/N] ", what)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(a.stdin).ReadString('\n') // an end without an answer is a no
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case <-ctx.Done():
		fmt.Fprintln(a.stderr)
		return errDeclined
	case said := <-answer:
		if said != "y" && said != "yes" {
			return errDeclined
		}
		return nil
	}
}
