package deploy_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
)

func TestTheComposeFileIsOneThatComposeTakes(t *testing.T) {
	t.Parallel()
	options, err := cli.NewProjectOptions([]string{filepath.Join(root, "deploy/compose.yaml")},
		cli.WithEnv([]string{"POSTGRES_PASSWORD=s3cret"}))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	server, install := project.Services["weir"], project.Services["install"]
	if server.Build == nil || filepath.Base(server.Build.Context) == "deploy" {
		t.Errorf("built from %+v", server.Build)
	}
	if *server.Environment["WEIR_DSN"] != "postgres://weir:s3cret@postgres/weir" {
		t.Errorf("environment %v", server.Environment)
	}
	if install.DependsOn["postgres"].Condition != "service_healthy" ||
		server.DependsOn["install"].Condition != "service_completed_successfully" {
		t.Errorf("order %v, %v", install.DependsOn, server.DependsOn)
	}
	if install.Restart != "on-failure" || server.Restart != "unless-stopped" {
		t.Errorf("restarts %q, %q", install.Restart, server.Restart)
	}
	for _, port := range server.Ports {
		if port.HostIP != "127.0.0.1" {
			t.Errorf("port %+v is open to other machines", port)
		}
	}
	wantArguments(t, "the compose file", install.Command)
	options.Environment = map[string]string{}
	if _, err := options.LoadProject(t.Context()); err == nil || !strings.Contains(err.Error(), "POSTGRES_PASSWORD") {
		t.Errorf("without a password: %v", err)
	}
}
