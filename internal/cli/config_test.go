package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weirmq/weir/internal/cli"
)

// serveSays runs `weir serve` with settings that cannot be right and returns what it says about them.
func serveSays(t *testing.T, file string, args ...string) (code int, says string) {
	t.Helper()
	line := []string{"weir", "serve"}
	if file != "" {
		path := filepath.Join(t.TempDir(), "weir.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		line = append(line, "--config", path)
	}
	var out, errors bytes.Buffer
	code = cli.Run(t.Context(), append(line, args...), strings.NewReader(""), &out, &errors)
	return code, errors.String()
}

func TestAFlagCountsMoreThanTheEnvironmentAndThatMoreThanTheFile(t *testing.T) {
	const file = "log_level: from-file\nlisten: 127.0.0.1:0\nport: 5 # of weir up\n"
	for _, c := range []struct {
		env  string
		args []string
		want string
	}{
		{"", nil, "--log-level from-file"},
		{"from-env", nil, "--log-level from-env"},
		{"from-env", []string{"--log-level", "from-flag"}, "--log-level from-flag"},
	} {
		t.Setenv("WEIR_LOG_LEVEL", c.env)
		if code, says := serveSays(t, file, c.args...); code != 2 || !strings.Contains(says, c.want) {
			t.Errorf("exit code %d, want %q: %s", code, c.want, says)
		}
	}
	t.Setenv("WEIR_LOG_LEVEL", "")
	path := filepath.Join(t.TempDir(), "weir.yaml")
	if err := os.WriteFile(path, []byte("log_level: named-by-env\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("WEIR_CONFIG", path)
	if code, says := serveSays(t, ""); code != 2 || !strings.Contains(says, "--log-level named-by-env") {
		t.Errorf("exit code %d: %s", code, says)
	}
}

func TestAFileOfSettingsThatIsWrongIsRefusedWithTheLine(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"listen: 127.0.0.1:0\n\nlissten: x\n":           "weir.yaml:3: there is no setting lissten",
		"output: json\n":                                "weir.yaml:1: there is no setting output",
		"config: other.yaml\n":                          "weir.yaml:1: there is no setting config",
		"read_only: true\nrate_limit: many\n":           "weir.yaml:2: rate_limit: ",
		"read_only:\n":                                  "weir.yaml:1: read_only needs a value",
		"tls: {cert: a}\n":                              "weir.yaml:1: tls needs a value",
		"read_only: true\nread_only: false\n":           "weir.yaml:2: read_only is set in line 1 already",
		"- listen\n":                                    "weir.yaml:1: settings are lines such as",
		"listen: [\n":                                   "not YAML",
		"allow_host: [a.example, b.example]\nauth: 7\n": "weir.yaml:2: auth: ",
	} {
		if code, says := serveSays(t, file); code != 2 || !strings.Contains(says, want) {
			t.Errorf("%q: exit code %d, want something with %q: %s", file, code, want, says)
		}
	}
	if code, says := serveSays(t, "", "--config", "/nowhere/weir.yaml"); code != 2 || !strings.Contains(says, "/nowhere") {
		t.Errorf("exit code %d: %s", code, says)
	}
}

func TestFlagsOfAccessThatMakeNoSenseTogetherAreRefused(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"--jwks keys.json":                            "--oidc-issuer",
		"--oidc-issuer https://id.example":            "--audience",
		"--tls-cert a.pem":                            "belong together",
		"--tls-client-ca a.pem":                       "--tls-cert",
		"--rate-limit=-1":                             "0 or more",
		"--listen 0.0.0.0:0 --read-only":              "no authentication",
		"--listen 0.0.0.0:0 --tls-cert a --tls-key b": "no authentication",
	} {
		if code, says := serveSays(t, "", strings.Fields(args)...); code == 0 || !strings.Contains(says, want) {
			t.Errorf("%s: exit code %d, want something with %q: %s", args, code, want, says)
		}
	}
}

func TestEverySettingHasOneNameInThreeForms(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, s := range cli.Settings() {
		form := strings.ReplaceAll(s.Flag, "-", "_")
		if s.Key != form || s.Env != "WEIR_"+strings.ToUpper(form) || s.Usage == "" || len(s.Commands) == 0 || seen[s.Key] {
			t.Errorf("%+v", s)
		}
		seen[s.Key] = true
	}
	for _, key := range []string{"dsn", "data_dir", "listen", "tls_cert", "port", "direct", "log_level"} {
		if !seen[key] {
			t.Errorf("no setting %s", key)
		}
	}
}

func TestTokensAreMadeShownOnceListedAndRevoked(t *testing.T) {
	t.Parallel()
	s := newShell(t, 0)
	token := strings.TrimSpace(s.ok("", "token", "create", "shop", "--queue", "orders.*", "--queue", "mail",
		"--allow", "produce,read", "--expires", "90d"))
	if !strings.HasPrefix(token, "weir_") || len(token) != 48 {
		t.Errorf("printed %q", token)
	}
	other := s.ok("", "token", "create", "plain", "-o", "json")
	if !strings.Contains(other, `"name":"plain","token":"weir_`) || strings.Contains(other, token) {
		t.Errorf("printed %q", other)
	}
	list := s.ok("", "token", "list")
	for _, want := range []string{"shop", "orders.* mail", "produce read", "never"} {
		if !strings.Contains(list, want) {
			t.Errorf("no %q in\n%s", want, list)
		}
	}
	all := s.ok("", "token", "list", "-o", "json")
	if strings.Contains(all, token[5:]) || strings.Contains(all, "digest") {
		t.Errorf("the list shows what lets in: %s", all)
	}
	s.fails(4, "WR043", "", "token", "create", "shop")
	s.fails(2, "WR006", "", "token", "create", "bad", "--allow", "write")
	s.fails(2, "--expires", "", "token", "create", "bad", "--expires", "soon")
	s.ok("", "token", "revoke", "shop")
	s.fails(3, "WR044", "", "token", "revoke", "shop")
}
