package load

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/weirmq/weir/bench/app"
)

// Run does what the driver says on standard input.
func Run(ctx context.Context) error {
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
