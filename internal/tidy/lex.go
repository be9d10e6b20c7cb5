package tidy

import (
	"regexp"
	"strings"
)

// kind is what a token of SQL is.
type kind int

const (
	word kind = iota
	quoted
	str
	comment
	dollar
	number
	holder
	punct
)

// tok is one token of SQL. The inside of dollar quotes is read as code too, because that is what it holds here.
type tok struct {
	kind  kind
	text  string
	line  int
	depth int // how many dollar quotes are open around it
}

// pats are tried in order at each place of the text.
var pats = []struct {
	kind kind
	pat  *regexp.Regexp
}{
	{comment, regexp.MustCompile(`^--[^\n]*`)},
	{comment, regexp.MustCompile(`^(?s)/\*.*?\*/`)},
	{holder, regexp.MustCompile(`^(%(\d+\$)?[ILs]\b|\{\w*\})`)},
	{str, regexp.MustCompile(`^[eE]'([^'\\]|''|\\.)*'`)},
	{str, regexp.MustCompile(`^'([^']|'')*'`)},
	{quoted, regexp.MustCompile(`^"([^"]|"")*"`)},
	{dollar, regexp.MustCompile(`^\$([A-Za-z_]\w*)?\$`)},
	{number, regexp.MustCompile(`^\$?\d[\w.]*`)},
	{word, regexp.MustCompile(`^[\pL_][\pL\pN_$]*`)},
	{punct, regexp.MustCompile(`^(:=|=>|::|[^\s])`)},
}

// lex reads SQL.
func lex(text string) []tok {
	var toks []tok
	var open []string
	line := 1
	for text != "" {
		if c := text[0]; c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			if c == '\n' {
				line++
			}
			text = text[1:]
			continue
		}
		t := first(text)
		t.line = line
		if t.kind == dollar {
			if n := len(open); n > 0 && open[n-1] == t.text {
				open = open[:n-1]
				t.depth = len(open)
			} else {
				t.depth = len(open)
				open = append(open, t.text)
			}
		} else {
			t.depth = len(open)
		}
		toks = append(toks, t)
		line += strings.Count(t.text, "\n")
		text = text[len(t.text):]
	}
	return toks
}

// first returns the token at the beginning of the text.
func first(text string) tok {
	for _, p := range pats {
		if m := p.pat.FindString(text); m != "" {
			return tok{kind: p.kind, text: m}
		}
	}
	return tok{kind: punct, text: text[:1]}
}

// is reports whether the token is this word or sign, in any case.
func (t tok) is(text string) bool {
	return (t.kind == word || t.kind == punct) && strings.EqualFold(t.text, text)
}

// code returns the tokens without comments.
func code(toks []tok) []tok {
	var left []tok
	for _, t := range toks {
		if t.kind != comment {
			left = append(left, t)
		}
	}
	return left
}

// matches reports whether the tokens from i on are these words.
func matches(toks []tok, i int, words ...string) bool {
	if i+len(words) > len(toks) {
		return false
	}
	for k, w := range words {
		if !toks[i+k].is(w) {
			return false
		}
	}
	return true
}

// object is one `create function`, `procedure`, `table` or `type`.
type object struct {
	kind string
	name string // without schema
	line int
	args []string // names of a function's arguments
	list []tok    // what stands in the parentheses after the name
	toks []tok    // the statement, without the inside of its dollar quotes
}

// objects finds what the tokens create.
func objects(toks []tok) []object {
	toks = code(toks)
	var found []object
	for i := range toks {
		if !toks[i].is("create") {
			continue
		}
		k := i + 1
		for k < len(toks) && (toks[k].is("or") || toks[k].is("replace") || toks[k].is("unlogged")) {
			k++
		}
		if k >= len(toks) || !isAny(toks[k], "function", "procedure", "table", "type") {
			continue
		}
		o := object{kind: strings.ToLower(toks[k].text), line: toks[i].line, toks: statement(toks, i)}
		k++
		for k < len(toks) && isAny(toks[k], "if", "not", "exists") {
			k++
		}
		o.name, k = dotted(toks, k)
		if k < len(toks) && toks[k].is("(") {
			o.list = inside(toks, k)
		}
		if o.kind == "function" || o.kind == "procedure" {
			o.args = argNames(o.list)
		}
		found = append(found, o)
	}
	return found
}

// isAny reports whether the token is one of the words.
func isAny(t tok, words ...string) bool {
	for _, w := range words {
		if t.is(w) {
			return true
		}
	}
	return false
}

// statement returns the tokens from i to the semicolon that ends the statement, those in deeper quotes left out.
func statement(toks []tok, i int) []tok {
	depth := toks[i].depth
	var part []tok
	for _, t := range toks[i:] {
		if t.depth < depth || t.depth == depth && t.is(";") {
			break
		}
		if t.depth == depth {
			part = append(part, t)
		}
	}
	return part
}

// dotted reads schema.name from i on, placeholders included; it returns the last part and the place after it.
func dotted(toks []tok, i int) (name string, next int) {
	for i < len(toks) && (toks[i].kind == word || toks[i].kind == quoted || toks[i].kind == holder) {
		name += strings.Trim(toks[i].text, `"`)
		isHolder := toks[i].kind == holder
		i++
		if i == len(toks) || isHolder && toks[i].kind == word || toks[i].kind == holder {
			continue
		}
		if toks[i].text != "." {
			break
		}
		name = ""
		i++
	}
	return name, i
}

// inside returns the tokens between the parenthesis at i and its partner.
func inside(toks []tok, i int) []tok {
	level := 0
	for k := i; k < len(toks); k++ {
		switch {
		case toks[k].is("("):
			level++
		case toks[k].is(")"):
			level--
		}
		if level == 0 {
			return toks[i+1 : k]
		}
	}
	return toks[i+1:]
}

// items splits a list at its commas, leaving those in parentheses and brackets.
func items(list []tok) [][]tok {
	var parts [][]tok
	var part []tok
	level := 0
	for _, t := range list {
		switch {
		case t.is("(") || t.is("["):
			level++
		case t.is(")") || t.is("]"):
			level--
		}
		if level == 0 && t.is(",") {
			parts = append(parts, part)
			part = nil
			continue
		}
		part = append(part, t)
	}
	if len(part) > 0 {
		parts = append(parts, part)
	}
	return parts
}

// argNames returns the names of what a caller passes; an argument that is only a type has none.
func argNames(list []tok) []string {
	var names []string
	for _, item := range items(list) {
		if len(item) > 0 && item[0].is("out") {
			continue // part of what the function returns
		}
		if len(item) > 0 && isAny(item[0], "in", "inout", "variadic") {
			item = item[1:]
		}
		if len(item) > 1 && item[0].kind == word && item[1].kind != punct {
			names = append(names, item[0].text)
		}
	}
	return names
}
