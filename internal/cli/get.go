package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/weirmq/weir/internal/engine"
)

// get shows one message and how each group stands to it.
func (a *app) get() *cobra.Command {
	return leaf("get QUEUE ID", "Show a message and how each group stands to it", cobra.ExactArgs(2),
		func(ctx context.Context, args []string) error {
			ids, err := idArgs(args[1:])
			if err != nil {
				return err
			}
			return a.with(ctx, func(client *engine.Client) error {
				m, err := client.Get(ctx, args[0], ids[0])
				if err != nil {
					return err
				}
				return a.emit(m, func(w io.Writer) {
					fmt.Fprintf(w, "id\t%d\nkey\t%s\nenqueued\t%s\nheaders\t%s\npayload\t%s\n",
						m.ID, whole(m.Key), cell(m.EnqueuedAt), whole(m.Headers), m.Payload)
					for _, group := range slices.Sorted(maps.Keys(m.States)) {
						fmt.Fprintf(w, "group %s\t%s\n", plain(group), m.States[group]+standing(m.Details[group]))
						if reason := m.Details[group].Reason; reason != nil {
							writeText(w, "reason", reason)
						}
					}
				})
			})
		})
}

// standing says what else is known of how a group stands to a message.
func standing(s engine.Standing) string {
	var text strings.Builder
	if s.Behind != nil {
		fmt.Fprintf(&text, ", behind message %d of its key", *s.Behind)
	}
	if s.ClaimID != nil {
		fmt.Fprintf(&text, ", claim %d", *s.ClaimID)
	}
	if s.PID != nil {
		fmt.Fprintf(&text, " of process %d", *s.PID)
	}
	if s.Since != nil {
		fmt.Fprintf(&text, ", since %s", whole(*s.Since))
	}
	if s.Until != nil {
		fmt.Fprintf(&text, ", until %s", whole(*s.Until))
	}
	if s.Attempts != nil {
		fmt.Fprintf(&text, ", delivered %s", plural(int64(*s.Attempts), "time"))
	}
	return text.String()
}
