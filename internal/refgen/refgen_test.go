package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const sample = `-- weir.ack(queue_name, ids)
-- Finishes messages.
--
-- Parameters:
--   queue_name  the queue
--   ids         messages of it;
--               null = all
-- Returns: how many.
-- Raises: WR001, WR006
-- Locks: the claim, until
-- the transaction ends.
create or replace function weir.ack(queue_name text, ids bigint[] default null)
returns int
language sql
as $$ select 1 $$;
`

func TestAHeaderIsTakenApart(t *testing.T) {
	t.Parallel()
	o, err := parseObject(sample)
	if err != nil {
		t.Fatal(err)
	}
	if o.name != "weir.ack" || o.purpose != "Finishes messages." || o.locks != "the claim, until the transaction ends." {
		t.Errorf("got %+v", o)
	}
	if len(o.params) != 2 || o.params[1] != [2]string{"ids", "messages of it; null = all"} {
		t.Errorf("got the parameters %q", o.params)
	}
	if want := "weir.ack(queue_name text, ids bigint[] default null)\nreturns int"; o.signatures[0] != want {
		t.Errorf("got the signature %q, want %q", o.signatures[0], want)
	}
}

func TestAHeaderThatLacksAPartIsRefused(t *testing.T) {
	t.Parallel()
	for _, part := range []string{
		"-- Finishes messages.\n", "-- Returns: how many.\n", "-- Raises: WR001, WR006\n",
		"create or replace function weir.ack(queue_name text, ids bigint[] default null)\n", "-- weir.ack(queue_name, ids)\n",
	} {
		text := strings.Replace(sample, part, "", 1)
		if text == sample {
			t.Fatalf("the sample has no %q", part)
		}
		if _, err := parseObject(text); !errors.Is(err, errHeader) {
			t.Errorf("without %q: got %v, want an error", part, err)
		}
	}
}

func TestTheReferenceNamesEveryPublicFunctionAndTypeAndAnEditIsNoticed(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	page, err := renderSQL(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"functions/*.sql", "types/message*.sql"} {
		files, err := filepath.Glob(filepath.Join(root, "sql", path))
		if err != nil || len(files) == 0 {
			t.Fatalf("find sql/%s: %v", path, err)
		}
		for _, file := range files {
			heading := "\n### weir." + strings.TrimSuffix(filepath.Base(file), ".sql") + "\n"
			if !strings.Contains(string(page), heading) {
				t.Errorf("the page lacks %q", heading)
			}
		}
	}
	copied := t.TempDir()
	if err := os.CopyFS(filepath.Join(copied, "sql"), os.DirFS(filepath.Join(root, "sql"))); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(filepath.Join(root, "errors.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(copied, "errors.csv"), list, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(copied, true); !errors.Is(err, errStale) {
		t.Fatalf("check before generating: got %v, want stale", err)
	}
	if err := run(copied, false); err != nil {
		t.Fatal(err)
	}
	if err := run(copied, true); err != nil {
		t.Fatalf("check after generating: %v", err)
	}
	ack := filepath.Join(copied, "sql", "functions", "ack.sql")
	text, err := os.ReadFile(ack)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ack, []byte(strings.Replace(string(text), "-- Finishes", "-- Ends", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(copied, true); !errors.Is(err, errStale) || !strings.Contains(err.Error(), "sql.md") {
		t.Errorf("check after an edit: got %v, want stale", err)
	}
}
