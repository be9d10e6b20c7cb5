package tidy

import (
	"go/ast"
	"go/token"
	"regexp"
	"strconv"
	"strings"
)

// Folders in which Go code may hold SQL or import the driver, besides the tests.
var (
	engineDirs = []string{
		"internal/engine/", "internal/migrate/", "internal/pgtest/", "internal/bench/", "bench/", "test/", "sdk/",
		"examples/",
	}
	scratch = []string{"internal/pgtest/", "internal/bench/", "bench/", "test/"}
)

// queryRules are about SQL in Go code.
func queryRules() []Rule {
	return []Rule{
		{"ddl-place", "DDL stands only under sql/.", checkDDL},
		{"query-place", "Query text stands only in internal/engine, internal/migrate, bench, tests and SDKs.", checkQueries},
		{"query-concat", "No query is put together from pieces of text.", checkConcat},
		{"driver-place", "Only internal/engine, internal/migrate, internal/pgtest, bench and tests import pgx.", checkDriver},
	}
}

const (
	name = `[\w."%{$]`
	ddl  = `((or\s+replace|unlogged|temp|temporary|unique|materialized|constraint|event)\s+)*` +
		`(table|function|procedure|schema|index|type|sequence|view|trigger|policy|domain|aggregate|operator|cast)\s+`
)

var (
	ddlPat = regexp.MustCompile(`(^|[;\n])\s*(create|alter|drop|CREATE|ALTER|DROP)\s+(?i:` + ddl + name + `)`)
	// A sentence begins with a capital letter and SQL in this house does not, so only all-lower and all-upper words count.
	queryPat = regexp.MustCompile(`(?s)^\s*(` + strings.Join([]string{
		`(select|SELECT)\s+(.*\s(?i:from)\s|[\w.]+\(|\$?\d|\*)`,
		`(insert|INSERT)\s+(?i:into)\s+` + name,
		`(update|UPDATE)\s+` + name + `+\s+(?i:set)\s`,
		`(delete|DELETE)\s+(?i:from)\s+` + name,
		`(truncate|TRUNCATE)\s+((?i:table)\s+)?\w+\.\w+`,
		`(with|WITH)\s+\w+[^;]*\s(?i:as)\s*((?i:not\s+)?(?i:materialized)\s*)?\(`,
		`(call|CALL)\s+\w+\.\w+\(`,
		`(copy|COPY)\s+\w+.*\s(?i:from|to)\s+(?i:std)`,
		`(lock|LOCK)\s+(?i:table)\s`,
		`(listen|LISTEN|notify|NOTIFY)\s+\w+(,.*)?;?$`,
	}, `|`) + `)`)
)

// literal returns the text of a string literal; ok is false for anything else.
func literal(e ast.Expr) (text string, ok bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// eachLiteral calls see with every string in the file that is no error's text.
func eachLiteral(f *File, see func(lit *ast.BasicLit, text string)) {
	ast.Inspect(f.parse().ast, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok {
			if text, ok := literal(lit); ok && !strings.Contains(text, "%w") {
				see(lit, text)
			}
		}
		return true
	})
}

func checkDDL(t *Tree, report Report) {
	for _, f := range t.goFiles() {
		if f.isTest() || f.in(scratch...) {
			continue
		}
		eachLiteral(f, func(lit *ast.BasicLit, text string) {
			if m := ddlPat.FindString(text); m != "" {
				report(f.Path, f.line(lit.Pos()), "DDL in Go: %q", strings.TrimSpace(m))
			}
		})
	}
}

func checkQueries(t *Tree, report Report) {
	for _, f := range t.goFiles() {
		if f.isTest() || f.in(engineDirs...) {
			continue
		}
		eachLiteral(f, func(lit *ast.BasicLit, text string) {
			if queryPat.MatchString(text) {
				report(f.Path, f.line(lit.Pos()), "query text outside internal/engine: %.40q", text)
			}
		})
	}
}

func checkConcat(t *Tree, report Report) {
	for _, f := range t.goFiles() {
		if f.isTest() || f.in(scratch...) {
			continue
		}
		ast.Inspect(f.parse().ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if formats(n) {
					report(f.Path, f.line(n.Pos()), "a query is formatted; pass values as parameters")
				}
			case *ast.BinaryExpr:
				if n.Op == token.ADD && joins(n) {
					report(f.Path, f.line(n.Pos()), "a query is joined from pieces; pass values as parameters")
					return false
				}
			}
			return true
		})
	}
}

// isQuery reports whether a text is SQL of any kind.
func isQuery(text string) bool {
	return !strings.Contains(text, "%w") && (queryPat.MatchString(text) || ddlPat.MatchString(text))
}

// formats reports whether a call is one of fmt's that fills in a query.
func formats(call *ast.CallExpr) bool {
	fun, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	if pkg, ok := fun.X.(*ast.Ident); !ok || pkg.Name != "fmt" {
		return false
	}
	for i, arg := range call.Args {
		text, ok := literal(arg)
		if ok && isQuery(text) && i+1 < len(call.Args) && fun.Sel.Name != "Errorf" {
			return true
		}
	}
	return false
}

// joins reports whether a sum begins with a query and has a part that is no literal.
func joins(sum *ast.BinaryExpr) bool {
	var whole strings.Builder
	fixed := true
	var walk func(e ast.Expr)
	walk = func(e ast.Expr) {
		if b, ok := e.(*ast.BinaryExpr); ok && b.Op == token.ADD {
			walk(b.X)
			walk(b.Y)
			return
		}
		text, ok := literal(e)
		if !ok {
			fixed = false
			text = "x"
		}
		whole.WriteString(text)
	}
	walk(sum)
	return !fixed && isQuery(whole.String())
}

func checkDriver(t *Tree, report Report) {
	for _, f := range t.goFiles() {
		if f.isTest() || f.in(engineDirs...) {
			continue
		}
		for _, imp := range f.parse().ast.Imports {
			if strings.HasPrefix(imp.Path.Value, `"github.com/jackc/pgx`) {
				report(f.Path, f.line(imp.Pos()), "imports %s; call internal/engine", imp.Path.Value)
			}
		}
	}
}
