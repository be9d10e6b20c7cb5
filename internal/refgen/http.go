package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"

	"github.com/weirmq/weir/internal/server/api"
)

const httpIntro = "Served by `weir up` and `weir serve`, on http://127.0.0.1:9347 unless told otherwise.\n" +
	"`/openapi.json` is the same for programs. Bodies are JSON; a field that does not exist is refused. Messages can\n" +
	"also be sent as `application/x-ndjson`, and as CloudEvents 1.0: binary, structured and in batches. Every error\n" +
	"is a [Problem](#problem), as RFC 9457 describes it, with the SQLSTATE of [errors](errors.md). Where\n" +
	"the server asks for tokens, a route needs the verb that the table names; see [security](../security.md).\n\n"

// document is the part of an OpenAPI document that the page shows.
type document struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]schema `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	Name       string `json:"operationId"`
	Summary    string `json:"summary"`
	Parameters []struct {
		In          string `json:"in"`
		Name        string `json:"name"`
		Description string `json:"description"`
		Schema      schema `json:"schema"`
	} `json:"parameters"`
	RequestBody *content           `json:"requestBody"`
	Responses   map[string]content `json:"responses"`

	Security []map[string][]string `json:"security"`
}

// needs words what a token must allow.
func (op operation) needs() string {
	for _, scheme := range op.Security {
		for _, verbs := range scheme {
			if len(verbs) == 0 {
				return "a token"
			}
			return strings.Join(verbs, " or ")
		}
	}
	return "nothing"
}

type content struct {
	Required bool `json:"required"`
	Content  map[string]struct {
		Schema schema `json:"schema"`
	} `json:"content"`
}

// ref is the name of the schema that a JSON body has, empty when there is none.
func (c *content) ref() string {
	if c == nil || c.Content["application/json"].Schema.Ref == "" {
		return ""
	}
	return path.Base(c.Content["application/json"].Schema.Ref)
}

type schema struct {
	Ref         string            `json:"$ref"`
	Type        any               `json:"type"`
	Format      string            `json:"format"`
	Description string            `json:"description"`
	Default     any               `json:"default"`
	Items       *schema           `json:"items"`
	Properties  map[string]schema `json:"properties"`
	Required    []string          `json:"required"`
}

// renderHTTP writes the page about the routes.
func renderHTTP(string) ([]byte, error) {
	answer := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/openapi.json", http.NoBody)
	api.New(nil, api.Options{}).ServeHTTP(answer, request)
	var doc document
	if err := json.Unmarshal(answer.Body.Bytes(), &doc); err != nil {
		return nil, fmt.Errorf("parse description: %w", err)
	}
	if len(doc.Paths) == 0 {
		return nil, fmt.Errorf("read description: %w: status %d", errServer, answer.Code)
	}
	var b bytes.Buffer
	opening(&b, "the OpenAPI document of internal/server/api", "HTTP")
	b.WriteString(httpIntro)
	b.WriteString("| | | needs | SQL function | takes | gives |\n|---|---|---|---|---|---|\n")
	for _, route := range slices.Sorted(maps.Keys(doc.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(doc.Paths[route])) {
			writeOperation(&b, method, route, doc.Paths[route][method])
		}
	}
	b.WriteString("\nA body named in *italics* may be left out.\n\n")
	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		writeSchema(&b, name, doc.Components.Schemas[name])
	}
	return append(bytes.TrimRight(b.Bytes(), "\n"), '\n'), nil
}

// writeOperation writes a row of the table of routes.
func writeOperation(b *bytes.Buffer, method, route string, op operation) {
	var takes []string
	for _, p := range op.Parameters {
		if p.In == "query" {
			takes = append(takes, fmt.Sprintf("`?%s=`: %s", p.Name, strings.TrimSuffix(p.Description, ".")))
		}
	}
	if ref := op.RequestBody.ref(); ref != "" {
		link := fmt.Sprintf("[%s](#%s)", ref, anchor(ref))
		if !op.RequestBody.Required {
			link = "*" + link + "*"
		}
		takes = append(takes, link)
	}
	var gives []string
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		c := op.Responses[status]
		if status == "default" {
			continue
		}
		if ref := c.ref(); ref != "" {
			status += fmt.Sprintf(" [%s](#%s)", ref, anchor(ref))
		}
		gives = append(gives, status)
	}
	function := functionOf(op.Name)
	fmt.Fprintf(b, "| `%s %s` | %s | %s | %s | %s | %s |\n", strings.ToUpper(method), route, inCell(op.Summary),
		op.needs(), function, strings.Join(takes, "; "), strings.Join(gives, ", "))
}

// functionOf is the SQL function of an operation: that of its name, but for those on a whole and on a part of it, which
// share one, and for those that call several or none.
func functionOf(operation string) string {
	switch operation {
	case "pause_group", "resume_group", "purge_group":
		operation = strings.TrimSuffix(operation, "_group")
	case "show_queue", "show_group", "transaction", "events", "whoami", "health", "ready":
		return ""
	}
	return "`" + operation + "`"
}

// writeSchema writes the fields of a body.
func writeSchema(b *bytes.Buffer, name string, s schema) {
	fmt.Fprintf(b, "### %s\n\n| field | type | |\n|---|---|---|\n", name)
	for _, field := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[field]
		note := p.Description
		if slices.Contains(s.Required, field) && sent(name) {
			note = strings.TrimSpace("Required. " + note)
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", field, typeOf(p), inCell(note))
	}
	b.WriteString("\n")
}

// sent reports whether a client sends a body of this schema, so that it must know what is required.
func sent(name string) bool {
	return strings.HasSuffix(name, "Body") || strings.HasSuffix(name, "Item") || name == "Outgoing"
}

// typeOf words the type of a field.
func typeOf(s schema) string {
	if s.Ref != "" {
		name := path.Base(s.Ref)
		return fmt.Sprintf("[%s](#%s)", name, anchor(name))
	}
	if s.Items != nil {
		return "list of " + typeOf(*s.Items)
	}
	kind := "any JSON value"
	switch t := s.Type.(type) {
	case string:
		kind = t
	case []any:
		var all []string
		for _, one := range t {
			all = append(all, fmt.Sprint(one))
		}
		kind = strings.Join(all, " or ")
	}
	if s.Format == "date-time" {
		kind = "time"
	}
	return kind
}
