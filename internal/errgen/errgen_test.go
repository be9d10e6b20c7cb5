package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const header = "sqlstate,name,meaning,http_status,retryable,cure\n"

func TestABadLineOfTheListIsRefused(t *testing.T) {
	t.Parallel()
	bad := map[string]string{
		"no code":          header,
		"other columns":    "sqlstate,name,meaning,retryable,http_status,cure\nWR001,a,M.,404,false,C.\n",
		"another class":    header + "XX001,a,M.,404,false,C.\n",
		"a capital name":   header + "WR001,Queue,M.,404,false,C.\n",
		"no full stop":     header + "WR001,a,M,404,false,C.\n",
		"no cure":          header + "WR001,a,M.,404,false,\n",
		"a success status": header + "WR001,a,M.,200,false,C.\n",
		"no boolean":       header + "WR001,a,M.,404,maybe,C.\n",
		"a code twice":     header + "WR001,a,M.,404,false,C.\nWR001,b,M.,404,false,C.\n",
		"a name twice":     header + "WR001,a,M.,404,false,C.\nWR002,a,M.,404,false,C.\n",
		"codes unsorted":   header + "WR002,a,M.,404,false,C.\nWR001,b,M.,404,false,C.\n",
	}
	for what, text := range bad {
		if _, err := parseCodes([]byte(text)); !errors.Is(err, errList) {
			t.Errorf("%s: got %v, want an error", what, err)
		}
	}
}

func TestGeneratingTwiceChangesNothingAndAnEditIsNoticed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	list := header + "WR001,queue_not_found,No queue.,404,false,Create it.\nWR014,limit_exceeded,Full.,409,true,Wait.\n"
	if err := os.WriteFile(filepath.Join(root, source), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(root, true); !errors.Is(err, errStale) {
		t.Fatalf("check before generating: got %v, want stale", err)
	}
	if err := run(root, false); err != nil {
		t.Fatal(err)
	}
	if err := run(root, true); err != nil {
		t.Fatalf("check after generating: %v", err)
	}
	for _, target := range targets() {
		path := filepath.Join(root, target.path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), mark) || !strings.Contains(string(text), "WR014") {
			t.Errorf("%s lacks the mark or a code:\n%s", target.path, text)
		}
		if err := os.WriteFile(path, append(text, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := run(root, true); err == nil || !strings.Contains(err.Error(), target.path) {
			t.Errorf("an edit of %s was not noticed: %v", target.path, err)
		}
		if err := run(root, false); err != nil {
			t.Fatal(err)
		}
	}
}
