package docs_test

import (
	"regexp"
	"strings"
)

// statement is one statement of a script.
type statement struct {
	text string
	gset bool // it ends with \gset: its row becomes variables
}

var (
	dollarPat   = regexp.MustCompile(`^\$\w*\$`)
	variablePat = regexp.MustCompile(`(^|[^:\w]):('?)([a-z]\w*)('?)`)
)

// split cuts a script into statements where psql would: at a semicolon outside quotes and comments, or at \gset.
func split(script string) []statement {
	var all []statement
	begin := 0
	add := func(end, next int, gset bool) {
		if text := strings.TrimSpace(script[begin:end]); code(text) != "" {
			all = append(all, statement{text, gset})
		}
		begin = next
	}
	for i := 0; i < len(script); {
		rest := script[i:]
		switch {
		case strings.HasPrefix(rest, "--"):
			i = after(script, i, "\n")
		case rest[0] == '\'' || rest[0] == '"':
			i = after(script, i+1, rest[:1])
		case dollarPat.MatchString(rest):
			tag := dollarPat.FindString(rest)
			i = after(script, i+len(tag), tag)
		case rest[0] == ';':
			add(i, i+1, false)
			i++
		case strings.HasPrefix(rest, `\gset`):
			add(i, i+len(`\gset`), true)
			i += len(`\gset`)
		default:
			i++
		}
	}
	add(len(script), len(script), false)
	return all
}

// after returns the place behind the next mark.
func after(script string, from int, mark string) int {
	if at := strings.Index(script[from:], mark); at >= 0 {
		return from + at + len(mark)
	}
	return len(script)
}

// code is a statement without its lines of comments.
func code(text string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "--") {
			kept = append(kept, line)
		}
	}
	return strings.TrimSpace(strings.Join(kept, ""))
}

// fill puts the values of variables in, as psql does: :name as it is, :'name' quoted.
func fill(text string, variables map[string]string) string {
	return variablePat.ReplaceAllStringFunc(text, func(found string) string {
		m := variablePat.FindStringSubmatch(found)
		value, ok := variables[m[3]]
		if !ok || m[2] != m[4] {
			return found
		}
		if m[2] == "'" {
			value = "'" + strings.ReplaceAll(value, "'", "''") + "'"
		}
		return m[1] + value
	})
}
