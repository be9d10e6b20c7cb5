package deploy_test

import (
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint/support"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"
)

const chartPath = "deploy/helm/weir"

// some are values that a chart needs at least, all those that switch everything on.
var (
	some = map[string]any{"dsn": map[string]any{"existingSecret": "db"}}
	all  = map[string]any{
		"dsn":              map[string]any{"value": `postgres://weir:"s3cret"@db/app`},
		"serviceMonitor":   map[string]any{"enabled": true, "tokenSecret": "metrics", "labels": map[string]any{"a": "b"}},
		"extraArgs":        []any{"--body-max=1048576"},
		"extraEnv":         []any{map[string]any{"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://collector:4318"}},
		"imagePullSecrets": []any{map[string]any{"name": "registry"}}, "serviceAccountName": "weir",
		"podAnnotations": map[string]any{"a": "b"}, "podLabels": map[string]any{"team": "queues"},
		"nodeSelector": map[string]any{"disk": "fast"}, "tolerations": []any{map[string]any{"operator": "Exists"}},
		"affinity": map[string]any{"podAntiAffinity": map[string]any{}}, "replicas": 3,
	}
	few = map[string]any{
		"dsn": map[string]any{"existingSecret": "db"}, "replicas": 1, "auth": false,
		"install": map[string]any{"enabled": false},
	}
)

func TestTheChartLints(t *testing.T) {
	t.Parallel()
	for name, values := range map[string]map[string]any{"some": some, "all": all, "few": few} {
		lint := action.NewLint()
		lint.Strict, lint.Namespace = true, "queues"
		result := lint.Run([]string{filepath.Join(root, chartPath)}, values)
		for _, message := range result.Messages {
			if message.Severity >= support.WarningSev {
				t.Errorf("values %s: %s", name, message)
			}
		}
		if len(result.Errors) > 0 || result.TotalChartsLinted != 1 {
			t.Errorf("values %s: %v, %d charts", name, result.Errors, result.TotalChartsLinted)
		}
	}
}

// render returns what the chart makes of values, by file.
func render(t *testing.T, values map[string]any) (map[string]string, error) {
	t.Helper()
	chart, err := loader.Load(filepath.Join(root, chartPath))
	if err != nil {
		t.Fatal(err)
	}
	release := chartutil.ReleaseOptions{Name: "prod", Namespace: "queues", IsInstall: true}
	merged, err := chartutil.ToRenderValues(chart, values, release, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Render(chart, merged)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for path, text := range files {
		if strings.TrimSpace(text) != "" {
			found[filepath.Base(path)] = text
		}
	}
	return found, nil
}

// object reads a rendered file strictly: a field that Kubernetes does not have fails.
func object[T any](t *testing.T, files map[string]string, name string) T {
	t.Helper()
	var found T
	if files[name] == "" {
		t.Fatalf("the chart makes no %s", name)
	}
	if err := yaml.UnmarshalStrict([]byte(files[name]), &found); err != nil {
		t.Errorf("%s: %v\n%s", name, err, files[name])
	}
	return found
}

func TestTheChartRunsServersThatAreSafeAndProbed(t *testing.T) {
	t.Parallel()
	for name, values := range map[string]map[string]any{"some": some, "all": all, "few": few} {
		files, err := render(t, values)
		if err != nil {
			t.Fatalf("values %s: %v", name, err)
		}
		d := object[apps.Deployment](t, files, "deployment.yaml")
		pod := d.Spec.Template
		c := pod.Spec.Containers[0]
		wantSafe(t, name, pod.Spec)
		wantArguments(t, "the chart with values "+name, c.Args)
		if c.LivenessProbe.HTTPGet.Path != "/healthz" || c.ReadinessProbe.HTTPGet.Path != "/readyz" ||
			c.StartupProbe.HTTPGet.Path != "/healthz" || c.Ports[0].ContainerPort != 9347 {
			t.Errorf("values %s: probes %+v %+v", name, c.LivenessProbe, c.ReadinessProbe)
		}
		for kind, selector := range map[string]map[string]string{
			"deployment": d.Spec.Selector.MatchLabels,
			"service":    object[core.Service](t, files, "service.yaml").Spec.Selector,
		} {
			if !labels.SelectorFromSet(selector).Matches(labels.Set(pod.Labels)) || len(selector) < 2 {
				t.Errorf("values %s: the %s does not select the pods: %v, %v", name, kind, selector, pod.Labels)
			}
		}
		if strings.Contains(files["deployment.yaml"]+files["install.yaml"], "s3cret") {
			t.Errorf("values %s: the DSN stands outside its secret", name)
		}
	}
}

// wantSafe fails the test unless a pod may do nothing but run and use the network, with the DSN out of a secret.
func wantSafe(t *testing.T, name string, pod core.PodSpec) {
	t.Helper()
	c := pod.Containers[0]
	own := c.SecurityContext
	if !*pod.SecurityContext.RunAsNonRoot || *pod.AutomountServiceAccountToken || *own.AllowPrivilegeEscalation ||
		!*own.ReadOnlyRootFilesystem || own.Capabilities.Drop[0] != "ALL" ||
		pod.SecurityContext.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault {
		t.Errorf("values %s: %+v %+v", name, pod.SecurityContext, c.SecurityContext)
	}
	if c.Env[0].Name != "WEIR_DSN" || c.Env[0].ValueFrom.SecretKeyRef.Key != "dsn" {
		t.Errorf("values %s: environment %+v", name, c.Env)
	}
}

func TestTheChartMakesWhatItsValuesSwitchOn(t *testing.T) {
	t.Parallel()
	full, err := render(t, all)
	if err != nil {
		t.Fatal(err)
	}
	secret := object[core.Secret](t, full, "secret.yaml")
	if secret.StringData["dsn"] != `postgres://weir:"s3cret"@db/app` {
		t.Errorf("secret %v", secret.StringData)
	}
	budget := object[policy.PodDisruptionBudget](t, full, "poddisruptionbudget.yaml")
	if budget.Spec.MaxUnavailable.IntValue() != 1 {
		t.Errorf("budget %+v", budget.Spec)
	}
	job := object[batch.Job](t, full, "install.yaml")
	wantSafe(t, "all", job.Spec.Template.Spec)
	wantArguments(t, "the chart's job", job.Spec.Template.Spec.Containers[0].Args)
	service := object[core.Service](t, full, "service.yaml")
	if labels.SelectorFromSet(service.Spec.Selector).Matches(labels.Set(job.Spec.Template.Labels)) {
		t.Error("the service sends requests to the job")
	}
	monitor := object[map[string]any](t, full, "servicemonitor.yaml")
	if monitor["kind"] != "ServiceMonitor" || !strings.Contains(full["servicemonitor.yaml"], "name: metrics") {
		t.Errorf("monitor %v", monitor)
	}
	little, err := render(t, few)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"secret.yaml", "poddisruptionbudget.yaml", "install.yaml", "servicemonitor.yaml"} {
		if little[name] != "" {
			t.Errorf("made without being asked for: %s", little[name])
		}
	}
	newer, err := render(t, map[string]any{"dsn": some["dsn"], "image": map[string]any{"tag": "9"}})
	if err != nil {
		t.Fatal(err)
	}
	older, err := render(t, some)
	if err != nil {
		t.Fatal(err)
	}
	if object[batch.Job](t, newer, "install.yaml").Name == object[batch.Job](t, older, "install.yaml").Name {
		t.Error("a newer image wants to change a job, which cannot be changed")
	}
}

func TestTheChartRefusesValuesThatCannotWork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values map[string]any
		says   string
	}{
		{map[string]any{}, "dsn.existingSecret"},
		{map[string]any{"dsn": some["dsn"], "replica": 3}, "replica"},
		{map[string]any{"dsn": some["dsn"], "replicas": "many"}, "replicas"},
		{map[string]any{"dsn": some["dsn"], "drainDelay": "soon"}, "drainDelay"},
		{map[string]any{"dsn": some["dsn"], "logFormat": "xml"}, "logFormat"},
	} {
		if _, err := render(t, c.values); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v", c.values, err)
		}
	}
}
