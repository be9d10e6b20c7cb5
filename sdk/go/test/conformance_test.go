package test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server"
	weir "github.com/weirmq/weir/sdk/go"
)

const casesDir = "../../conformance/cases"

// conformanceCase is a file of sdk/conformance/cases; its README explains the format.
type conformanceCase struct {
	About      string   `json:"about"`
	Transports []string `json:"transports"`
	Steps      []step   `json:"steps"`
}

type step struct {
	Call        string           `json:"call"`
	Args        map[string]any   `json:"args"`
	Expect      *json.RawMessage `json:"expect"`
	Error       string           `json:"error"`
	Save        string           `json:"save"`
	Transaction []step           `json:"transaction"`
	Rollback    bool             `json:"rollback"`
	Outside     bool             `json:"outside"`
}

// The cases run over SQL, also with all queues in another log, and over HTTP, with and without a token, in one
// database.
func TestConformance(t *testing.T) {
	t.Parallel()
	db := pgtest.New(t, pgtest.Options{})
	token := newToken(t, db, "all", "produce", "consume", "admin")
	for name, client := range map[string]*weir.Client{
		"sql":   connect(t, db.DSN),
		"log":   connect(t, db.DSN),
		"http":  connect(t, serve(t, db)),
		"token": connect(t, serveWith(t, db, server.Options{AskTokens: true}), weir.Token(token)),
	} {
		transport := map[string]string{"log": "sql", "token": "http"}[name]
		if transport == "" {
			transport = name
		}
		for file, c := range readCases(t, transport) {
			t.Run(name+"/"+file, func(t *testing.T) {
				t.Parallel()
				p := newPlayer(t, client)
				if name == "log" {
					p.log = "other"
				}
				p.play(client, c.Steps)
			})
		}
	}
}

// readCases reads the cases for a transport, by name.
func readCases(t *testing.T, transport string) map[string]conformanceCase {
	t.Helper()
	files := get(filepath.Glob(casesDir + "/*.json"))(t)
	if len(files) < 25 {
		t.Fatalf("%d cases in %s", len(files), casesDir)
	}
	cases := map[string]conformanceCase{}
	for _, file := range files {
		var c conformanceCase
		if err := json.Unmarshal(get(os.ReadFile(file))(t), &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if c.Transports == nil || slices.Contains(c.Transports, transport) {
			cases[strings.TrimSuffix(filepath.Base(file), ".json")] = c
		}
	}
	return cases
}

// player plays one case.
type player struct {
	*testing.T

	outside *weir.Client
	vars    map[string]any
	log     string // of queues whose case names none; "" is main
}

func newPlayer(t *testing.T, client *weir.Client) *player {
	t.Helper()
	p := &player{T: t, outside: client, vars: map[string]any{}}
	number := rand.Uint32()
	prefix, log := fmt.Sprintf("c-%x-", number), fmt.Sprintf("c_%x", number)
	p.vars["log"] = log
	t.Cleanup(func() {
		err := client.DropLog(context.Background(), log)
		if err != nil && !errors.Is(err, weir.ErrInvalidArgument) { // which it is when there is no such log
			t.Error(err)
		}
	})
	for _, name := range []string{"q", "q2", "q3"} {
		queue := prefix + name
		p.vars[name] = queue
		t.Cleanup(func() {
			if err := client.DropQueue(context.Background(), queue); err != nil && !errors.Is(err, weir.ErrQueueNotFound) {
				t.Error(err)
			}
		})
	}
	return p
}

var errRollback = errors.New("roll back")

// play plays steps with a client: the first that fails ends the case.
func (p *player) play(client *weir.Client, steps []step) {
	p.Helper()
	for i, s := range steps {
		with := client
		if s.Outside {
			with = p.outside
		}
		var result any
		var err error
		if s.Transaction != nil {
			err = p.transaction(with, s)
		} else {
			args, _ := p.resolve(s.Args).(map[string]any)
			if p.log != "" && s.Call == "create_queue" && args["log"] == nil {
				args["log"] = p.log
			}
			result, err = call(p.Context(), with, s.Call, args)
		}
		at := fmt.Sprintf("step %d, %s", i+1, s.Call)
		if s.Error != "" {
			if weir.Code(err) != s.Error {
				p.Fatalf("%s: got %v and the error %v, want SQLSTATE %s", at, result, err, s.Error)
			}
			continue
		}
		if err != nil {
			if client != p.outside { // inside a transaction: it is for the transaction to say
				panic(stepError{err})
			}
			p.Fatalf("%s: %v", at, err)
		}
		plain := toPlain(p.T, result)
		if s.Expect != nil {
			var want any
			decodeNumbers(p.T, *s.Expect, &want)
			if why := match(p.resolve(want), plain); why != "" {
				p.Fatalf("%s: %s\ngot %s", at, why, get(json.Marshal(plain))(p.T))
			}
		}
		if s.Save != "" {
			p.vars[s.Save] = plain
		}
	}
}

// stepError ends the function of a transaction.
type stepError struct{ err error }

// transaction plays the steps of a transaction.
func (p *player) transaction(client *weir.Client, s step) error {
	err := client.Transaction(p.Context(), func(tx *weir.Client) (err error) {
		defer func() {
			if v := recover(); v != nil {
				failed, ok := v.(stepError)
				if !ok {
					panic(v)
				}
				err = failed.err
			}
		}()
		p.play(tx, s.Transaction)
		if s.Rollback {
			return errRollback
		}
		return nil
	})
	if s.Rollback && errors.Is(err, errRollback) {
		return nil
	}
	return err
}

// variable is one within a string.
var variable = regexp.MustCompile(`\$\{\w+\}`)

// resolve puts in variables.
func (p *player) resolve(v any) any {
	switch v := v.(type) {
	case string:
		if rest, ok := strings.CutPrefix(v, "$$"); ok {
			return "$" + rest
		}
		if path, ok := strings.CutPrefix(v, "$"); ok && !strings.HasPrefix(path, "{") {
			return p.lookup(path)
		}
		return variable.ReplaceAllStringFunc(v, func(name string) string {
			return fmt.Sprint(p.lookup(strings.Trim(name, "${}")))
		})
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = p.resolve(v[i])
		}
		return list
	case map[string]any:
		object := map[string]any{}
		for name, field := range v {
			object[name] = p.resolve(field)
		}
		return object
	}
	return v
}

// lookup follows a path such as got.0.id.
func (p *player) lookup(path string) any {
	names := strings.Split(path, ".")
	v, ok := p.vars[names[0]]
	for _, name := range names[1:] {
		switch at := v.(type) {
		case map[string]any:
			v, ok = at[name], true
		case []any:
			i, err := strconv.Atoi(name)
			if ok = err == nil && i < len(at); ok {
				v = at[i]
			}
		default:
			ok = false
		}
		if !ok {
			break
		}
	}
	if !ok {
		p.Fatalf("there is no variable $%s", path)
	}
	return v
}

// match says why a result is not what is expected, or nothing.
func match(want, got any) string {
	switch want := want.(type) {
	case map[string]any:
		if len(want) == 1 {
			for name, arg := range want {
				if strings.HasPrefix(name, "$") {
					return test(name, arg, got)
				}
			}
		}
		object, ok := got.(map[string]any)
		if !ok {
			return fmt.Sprintf("%v is no object", got)
		}
		for name, field := range want {
			if why := match(field, object[name]); why != "" {
				return name + ": " + why
			}
		}
	case []any:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return fmt.Sprintf("want a list of %d, got %v", len(want), got)
		}
		for i := range want {
			if why := match(want[i], list[i]); why != "" {
				return fmt.Sprintf("%d: %s", i, why)
			}
		}
	default:
		if want != got {
			return fmt.Sprintf("want %v, got %v", want, got)
		}
	}
	return ""
}

// test is one of the tests that match anything of a kind.
func test(name string, arg, got any) string {
	ok := false
	switch name {
	case "$set":
		ok = got != nil
	case "$above":
		n, isNumber := got.(json.Number)
		least, wants := arg.(json.Number)
		a, _ := n.Float64()
		b, _ := least.Float64()
		ok = isNumber && wants && a > b
	case "$length":
		length := -1
		switch got := got.(type) {
		case []any:
			length = len(got)
		case string:
			length = len([]rune(got))
		}
		ok = strconv.Itoa(length) == fmt.Sprint(arg)
	case "$unordered":
		want, _ := arg.([]any)
		list, _ := got.([]any)
		left := slices.Clone(list)
		for _, w := range want {
			i := slices.IndexFunc(left, func(g any) bool { return match(w, g) == "" })
			if i < 0 {
				return fmt.Sprintf("%v is not there", w)
			}
			left = slices.Delete(left, i, i+1)
		}
		ok = len(want) == len(list)
	case "$contains":
		list, _ := got.([]any)
		ok = slices.ContainsFunc(list, func(g any) bool { return match(arg, g) == "" })
	case "$exact":
		want, _ := arg.(map[string]any)
		object, isObject := got.(map[string]any)
		if !isObject || len(object) != len(want) {
			return fmt.Sprintf("want exactly %v, got %v", want, got)
		}
		return match(want, object)
	}
	if !ok {
		return fmt.Sprintf("%v does not pass %s %v", got, name, arg)
	}
	return ""
}
