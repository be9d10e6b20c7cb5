package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"
)

const configFlag = "config"

// Setting is a flag of a command that serves, under all its names.
type Setting struct {
	Flag, Env, Key string
	Default        string
	Usage          string
	Commands       []string
}

// configured are the commands that can be configured by the environment and a file. They share one file.
var configured = []string{"serve", "up"}

// Settings lists what can be configured by flags, environment and file.
func Settings() []Setting {
	var list []Setting
	root := (&app{}).root()
	for _, c := range root.Commands() {
		if !slices.Contains(configured, c.Name()) {
			continue
		}
		eachSetting(c, func(f *pflag.Flag) {
			i := slices.IndexFunc(list, func(s Setting) bool { return s.Flag == f.Name })
			if i < 0 {
				list = append(list, Setting{
					Flag: f.Name, Env: envName(f.Name), Key: keyName(f.Name), Default: f.DefValue, Usage: f.Usage,
				})
				i = len(list) - 1
			}
			list[i].Commands = append(list[i].Commands, c.Name())
		})
	}
	slices.SortFunc(list, func(a, b Setting) int { return strings.Compare(a.Flag, b.Flag) })
	return list
}

// eachSetting visits the flags of a command that can be set otherwise, too.
func eachSetting(c *cobra.Command, visit func(f *pflag.Flag)) {
	see := func(f *pflag.Flag) {
		if f.Name != "help" && f.Name != "output" {
			visit(f)
		}
	}
	c.NonInheritedFlags().VisitAll(see)
	c.InheritedFlags().VisitAll(see)
}

func envName(flag string) string { return "WEIR_" + strings.ToUpper(keyName(flag)) }
func keyName(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// configure sets the flags of a command that were not given: from the environment, else from the file.
func configure(c *cobra.Command) error {
	path, err := c.Flags().GetString(configFlag)
	if err != nil {
		return fmt.Errorf("read flag: %w", err)
	}
	if path == "" {
		path = os.Getenv(envName(configFlag))
	}
	file, err := readConfig(path)
	if err != nil {
		return err
	}
	if err := file.refuseUnknown(); err != nil {
		return err
	}
	eachSetting(c, func(f *pflag.Flag) {
		if err != nil || f.Changed || f.Name == configFlag {
			return
		}
		if value := os.Getenv(envName(f.Name)); value != "" {
			if wrong := c.Flags().Set(f.Name, value); wrong != nil {
				err = usagef("%s: %w", envName(f.Name), reasonOf(wrong))
			}
			return
		}
		for _, value := range file.entries[keyName(f.Name)].values {
			if wrong := c.Flags().Set(f.Name, value); wrong != nil {
				err = usagef("%s:%d: %s: %w", path, file.entries[keyName(f.Name)].line, keyName(f.Name), reasonOf(wrong))
			}
		}
	})
	return err
}

// reasonOf leaves the flag's name out of an error of its value: it was not given as a flag.
func reasonOf(err error) error {
	if cause := errors.Unwrap(err); cause != nil {
		return cause
	}
	return err
}

// configFile is what a file of settings says.
type configFile struct {
	path    string
	entries map[string]configEntry // by key
}

// configEntry is the value of one key; a list has several.
type configEntry struct {
	line   int
	values []string
}

// readConfig reads a file of settings; without a path there are none.
func readConfig(path string) (configFile, error) {
	file := configFile{path: path, entries: map[string]configEntry{}}
	if path == "" {
		return file, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return file, &usageError{err: fmt.Errorf("read settings: %w", err)}
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return file, usagef("%s: not YAML: %w", path, err)
	}
	if document.Kind == 0 {
		return file, nil // it is empty
	}
	top := document.Content[0]
	if top.Kind != yaml.MappingNode {
		return file, usagef("%s:%d: settings are lines such as `listen: 127.0.0.1:9347`", path, top.Line)
	}
	for i := 0; i < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		if earlier, twice := file.entries[key.Value]; twice {
			return file, usagef("%s:%d: %s is set in line %d already", path, key.Line, key.Value, earlier.line)
		}
		entry := configEntry{line: key.Line}
		items := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			items = value.Content
		}
		for _, item := range items {
			if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
				return file, usagef("%s:%d: %s needs a value, or a list of values", path, key.Line, key.Value)
			}
			entry.values = append(entry.values, item.Value)
		}
		file.entries[key.Value] = entry
	}
	return file, nil
}

// refuseUnknown refuses a key that is no setting of any command.
func (f configFile) refuseUnknown() error {
	known := map[string]bool{}
	for _, s := range Settings() {
		known[s.Key] = s.Flag != configFlag
	}
	first, line := "", 0
	for key, entry := range f.entries {
		if !known[key] && (line == 0 || entry.line < line) {
			first, line = key, entry.line
		}
	}
	if line == 0 {
		return nil
	}
	return &usageError{
		err: fmt.Errorf("%s:%d: there is no setting %s", f.path, line, first), hint: "docs/reference/settings.md lists them.",
	}
}
