package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra/doc"

	"github.com/weirmq/weir/internal/cli"
	"github.com/weirmq/weir/internal/migrate"
)

// writeManual writes a manual page for each command, of section 1. Where SOURCE_DATE_EPOCH is set, that is their date.
func writeManual(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	command := cli.Command()
	command.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Source: "Weir " + migrate.Version(), Manual: "Weir"}
	if err := doc.GenManTree(command, header, dir); err != nil {
		return fmt.Errorf("write manual: %w", err)
	}
	return nil
}
