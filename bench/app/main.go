// Command app is the load of `weir bench app`: producers and consumers that use the Go SDK as an application does, and
// check what they are delivered. It reads an app.Command from standard input and writes app.Events.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/weirmq/weir/internal/bench/app"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	var c app.Command
	if !lines.Scan() {
		return fmt.Errorf("read command: %w", lines.Err())
	}
	if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
		return fmt.Errorf("read command: %w", err)
	}
	l, err := newLoad(ctx, &c)
	if err != nil {
		return err
	}
	defer l.close()
	go l.listen(lines)
	return l.run(ctx)
}
