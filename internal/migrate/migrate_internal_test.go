package migrate

import (
	"strings"
	"testing"
	"testing/fstest"
)

func files(content map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range content {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestIncludesAreReadRelativeToTheFileTheyStandIn(t *testing.T) {
	t.Parallel()
	s, err := expand(files(map[string]string{
		"install.sql": "\\set ON_ERROR_STOP on\nbegin;\n\\ir a/one.sql\ncommit;\n",
		"a/one.sql":   "select 1;\n\\ir two.sql\n",
		"a/two.sql":   "select 2;",
	}), "install.sql")
	if err != nil {
		t.Fatal(err)
	}
	want := "begin;\n-- sql/a/one.sql\nselect 1;\n-- sql/a/two.sql\nselect 2;\ncommit;\n"
	if got := s.text.String(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAPositionIsFoundInItsFileAlsoAfterCharactersOfSeveralBytes(t *testing.T) {
	t.Parallel()
	s, err := expand(files(map[string]string{
		"install.sql": "-- é è ü\n\\ir a.sql\nselect 3;\n",
		"a.sql":       "-- ü\nselect 2;\n",
	}), "install.sql")
	if err != nil {
		t.Fatal(err)
	}
	for needle, want := range map[string]struct {
		file string
		line int
	}{"select 2": {"a.sql", 2}, "select 3": {"install.sql", 3}} {
		text := s.text.String()
		before, _, _ := strings.Cut(text, needle)
		position := len([]rune(before)) + 1
		if file, line := s.locate(position); file != want.file || line != want.line {
			t.Errorf("%s: got %s:%d, want %s:%d", needle, file, line, want.file, want.line)
		}
	}
}

func TestAScriptThatOnlyPsqlCanRunIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a condition": "\\if :x\n", "an include of itself": "\\ir install.sql\n", "a missing file": "\\ir gone.sql\n",
	} {
		if _, err := expand(files(map[string]string{"install.sql": text}), "install.sql"); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
