package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheUnitIsOneThatSystemdTakesAndConfines(t *testing.T) {
	t.Parallel()
	text := read(t, "deploy/systemd/weir.service")
	_, line, _ := strings.Cut(text, "\nExecStart=/usr/bin/weir ")
	line, _, _ = strings.Cut(line, "\n")
	wantArguments(t, "the unit", strings.Fields(line))
	path := filepath.Join(t.TempDir(), "weir.service")
	text = strings.ReplaceAll(text, "/usr/bin/weir", program(t))
	text = strings.ReplaceAll(text, "man:weir-serve(1)", "https://example.com") // its pages are installed with it
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", path).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("verify: %v: %s", err, out)
	}
	// From 0 to 100: how much of the system the service could harm.
	out, err = exec.CommandContext(t.Context(), "systemd-analyze", "security", "--offline=yes", "--threshold=15",
		path).CombinedOutput()
	if err != nil {
		t.Errorf("security: %v: %s", err, out)
	}
}
