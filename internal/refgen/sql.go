package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

const sqlIntro = "The functions of schema `weir`, which are all that a user calls. Arguments may be given by name\n" +
	"(`max => 10`). What a function raises is told apart by its SQLSTATE: see [errors](errors.md). What it reads or\n" +
	"writes in the engine's own tables is locked as SELECT and INSERT lock it; the locks named here come on top.\n\n"

// section is a heading of the page with its objects.
type section struct {
	name    string
	objects []object
}

// renderSQL writes the page about schema weir, in the order of install.sql.
func renderSQL(root string) ([]byte, error) {
	sections, err := publicSections(root)
	if err != nil {
		return nil, err
	}
	names, err := readErrorNames(root)
	if err != nil {
		return nil, err
	}
	types := map[string]bool{}
	for _, s := range sections {
		for _, o := range s.objects {
			types[o.name] = len(o.fields) > 0
		}
	}
	var b bytes.Buffer
	opening(&b, "the headers of the SQL files", "SQL")
	b.WriteString(sqlIntro)
	for _, s := range sections {
		fmt.Fprintf(&b, "| %s | |\n|---|---|\n", s.name)
		for _, o := range s.objects {
			first, _, _ := strings.Cut(o.purpose, ". ")
			fmt.Fprintf(&b, "| [%s](#%s) | %s |\n", o.name, anchor(o.name), inCell(strings.TrimSuffix(first, ".")))
		}
		b.WriteString("\n")
	}
	for _, s := range sections {
		fmt.Fprintf(&b, "## %s\n", s.name)
		for _, o := range s.objects {
			writeObject(&b, o, names, types)
		}
		b.WriteString("\n")
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n'), nil
}

// publicSections reads the functions that install.sql lists, under its titles, and, last, the types of schema weir.
func publicSections(root string) ([]section, error) {
	titles, err := readTitles(root)
	if err != nil {
		return nil, err
	}
	var sections []section
	types := section{name: "Types"}
	for _, t := range titles {
		s := section{name: t.name}
		for _, path := range t.paths {
			function, kind := strings.Contains(path, "functions/"), strings.Contains(path, "types/")
			if !function && !kind {
				continue
			}
			o, err := readObject(root, path)
			switch {
			case kind && !strings.HasPrefix(o.name, "weir."):
			case err != nil:
				return nil, err
			case kind:
				types.objects = append(types.objects, o)
			default:
				s.objects = append(s.objects, o)
			}
		}
		if len(s.objects) > 0 {
			sections = append(sections, s)
		}
	}
	return append(sections, types), nil
}

var (
	statePat = regexp.MustCompile(`WR\d{3}`)
	typePat  = regexp.MustCompile(`weir\.\w+`)
)

// writeObject writes a function or a type.
func writeObject(b *bytes.Buffer, o object, names map[string]string, types map[string]bool) {
	fmt.Fprintf(b, "\n### %s\n\n%s\n", o.name, o.purpose)
	if len(o.fields) > 0 {
		b.WriteString("\n| field | type | |\n|---|---|---|\n")
		for _, f := range o.fields {
			fmt.Fprintf(b, "| `%s` | `%s` | %s |\n", f[0], f[1], inCell(f[2]))
		}
		return
	}
	for _, s := range o.signatures {
		fmt.Fprintf(b, "\n```sql\n%s\n```\n", s)
	}
	if len(o.params) > 0 {
		b.WriteString("\n| parameter | |\n|---|---|\n")
		for _, p := range o.params {
			fmt.Fprintf(b, "| `%s` | %s |\n", p[0], inCell(p[1]))
		}
	}
	returns := o.returns
	for _, name := range typePat.FindAllString(strings.Join(o.signatures, " "), -1) {
		if types[name] && !strings.Contains(returns, name) {
			returns += fmt.Sprintf(" See %s.", name)
		}
	}
	returns = typePat.ReplaceAllStringFunc(returns, func(name string) string {
		if _, ok := types[name]; !ok {
			return name
		}
		return fmt.Sprintf("[%s](#%s)", name, anchor(name))
	})
	raises := statePat.ReplaceAllStringFunc(o.raises, func(state string) string {
		return fmt.Sprintf("[%s](errors.md#%s) %s", state, strings.ToLower(state), names[state])
	})
	fmt.Fprintf(b, "\n- Returns: %s\n- Raises: %s\n- Locks: %s\n", returns, raises, o.locks)
}

// anchor is the fragment of a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(strings.ReplaceAll(strings.ToLower(heading), ".", ""), " ", "-")
}
