package tidy

import (
	"slices"
	"strings"
)

// raiseRules are about how SQL reports failures.
func raiseRules() []Rule {
	return []Rule{
		{"sql-raise", "Every raise has a SQLSTATE of errors.csv and a HINT with the cure.", checkRaise},
		{"sql-code-used", "Every SQLSTATE of errors.csv is raised in sql/, or is listed as reserved.", checkCodesUsed},
	}
}

func checkRaise(t *Tree, report Report) {
	codes := t.codes()
	for _, f := range t.under(".sql", "sql/") {
		if f.in("sql/golden/") {
			continue
		}
		toks := code(f.tokens())
		for i := range toks {
			if toks[i].is("raise") && (i == 0 || toks[i-1].text != ".") {
				checkOneRaise(f, toks[i:], codes, report)
			}
		}
		for _, tok := range toks {
			for _, c := range codePat.FindAllString(tok.text, -1) {
				if codes != nil && !codes[c] {
					report(f.Path, tok.line, "%s is not in errors.csv", c)
				}
			}
		}
	}
}

// checkOneRaise looks at the raise that the tokens begin with.
func checkOneRaise(f *File, toks []tok, codes map[string]bool, report Report) {
	end := slices.IndexFunc(toks, func(t tok) bool { return t.is(";") })
	if end < 0 || end == 1 || isAny(toks[1], "notice", "warning", "info", "log", "debug") {
		return // `raise;` passes on what was caught, the others are no failures
	}
	state, hint := "", false
	for i := 1; i+1 < end; i++ {
		value := toks[i+1]
		if value.is("=") || value.is(":=") {
			value = toks[min(i+2, end)]
		}
		switch {
		case toks[i].is("errcode"), toks[i].is("sqlstate"):
			state = strings.Trim(value.text, "'")
			// a face raises what the other system raises
			if value.kind == str && codes != nil && !codes[state] && !f.in("sql/faces/") {
				report(f.Path, value.line, "SQLSTATE %s is not in errors.csv", state)
			}
		case toks[i].is("hint"):
			hint = true
		}
	}
	if state == "" {
		report(f.Path, toks[0].line, "raise without errcode")
	}
	if !hint {
		report(f.Path, toks[0].line, "raise without hint")
	}
}

func checkCodesUsed(t *Tree, report Report) {
	raised := map[string]bool{}
	functions := 0
	for _, f := range t.under(".sql", "sql/") {
		if f.in("sql/functions/") {
			functions++
		}
		for _, tok := range code(f.tokens()) {
			for _, c := range codePat.FindAllString(tok.text, -1) {
				raised[c] = true
			}
		}
	}
	if functions == 0 {
		return
	}
	kept := reserved()
	for c := range t.codes() {
		switch {
		case !raised[c] && kept[c] == "":
			report("errors.csv", 0, "%s is raised nowhere in sql/ and not reserved", c)
		case raised[c] && kept[c] != "":
			report("errors.csv", 0, "%s is reserved but raised", c)
		}
	}
}
