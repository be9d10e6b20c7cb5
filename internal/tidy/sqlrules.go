package tidy

import (
	"path"
	"regexp"
	"strings"
)

// Folders of sql/ by what their files hold.
var (
	headerDirs = []string{
		"sql/functions/", "sql/internal/", "sql/log/", "sql/faces/pgmq/functions/", "sql/faces/pgmq/internal/",
	}
	listedDirs = []string{"sql/upgrade/", "sql/tables/", "sql/types/", "sql/functions/", "sql/internal/", "sql/log/"}
	// Each face has a list of its own.
	faceDirs = map[string][]string{"sql/faces/pgmq/install.sql": {"sql/faces/pgmq/"}}
)

// sqlLinesMax is how long a file with a function may get.
const sqlLinesMax = 200

// sqlRules are about the form of the files in sql/.
func sqlRules() []Rule {
	return []Rule{
		{"sql-function-file", "A SQL file's functions are named in its header; it has at most 200 lines.", checkFunctionFile},
		{"sql-header", "A SQL header names the function, its arguments, Returns, Raises and Locks.", checkHeader},
		{"sql-definer", "A definer function pins search_path and puts pg_temp last.", checkDefiner},
		{"sql-format", "SQL keywords are lower case; no tabs, no trailing spaces, one newline last.", checkFormat},
		{"sql-table-file", "One table or type a file, named like it; each column is explained.", checkTableFile},
		{"sql-install", "An install.sql lists each file that it runs once, and none that is missing.", checkInstall},
		{"sql-upgrade-name", "Upgrade steps are called NNNN_what.sql, each number once.", checkUpgradeNames},
		{"sql-one-go-file", "embed.go is the only Go file in sql/.", checkEmbed},
	}
}

func checkFunctionFile(t *Tree, report Report) {
	for _, f := range t.under(".sql", headerDirs...) {
		if n := len(f.lines()); n > sqlLinesMax {
			report(f.Path, 0, "%d lines, at most %d", n, sqlLinesMax)
		}
		said := strings.Join(headOf(f).all, "\n")
		made := 0
		for _, o := range objects(f.tokens()) {
			if o.kind != "function" && o.kind != "procedure" {
				continue
			}
			made++
			name := ringPat.ReplaceAllString(o.name, "") // the same for each table of a ring
			if !regexp.MustCompile(`\b` + regexp.QuoteMeta(name) + `(?:\b|_)`).MatchString(said) {
				report(f.Path, o.line, "the header does not name %s %s", o.kind, o.name)
			}
		}
		if made == 0 {
			report(f.Path, 0, "creates no function")
		}
	}
}

var ringPat = regexp.MustCompile(`_(?:\d|%.*)?$`)

// head is the comment that opens a SQL file.
type head struct {
	lines    []string          // without the dashes
	all      []string          // and those of further headers in the file, which several functions may have
	sections map[string]string // Returns, Raises, Locks and what follows each
}

var sectionPat = regexp.MustCompile(`^([A-Z][a-z]+):(.*)$`)

// headOf reads the comment lines at the top of a file, and at the top of its further functions.
func headOf(f *File) head {
	h := head{sections: map[string]string{}}
	section, first := "", true
	for _, line := range f.lines() {
		text, ok := strings.CutPrefix(line, "--")
		if !ok {
			section, first = "", false
			continue
		}
		h.all = append(h.all, text)
		if first {
			h.lines = append(h.lines, text)
		}
		if m := sectionPat.FindStringSubmatch(strings.TrimPrefix(text, " ")); m != nil {
			section = m[1]
			text = m[2]
		}
		if section != "" {
			h.sections[section] += text + "\n"
		}
	}
	return h
}

var (
	headNamePat = regexp.MustCompile(`^ (?:weir\w*|pgmq)\.\w+`)
	likePat     = regexp.MustCompile(`^ Parameters: .*\b(?:as|those of) weir`)
	codePat     = regexp.MustCompile(`\bWR\d{3}\b`)
)

func checkHeader(t *Tree, report Report) {
	codes := t.codes()
	for _, f := range t.under(".sql", headerDirs...) {
		h := headOf(f)
		if len(h.lines) == 0 {
			report(f.Path, 1, "does not open with a header of `--` lines")
			continue
		}
		if !headNamePat.MatchString(h.lines[0]) {
			report(f.Path, 1, "the header's first line does not name a function")
		}
		if len(h.lines) < 2 || strings.TrimSpace(h.lines[1]) == "" || sectionPat.MatchString(strings.TrimSpace(h.lines[1])) {
			report(f.Path, 2, "the header does not say what the function is for")
		}
		for _, name := range []string{"Returns", "Raises", "Locks"} {
			if strings.TrimSpace(h.sections[name]) == "" {
				report(f.Path, 1, "the header has no text at `-- %s:`", name)
			}
		}
		for _, c := range codePat.FindAllString(strings.Join(h.lines, "\n"), -1) {
			if codes != nil && !codes[c] {
				report(f.Path, 1, "the header names %s, which is not in errors.csv", c)
			}
		}
		checkArguments(f, h, report)
		checkRaised(f, h, report)
	}
}

// checkArguments looks for each argument's name below the header's first line, or for the function that explains them.
func checkArguments(f *File, h head, report Report) {
	var explained strings.Builder
	for _, line := range h.all {
		if likePat.MatchString(line) {
			return
		}
		if !headNamePat.MatchString(line) {
			explained.WriteString(line + "\n")
		}
	}
	text := explained.String()
	seen := map[string]bool{}
	for _, o := range objects(f.tokens()) {
		for _, arg := range o.args {
			if !seen[arg] && !regexp.MustCompile(`\b`+regexp.QuoteMeta(arg)+`\b`).MatchString(text) {
				report(f.Path, o.line, "the header does not explain the argument %s", arg)
			}
			seen[arg] = true
		}
	}
}

// checkRaised compares the SQLSTATEs in the code with those in the header.
func checkRaised(f *File, h head, report Report) {
	for _, t := range code(f.tokens()) {
		for _, c := range codePat.FindAllString(t.text, -1) {
			if !strings.Contains(h.sections["Raises"], c) {
				report(f.Path, t.line, "%s is not in the header's Raises", c)
			}
		}
	}
}

func checkDefiner(t *Tree, report Report) {
	for _, f := range t.under(".sql", "sql/") {
		for _, o := range objects(f.tokens()) {
			definer, pinned := false, false
			for i := range o.toks {
				definer = definer || matches(o.toks, i, "security", "definer")
				if matches(o.toks, i, "set", "search_path") {
					pinned = lastOfPath(o.toks[i+2:]) == "pg_temp"
				}
			}
			if definer && !pinned {
				report(f.Path, o.line, "%s is a definer function without `set search_path = ..., pg_temp`", o.name)
			}
		}
	}
}

// lastOfPath returns the last schema of `= a, b, c`.
func lastOfPath(toks []tok) string {
	last := ""
	for i := 1; i < len(toks); i += 2 {
		last = strings.Trim(toks[i].text, `"'`)
		if i+1 >= len(toks) || !toks[i+1].is(",") {
			break
		}
	}
	return last
}

// keywords is what must be lower case.
var keywords = strings.Fields(`
	add after all alter analyze and any array as asc before begin bigint boolean by call cascade case cast check
	coalesce collate column comment commit concurrently conflict constraint continue create cross current cursor
	database declare default deferrable definer delete desc distinct do domain drop each else elsif end except
	exception execute exists exit false fetch filter for foreach foreign found from function grant group having
	if ilike immutable in index inner inout insert int integer intersect interval into invoker is jsonb join key
	language lateral leakproof left like limit lock loop materialized nothing not notice null of offset on only
	or order out outer over parallel partition perform policy primary procedure public query raise recursive
	references replace restrict return returning returns revoke rollback row rows schema security select
	sequence set setof skip stable strict table text then timestamptz to trigger true truncate type union unique
	unlogged update using vacuum values variadic view volatile when where while window with
`)

func checkFormat(t *Tree, report Report) {
	upper := map[string]bool{}
	for _, k := range keywords {
		upper[strings.ToUpper(k)] = true
	}
	for _, f := range t.under(".sql", "sql/") {
		if f.in("sql/golden/") {
			continue // as pg_dump writes it
		}
		for i, line := range f.lines() {
			if strings.ContainsAny(line, "\t\r") || strings.HasSuffix(line, " ") {
				report(f.Path, i+1, "tab, carriage return or trailing space")
			}
		}
		text := string(f.Data)
		if !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") {
			report(f.Path, 0, "does not end with exactly one newline")
		}
		for _, tok := range f.tokens() {
			if tok.kind == word && upper[tok.text] && !f.generated() { // what is generated holds prose
				report(f.Path, tok.line, "%s is upper case", tok.text)
			}
		}
	}
}

func checkTableFile(t *Tree, report Report) {
	for _, f := range t.under(".sql", "sql/tables/", "sql/types/", "sql/faces/pgmq/tables/", "sql/faces/pgmq/types/") {
		want := "table"
		if strings.Contains(f.Path, "/types/") {
			want = "type"
		}
		if len(headOf(f).lines) == 0 {
			report(f.Path, 1, "does not open with a header of `--` lines")
		}
		if f.Path == "sql/tables/sequences.sql" {
			continue // numbers of the database, which are no table's
		}
		made := 0
		for _, o := range objects(f.tokens()) {
			if o.kind != want {
				continue
			}
			made++
			if o.name != f.base() {
				report(f.Path, o.line, "%s %s does not have the file's name", o.kind, o.name)
			}
			if o.kind == "table" {
				checkColumns(f, o, report)
			}
		}
		if made != 1 {
			report(f.Path, 0, "creates %d %ss, not one", made, want)
		}
	}
}

// checkColumns wants a comment beside or above each column, or a `comment on column`.
func checkColumns(f *File, o object, report Report) {
	withCode, withComment := map[int]bool{}, map[int]bool{}
	for _, t := range f.tokens() {
		if t.kind == comment {
			withComment[t.line] = true
		} else {
			withCode[t.line] = true
		}
	}
	for _, item := range items(o.list) {
		name := item[0]
		if isAny(name, "constraint", "primary", "unique", "check", "foreign", "exclude", "like") {
			continue
		}
		said := withComment[name.line-1] && !withCode[name.line-1] || commentOnColumn(f, name.text)
		for line := name.line; line <= item[len(item)-1].line; line++ {
			said = said || withComment[line]
		}
		if !said {
			report(f.Path, name.line, "column %s of %s is not explained", name.text, o.name)
		}
	}
}

// commentOnColumn reports whether the file has a `comment on column ...name is`.
func commentOnColumn(f *File, name string) bool {
	toks := code(f.tokens())
	for i := range toks {
		if !matches(toks, i, "comment", "on", "column") {
			continue
		}
		if column, _ := dotted(toks, i+3); column == name {
			return true
		}
	}
	return false
}

var includePat = regexp.MustCompile(`^\\(?:ir|include_relative)\s+'?([^'\s]+)'?\s*$`)

func checkInstall(t *Tree, report Report) {
	checkList(t, report, "sql/install.sql", listedDirs)
	for toc, dirs := range faceDirs {
		checkList(t, report, toc, dirs)
	}
}

// checkList compares a table of contents with what is in folders, scripts that stand by themselves apart.
func checkList(t *Tree, report Report, toc string, dirs []string) {
	f := t.file(toc)
	if f == nil {
		return
	}
	seen := map[string]bool{}
	for i, line := range f.lines() {
		m := includePat.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name := path.Join(path.Dir(toc), m[1])
		if t.file(name) == nil {
			report(toc, i+1, "%s is not there", name)
		}
		if seen[name] {
			report(toc, i+1, "%s is listed twice", name)
		}
		seen[name] = true
	}
	for _, f := range t.under(".sql", dirs...) {
		if !seen[f.Path] && f.base() != "install" && f.base() != "uninstall" {
			report(toc, 0, "%s is not listed", f.Path)
		}
	}
}

var upgradePat = regexp.MustCompile(`^(\d{4})_[a-z0-9]+(_[a-z0-9]+)*$`)

func checkUpgradeNames(t *Tree, report Report) {
	seen := map[string]string{}
	for _, f := range t.under(".sql", "sql/upgrade/") {
		m := upgradePat.FindStringSubmatch(f.base())
		if m == nil {
			report(f.Path, 0, "is not called NNNN_what.sql")
			continue
		}
		if other := seen[m[1]]; other != "" {
			report(f.Path, 0, "has the number of %s", other)
		}
		seen[m[1]] = f.Path
	}
}

func checkEmbed(t *Tree, report Report) {
	for _, f := range t.under(".go", "sql/") {
		if f.Path != "sql/embed.go" {
			report(f.Path, 0, "Go belongs in internal/, sql/ holds the engine")
		}
	}
}
