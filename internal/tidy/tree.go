package tidy

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

// Tree is a repository in memory.
type Tree struct {
	files []*File // sorted by path
	index map[string]*File
}

// File is one file of a tree; what is parsed from it is kept.
type File struct {
	Path string // from the root, with slashes
	Data []byte
	text *goText
	toks []tok
}

// goText is a parsed Go file.
type goText struct {
	ast  *ast.File
	fset *token.FileSet
	err  error
}

// NewTree makes a tree of paths and contents.
func NewTree(files map[string]string) *Tree {
	t := &Tree{index: map[string]*File{}}
	for name, text := range files {
		f := &File{Path: name, Data: []byte(text)}
		t.files = append(t.files, f)
		t.index[name] = f
	}
	sort.Slice(t.files, func(i, k int) bool { return t.files[i].Path < t.files[k].Path })
	return t
}

// Load reads what git tracks or would track below root. Where there is no git, it reads all but build output.
func Load(ctx context.Context, root string) (*Tree, error) {
	names, err := listed(ctx, root)
	if err != nil {
		names, err = walked(root)
	}
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(root, name))
		if err != nil || !info.Mode().IsRegular() {
			continue // deleted but not committed yet, or a link
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return nil, fmt.Errorf("read file: %w", err)
		}
		files[name] = string(data)
	}
	return NewTree(files), nil
}

// listed asks git for the files.
func listed(ctx context.Context, root string) ([]string, error) {
	git := exec.CommandContext(ctx, "git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	out, err := git.Output()
	if err != nil {
		return nil, fmt.Errorf("list files: %w", err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

// walked finds the files of an unpacked archive.
func walked(root string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == ".git" || d.Name() == "node_modules" || rel == "build" {
				return filepath.SkipDir
			}
			return nil
		}
		names = append(names, filepath.ToSlash(rel))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("walk tree: %w", err)
	}
	return names, nil
}

// file returns one file, nil when it is not there.
func (t *Tree) file(name string) *File { return t.index[name] }

// under returns the files whose path begins with one of the folders and has the extension.
func (t *Tree) under(ext string, folders ...string) []*File {
	var found []*File
	for _, f := range t.files {
		if path.Ext(f.Path) == ext && f.in(folders...) {
			found = append(found, f)
		}
	}
	return found
}

// goFiles returns the Go files that are code of ours: no test data, nothing generated, nothing broken.
func (t *Tree) goFiles() []*File {
	var found []*File
	for _, f := range t.under(".go", "") {
		if !strings.Contains("/"+f.Path, "/testdata/") && !f.generated() && f.parse().err == nil {
			found = append(found, f)
		}
	}
	return found
}

// codes returns the SQLSTATEs of errors.csv, nil when there is no such file.
func (t *Tree) codes() map[string]bool {
	f := t.file("errors.csv")
	if f == nil {
		return nil
	}
	rows, err := csv.NewReader(bytes.NewReader(f.Data)).ReadAll()
	if err != nil {
		return nil
	}
	codes := map[string]bool{}
	for i, row := range rows {
		if i > 0 {
			codes[row[0]] = true
		}
	}
	return codes
}

// in reports whether the file lies in one of the folders, each of which ends with a slash or is empty for the root.
func (f *File) in(folders ...string) bool {
	for _, folder := range folders {
		if strings.HasPrefix(f.Path, folder) {
			return true
		}
	}
	return false
}

// lines returns the text line by line, without line ends.
func (f *File) lines() []string {
	text := strings.TrimSuffix(string(f.Data), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// base returns the file's name without folder and extension.
func (f *File) base() string {
	return strings.TrimSuffix(path.Base(f.Path), path.Ext(f.Path))
}

// isTest reports whether the file is Go test code.
func (f *File) isTest() bool { return strings.HasSuffix(f.Path, "_test.go") }

var generatedPat = regexp.MustCompile(`^\W{0,6}Code generated .*DO NOT EDIT\.`)

// generated reports whether one of the first lines carries the mark of generated files.
func (f *File) generated() bool {
	for i, line := range f.lines() {
		if i == 5 {
			break
		}
		if generatedPat.MatchString(line) {
			return true
		}
	}
	return false
}

// parse returns the Go file, parsed once.
func (f *File) parse() *goText {
	if f.text == nil {
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, f.Path, f.Data, parser.ParseComments|parser.SkipObjectResolution)
		f.text = &goText{ast: parsed, fset: fset, err: err}
	}
	return f.text
}

// line returns the line of a position in the Go file.
func (f *File) line(pos token.Pos) int { return f.parse().fset.Position(pos).Line }

// tokens returns the SQL file as tokens, made once.
func (f *File) tokens() []tok {
	if f.toks == nil {
		f.toks = lex(string(f.Data))
	}
	return f.toks
}
