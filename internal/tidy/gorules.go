package tidy

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
)

// Limits of Go code.
const (
	funcLinesMax = 70
	mainLinesMax = 40
)

// badNames are packages and folders that say nothing about what is in them.
var badNames = []string{"util", "utils", "common", "helper", "helpers", "model", "models", "misc", "shared", "lib"}

// goRules are about the form of Go code.
func goRules() []Rule {
	return []Rule{
		{"go-func-length", "A Go function has at most 70 lines.", checkFuncLength},
		{"go-main-length", "A main.go in cmd/ has at most 40 lines.", checkMainLength},
		{"go-doc", "Every exported thing and every package has a comment that begins with its name.", checkDoc},
		{"package-name", "No package or folder is called util, common, helpers or models.", checkNames},
		{"test-no-sleep", "Tests wait for a lock, a signal or a row; they never sleep.", checkSleep},
	}
}

func checkFuncLength(t *Tree, report Report) {
	for _, f := range t.goFiles() {
		for _, d := range f.parse().ast.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			first, last := f.line(fn.Pos()), f.line(fn.End())
			if n := last - first + 1; n > funcLinesMax {
				report(f.Path, first, "%s has %d lines, at most %d", fn.Name.Name, n, funcLinesMax)
			}
		}
	}
}

func checkMainLength(t *Tree, report Report) {
	for _, f := range t.under(".go", "cmd/") {
		if n := len(f.lines()); path.Base(f.Path) == "main.go" && n > mainLinesMax {
			report(f.Path, 0, "%d lines, at most %d", n, mainLinesMax)
		}
	}
}

func checkDoc(t *Tree, report Report) {
	packages := map[string]bool{}
	var first []*File
	for _, f := range t.goFiles() {
		if f.isTest() {
			continue
		}
		dir := path.Dir(f.Path)
		if _, known := packages[dir]; !known {
			packages[dir] = false
			first = append(first, f)
		}
		packages[dir] = packages[dir] || packageDoc(f.parse().ast)
		for _, d := range f.parse().ast.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				checkFuncDoc(f, d, report)
			case *ast.GenDecl:
				checkGenDoc(f, d, report)
			}
		}
	}
	for _, f := range first {
		if !packages[path.Dir(f.Path)] {
			report(f.Path, 1, "no file of the package has a comment that begins `Package name` or `Command name`")
		}
	}
}

// packageDoc reports whether the file has the package's comment.
func packageDoc(f *ast.File) bool {
	text := f.Doc.Text()
	if f.Name.Name == "main" {
		return strings.HasPrefix(text, "Command ")
	}
	return strings.HasPrefix(text, "Package "+f.Name.Name+" ")
}

func checkFuncDoc(f *File, d *ast.FuncDecl, report Report) {
	if !d.Name.IsExported() || d.Recv != nil && !exportedType(d.Recv.List[0].Type) {
		return
	}
	if !names(d.Doc, d.Name.Name) {
		report(f.Path, f.line(d.Pos()), "%s has no comment that begins with its name", d.Name.Name)
	}
}

// checkGenDoc looks at types, and at constants and variables, which may share the comment of their group.
func checkGenDoc(f *File, d *ast.GenDecl, report Report) {
	group := d.Lparen.IsValid() && d.Doc.Text() != ""
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			doc := s.Doc
			if doc == nil && !d.Lparen.IsValid() {
				doc = d.Doc
			}
			if s.Name.IsExported() && !names(doc, s.Name.Name) {
				report(f.Path, f.line(s.Pos()), "%s has no comment that begins with its name", s.Name.Name)
			}
		case *ast.ValueSpec:
			doc := s.Doc
			if doc == nil && !d.Lparen.IsValid() {
				doc = d.Doc
			}
			exported := slices.ContainsFunc(s.Names, (*ast.Ident).IsExported)
			if exported && !group && s.Comment == nil && !names(doc, s.Names[0].Name) {
				report(f.Path, f.line(s.Pos()), "%s has no comment that begins with its name", s.Names[0].Name)
			}
		}
	}
}

// names reports whether a comment begins with the name.
func names(doc *ast.CommentGroup, name string) bool {
	rest, ok := strings.CutPrefix(doc.Text(), name)
	return ok && (rest == "" || !token.IsIdentifier("x"+rest[:1]))
}

// exportedType reports whether a receiver's type is exported.
func exportedType(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.StarExpr:
		return exportedType(e.X)
	case *ast.IndexExpr:
		return exportedType(e.X)
	case *ast.IndexListExpr:
		return exportedType(e.X)
	case *ast.Ident:
		return e.IsExported()
	}
	return false
}

func checkNames(t *Tree, report Report) {
	seen := map[string]bool{}
	for _, f := range t.files {
		for dir := path.Dir(f.Path); dir != "." && !seen[dir]; dir = path.Dir(dir) {
			seen[dir] = true
			if slices.Contains(badNames, path.Base(dir)) {
				report(f.Path, 0, "the folder %s says nothing about what is in it", dir)
			}
		}
	}
	for _, f := range t.goFiles() {
		if name := strings.TrimSuffix(f.parse().ast.Name.Name, "_test"); slices.Contains(badNames, name) {
			report(f.Path, 1, "the package %s says nothing about what is in it", name)
		}
	}
}

func checkSleep(t *Tree, report Report) {
	for _, f := range t.goFiles() {
		if !f.isTest() && !f.in("test/", "internal/pgtest/") {
			continue
		}
		ast.Inspect(f.parse().ast, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sleep" {
				if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Name == "time" {
					report(f.Path, f.line(n.Pos()), "time.Sleep in a test")
				}
			}
			return true
		})
	}
}
