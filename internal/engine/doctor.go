package engine

import "context"

// Finding is something that Doctor found.
type Finding struct {
	Severity string  `json:"severity" enum:"error,warning,info" doc:"error: messages wait or may get lost."`
	Finding  string  `json:"finding" doc:"What it is, one word for programs."`
	Queue    *string `json:"queue" doc:"Null: the whole database."`
	Group    *string `json:"group"`
	Value    *string `json:"value" doc:"The figure or name that was found."`
	Message  string  `json:"message" doc:"What that means."`
	Cure     string  `json:"cure" doc:"What to do."`
}

const (
	sqlDoctor = `select severity, finding, queue_name, group_name, value, message, coalesce(cure, '')
		from weir.doctor()`
	sqlAdopt = `select weir.adopt($1)`
)

// Doctor looks for what is wrong, or will be, and returns it, the worst first.
func (c *Client) Doctor(ctx context.Context) ([]Finding, error) {
	return collect(ctx, c, "examine database", sqlDoctor, func(f *Finding) []any {
		return []any{&f.Severity, &f.Finding, &f.Queue, &f.Group, &f.Value, &f.Message, &f.Cure}
	})
}

// Adopt makes the queues of a log, or of every log when it is empty, usable that came in a dump, and returns how many
// they are.
func (c *Client) Adopt(ctx context.Context, log string) (int, error) {
	return one[int](ctx, c, "adopt queues", sqlAdopt, nonEmpty(log))
}
