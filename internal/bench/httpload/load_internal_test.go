package httpload

import (
	"context"
	"errors"
	"net"
	"testing"
)

func TestAConnectionThatItsTimeClosesSaysSo(t *testing.T) {
	t.Parallel()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0") // which answers nothing
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	over := errors.New("the time is over")
	ctx, end := context.WithCancelCause(t.Context())
	defer end(nil)
	r := &run{Load: Load{Address: listener.Addr().String()}}
	err = r.with(ctx, func(_ context.Context, c *Conn) error {
		end(over)
		_, err := c.Post("/", nil)
		return err
	})
	if !errors.Is(err, over) {
		t.Errorf("the client ended with %v", err)
	}
}
