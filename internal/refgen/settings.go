package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/weirmq/weir/internal/cli"
)

const settingsIntro = "What `weir serve` and `weir up` can be told: by a flag, else by a variable of the\n" +
	"environment, else by a key of the YAML file that `--config` or `WEIR_CONFIG` names, else they do the\n" +
	"default. One file serves both commands; a key that neither knows is an error. A variable that is empty\n" +
	"counts as not set. Lists are written with commas, in the file also as YAML lists.\n\n" +
	"```yaml\nlisten: 0.0.0.0:9347\nauth: true\ntls_cert: /etc/weir/tls.crt\ntls_key: /etc/weir/tls.key\n" +
	"dsn: postgres://weir@db/app\n```\n\n"

// renderSettings writes the page about what can be configured.
func renderSettings(string) ([]byte, error) {
	var b bytes.Buffer
	opening(&b, "the flags of cmd/weir", "Settings")
	b.WriteString(settingsIntro)
	b.WriteString("| flag | variable | key | of | default | |\n|---|---|---|---|---|---|\n")
	for _, s := range cli.Settings() {
		standard := s.Default
		if standard != "" && standard != "[]" {
			standard = "`" + standard + "`"
		} else {
			standard = ""
		}
		fmt.Fprintf(&b, "| `--%s` | `%s` | `%s` | %s | %s | %s |\n", s.Flag, s.Env, s.Key, strings.Join(s.Commands, ", "),
			standard, inCell(s.Usage))
	}
	return b.Bytes(), nil
}
