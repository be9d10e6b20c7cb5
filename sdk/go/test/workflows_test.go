package test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	weir "github.com/weirmq/weir/sdk/go"
)

// work returns a client with a worker that adds, and fails jobs of the kind wait for good; it tells what each job was
// handed in its header "job".
func work(t *testing.T) (*weir.Client, <-chan map[string]any) {
	t.Helper()
	_, c := newClient(t)
	marks := make(chan map[string]any, 100)
	handlers := weir.NewHandlers()
	weir.Handle(handlers, func(_ context.Context, job *weir.Job[add]) error {
		mark, _ := job.Headers["job"].(map[string]any)
		marks <- mark
		return job.SetResult(job.Args.A + job.Args.B)
	})
	weir.Handle(handlers, func(context.Context, *weir.Job[wait]) error { return weir.Reject(errors.New("no")) })
	start(t, weir.NewJobWorker(c, "q", handlers))
	return c, marks
}

// states lists how each step stands.
func states(steps []weir.WorkflowStep) (list []string) {
	for _, s := range steps {
		list = append(list, fmt.Sprintf("%s %s %v %s", s.Name, s.State, s.After, s.Result))
	}
	return list
}

func TestAStepIsToldTheResultsOfThoseBeforeIt(t *testing.T) {
	t.Parallel()
	c, marks := work(t)
	steps := []weir.Step{
		{Name: "one", Args: add{1, 0}},
		{Name: "two", Args: add{1, 1}},
		{Name: "sum", Args: add{1, 2}, After: []string{"one", "two"}},
	}
	id := get(c.StartWorkflow(t.Context(), "q", steps, "monthly"))(t)
	if again := get(c.StartWorkflow(t.Context(), "q", steps, "monthly"))(t); again != id {
		t.Errorf("started again as %d", again)
	}
	<-marks
	<-marks
	if got := fmt.Sprint((<-marks)["results"]); got != "map[one:1 two:2]" {
		t.Errorf("the last step was told %s", got)
	}
	idle(t, c, "default")
	got := states(get(c.Workflow(t.Context(), "q", id))(t))
	if want := []string{"one done [] 1", "two done [] 2", "sum done [one two] 3"}; !slices.Equal(got, want) {
		t.Errorf("the workflow is %q, want %q", got, want)
	}
	if got := get(c.Workflow(t.Context(), "q", id+1000))(t); len(got) != 0 {
		t.Errorf("one that is not there: %v", got)
	}
}

func TestAChainsJobsComeOneAfterTheOther(t *testing.T) {
	t.Parallel()
	c, marks := work(t)
	id := get(c.StartChain(t.Context(), "q", []weir.Step{{Args: add{2, 2}}, {Args: add{3, 3}}}, ""))(t)
	<-marks
	if got := fmt.Sprint((<-marks)["results"]); got != "map[1:4]" {
		t.Errorf("the second job was told %s", got)
	}
	idle(t, c, "default")
	got := states(get(c.Workflow(t.Context(), "q", id))(t))
	if want := []string{"1 done [] 4", "2 done [1] 6"}; !slices.Equal(got, want) {
		t.Errorf("the chain is %q", got)
	}
}

func TestABatchsCallbackComesWhenAllHaveEnded(t *testing.T) {
	t.Parallel()
	c, marks := work(t)
	jobs := []weir.Step{{Args: wait{}}, {Args: wait{}}}
	get(c.StartBatch(t.Context(), "q", jobs, weir.Step{Args: add{}}, ""))(t)
	if got := fmt.Sprint((<-marks)["ended"]); got != "map[cancelled:0 done:0 failed:2]" {
		t.Errorf("the callback was told %s", got)
	}
	if _, err := c.StartBatch(t.Context(), "q", jobs, weir.Step{}, ""); !errors.Is(err, weir.ErrPayload) {
		t.Errorf("a callback without arguments: %v", err)
	}
	if _, err := c.StartChain(t.Context(), "q", nil, ""); err == nil {
		t.Error("a chain of nothing was started")
	}
}
