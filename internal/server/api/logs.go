package api

import (
	"context"
	"net/http"

	"github.com/weirmq/weir/internal/engine"
)

// LogPath is the path of a log, exported as QueuePath is.
type LogPath struct {
	Log string `path:"log" example:"main"`
}

type logsOutput struct {
	Logs []engine.Log `json:"logs"`
}

// listLogs lists the logs.
func (a *api) listLogs(ctx context.Context, _ *struct{}) (*output[logsOutput], error) {
	list, err := a.engine.ListLogs(ctx)
	return reply(logsOutput{Logs: list}, err)
}

type createLogInput struct {
	LogPath
	Body *createLogBody
}

type createLogBody struct {
	engine.LogOptions
}

type logOutput struct {
	Log string `json:"log"`
}

// createLog creates a log. One that is there with these settings is left as it is.
func (a *api) createLog(ctx context.Context, in *createLogInput) (*created[logOutput], error) {
	var opt engine.LogOptions
	if in.Body != nil {
		opt = in.Body.LogOptions
	}
	made, err := a.engine.CreateLog(ctx, in.Log, opt)
	if err != nil {
		return nil, err
	}
	status := http.StatusOK
	if made {
		status = http.StatusCreated
	}
	return &created[logOutput]{Status: status, Body: logOutput{Log: in.Log}}, nil
}

type configureLogInput struct {
	LogPath
	Body configureLogBody
}

type configureLogBody struct {
	engine.LogSettings
}

// configureLog changes the settings that the body names.
func (a *api) configureLog(ctx context.Context, in *configureLogInput) (*output[logOutput], error) {
	return reply(logOutput{Log: in.Log}, a.engine.ConfigureLog(ctx, in.Log, in.Body.LogSettings))
}

// dropLog removes a log that no queue uses.
func (a *api) dropLog(ctx context.Context, in *LogPath) (*struct{}, error) {
	return nil, a.engine.DropLog(ctx, in.Log)
}
