// Command errgen writes what follows from errors.csv: the codes in each language and the reference page.
//
//	go run ./internal/errgen          write the files
//	go run ./internal/errgen -check   change nothing; fail when a file is not what would be written
//
// A new target is one more entry in targets.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// source is the list that everything is generated from, relative to the root of the repository.
const source = "errors.csv"

// target is a file to write and the function that renders it.
type target struct {
	path   string
	render func([]code) ([]byte, error)
}

// targets returns every generated file.
func targets() []target {
	return []target{
		{"internal/engine/errors_generated.go", renderGo},
		{"sdk/go/errors_generated.go", renderGoSDK},
		{"sdk/python/src/weir/errors_generated.py", renderPython},
		{"sdk/typescript/src/errors_generated.ts", renderTypeScript},
		{"docs/reference/errors.md", renderMarkdown},
	}
}

func main() {
	root := flag.String("root", ".", "root of the repository")
	check := flag.Bool("check", false, "write nothing, fail when a file differs")
	flag.Parse()
	if err := run(*root, *check); err != nil {
		fmt.Fprintln(os.Stderr, "errgen:", err)
		os.Exit(1)
	}
}

// run renders all targets, and writes them or compares them with what is there.
func run(root string, check bool) error {
	codes, err := readCodes(filepath.Join(root, source))
	if err != nil {
		return err
	}
	var stale []string
	for _, t := range targets() {
		text, err := t.render(codes)
		if err != nil {
			return fmt.Errorf("render %s: %w", t.path, err)
		}
		path := filepath.Join(root, filepath.FromSlash(t.path))
		if !check {
			if err := write(path, text); err != nil {
				return err
			}
			continue
		}
		have, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(have, text) {
			stale = append(stale, t.path)
		}
	}
	if len(stale) > 0 {
		return fmt.Errorf("check files: %w: %s", errStale, strings.Join(stale, ", "))
	}
	return nil
}

// write replaces one file and makes its folder when there is none.
func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("create folder: %w", err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		return fmt.Errorf("write file: %w", err)
	}
	return nil
}
