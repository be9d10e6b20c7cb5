package tidy

import (
	"go/ast"
	"go/token"
	"path"
	"regexp"
	"strings"
)

// errorRules are about errors in Go code.
func errorRules() []Rule {
	return []Rule{
		{"go-errors-file", "Error values and types of a package stand in its errors.go.", checkErrorsFile},
		{"go-error-wrap", "Errors are wrapped as `verb noun: %w`.", checkWrap},
		{"go-error-text", "Nobody decides by the text of an error.", checkErrorText},
		{"go-error-code", "Go names SQLSTATEs of class WR by the generated constants.", checkCodeLiterals},
	}
}

func checkErrorsFile(t *Tree, report Report) {
	for _, f := range t.goFiles() {
		if f.isTest() || path.Base(f.Path) == "errors.go" {
			continue
		}
		for _, d := range f.parse().ast.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, name := range errorVars(d) {
					report(f.Path, f.line(d.Pos()), "%s belongs in errors.go", name)
				}
			case *ast.FuncDecl:
				if d.Recv != nil && d.Name.Name == "Error" && len(d.Type.Params.List) == 0 {
					report(f.Path, f.line(d.Pos()), "a type with an Error method belongs in errors.go")
				}
			}
		}
	}
}

// errorVars returns the variables of a declaration that are made by errors.New or fmt.Errorf.
func errorVars(d *ast.GenDecl) []string {
	var found []string
	for _, spec := range d.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok || d.Tok != token.VAR {
			continue
		}
		for i, value := range v.Values {
			if call, ok := value.(*ast.CallExpr); ok && (isCall(call, "errors", "New") || isCall(call, "fmt", "Errorf")) {
				found = append(found, v.Names[i].Name)
			}
		}
	}
	return found
}

// isCall reports whether a call is pkg.fun(...).
func isCall(call *ast.CallExpr, pkg, fun string) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != fun {
		return false
	}
	id, ok := sel.X.(*ast.Ident)
	return ok && id.Name == pkg
}

// eachCall calls see with every call in the file.
func eachCall(f *File, see func(call *ast.CallExpr)) {
	ast.Inspect(f.parse().ast, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			see(call)
		}
		return true
	})
}

var (
	wrapLeadPat = regexp.MustCompile(`^(failed|unable|could not|cannot|can't|error)\b`)
	wrapPat     = regexp.MustCompile(`(^|: |; |, )%w`)
)

func checkWrap(t *Tree, report Report) {
	for _, f := range t.goFiles() {
		if f.isTest() {
			continue
		}
		eachCall(f, func(call *ast.CallExpr) {
			if !isCall(call, "fmt", "Errorf") || len(call.Args) == 0 {
				return
			}
			text, ok := literal(call.Args[0])
			if !ok || !strings.Contains(text, "%w") {
				return
			}
			if wrapLeadPat.MatchString(text) || !wrapPat.MatchString(text) {
				report(f.Path, f.line(call.Pos()), "%q is not `verb noun: %%w`", text)
			}
		})
	}
}

// deciders are functions of package strings that look into a text.
var deciders = []string{"Contains", "HasPrefix", "HasSuffix", "EqualFold", "Index"}

func checkErrorText(t *Tree, report Report) {
	for _, f := range t.goFiles() {
		if f.isTest() {
			continue
		}
		eachCall(f, func(call *ast.CallExpr) {
			for _, name := range deciders {
				if isCall(call, "strings", name) && len(call.Args) > 0 && isErrorText(call.Args[0]) {
					report(f.Path, f.line(call.Pos()), "strings.%s looks at the text of an error; look at its SQLSTATE or type", name)
				}
			}
		})
	}
}

// isErrorText reports whether an expression is x.Error() or x.Message.
func isErrorText(e ast.Expr) bool {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 0 {
		sel, ok := call.Fun.(*ast.SelectorExpr)
		return ok && sel.Sel.Name == "Error"
	}
	sel, ok := e.(*ast.SelectorExpr)
	return ok && sel.Sel.Name == "Message"
}

// wholeCodePat is a SQLSTATE and nothing else.
var wholeCodePat = regexp.MustCompile(`^WR\d{3}$`)

func checkCodeLiterals(t *Tree, report Report) {
	for _, f := range t.goFiles() {
		if f.isTest() || f.in("test/") {
			continue
		}
		eachLiteral(f, func(lit *ast.BasicLit, text string) {
			if wholeCodePat.MatchString(text) {
				report(f.Path, f.line(lit.Pos()), "%s is written out; use the constant in internal/engine", text)
			}
		})
	}
}
