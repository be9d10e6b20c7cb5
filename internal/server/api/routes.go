package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
)

const (
	queuePath = "/v1/queues/{queue}"
	groupPath = queuePath + "/groups/{group}"

	topicPath   = "/v1/topics/{topic}"
	bindingPath = "/v1/topics/{pattern}/queues/{queue}"

	schedulePath = "/v1/schedules/{schedule}"
	logPath      = "/v1/logs/{log}"

	get, post, put, patch, remove = http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete
)

// routes is the list of all routes, each with what it needs. An operation has the name of the SQL function it calls.
func (a *api) routes() {
	direct(a, toProduce, post, queuePath+"/messages", "send_batch", "Send messages, all or none", a.sendBatch)
	route(a, toRead, get, queuePath+"/messages", "get_many", "Show messages and how each group stands to them", a.getMany)
	route(a, toRead, get, queuePath+"/messages/{id}", "get", "Show a message and how each group stands to it", a.get)

	direct(a, toConsume, post, groupPath+"/receive", "receive", "Claim messages, waiting for some if asked to", a.receive)
	route(a, toConsume, post, groupPath+"/pop", "pop", "Take messages and finish them at once", a.pop)
	route(a, toRead, get, groupPath+"/peek", "peek", "Look at messages without claiming them", a.peek)

	route(a, toConsume, get, groupPath+"/events", "events", "Follow a group, consuming its messages", a.events)

	direct(a, toConsume, post, groupPath+"/ack", "ack", "Finish claimed messages, all or none", a.ack)
	direct(a, toConsume, post, groupPath+"/nack", "nack", "Give claimed messages back for another attempt", a.nack)
	direct(a, toConsume, post, groupPath+"/release", "release", "Give claimed messages back unused", a.release)
	direct(a, toConsume, post, groupPath+"/reject", "reject", "Move claimed messages to the dead letters", a.reject)
	direct(a, toConsume, post, groupPath+"/extend", "extend", "Give claims a new deadline", a.extend)

	a.jobRoutes()
	a.lookRoutes()

	route(a, toReadSome, get, "/v1/queues", "list_queues", "List the queues", a.listQueues)
	route(a, toRead, get, queuePath, "show_queue", "Show a queue and its groups", a.showQueue)
	route(a, toAdmin, put, queuePath, "create_queue", "Create a queue, or configure it", a.createQueue)
	route(a, toAdmin, patch, queuePath, "configure_queue", "Change settings of a queue in use", a.configureQueue)
	route(a, toAdmin, remove, queuePath, "drop_queue", "Remove a queue with all its messages", a.dropQueue)
	route(a, toAdmin, post, queuePath+"/rename", "rename_queue", "Give a queue another name", a.renameQueue)
	route(a, toAdmin, post, queuePath+"/move", "move_queue", "Move a queue in use to another log", a.moveQueue)
	route(a, toAdmin, post, queuePath+"/pause", "pause", "Stop delivery to all groups", a.pauseQueue)
	route(a, toAdmin, post, queuePath+"/resume", "resume", "End the pause of a queue", a.resumeQueue)
	route(a, toAdmin, post, queuePath+"/purge", "purge", "Drop what the groups have not finished", a.purgeQueue)

	route(a, toRead, get, queuePath+"/groups", "list_groups", "List the groups of a queue", a.listGroups)
	route(a, toRead, get, groupPath, "show_group", "Show a group", a.showGroup)
	route(a, toAdmin, put, groupPath, "create_group", "Create a group, or configure it", a.createGroup)
	route(a, toAdmin, patch, groupPath, "configure_group", "Change settings of a group in use", a.configureGroup)
	route(a, toAdmin, remove, groupPath, "drop_group", "Remove a group", a.dropGroup)
	route(a, toAdmin, post, groupPath+"/seek", "seek", "Move a group to another place in the log", a.seek)
	route(a, toAdmin, get, groupPath+"/seek", "preview_seek", "Count what a seek would do, and do nothing", a.previewSeek)
	route(a, toAdmin, post, groupPath+"/pause", "pause_group", "Stop delivery to a group", a.pauseGroup)
	route(a, toAdmin, post, groupPath+"/resume", "resume_group", "End the pause of a group", a.resumeGroup)
	route(a, toAdmin, post, groupPath+"/purge", "purge_group", "Drop what a group has not finished", a.purgeGroup)

	route(a, toRead, get, groupPath+"/dead_letters", "dead_letters", "List dead letters", a.deadLetters)
	route(a, toAdmin, post, groupPath+"/redrive", "redrive", "Send dead letters back to their group", a.redrive)
	route(a, toAdmin, post, groupPath+"/discard", "discard", "Remove dead letters for good", a.discard)

	route(a, toReadAll, get, "/v1/logs", "list_logs", "List the logs that keep messages", a.listLogs)
	route(a, toAdminAll, put, logPath, "create_log", "Create a log", a.createLog)
	route(a, toAdminAll, patch, logPath, "configure_log", "Change settings of a log in use", a.configureLog)
	route(a, toAdminAll, remove, logPath, "drop_log", "Remove a log that no queue uses", a.dropLog)

	route(a, toReadSome, get, "/v1/topics", "list_bindings", "List the bindings of topics to queues", a.listBindings)
	route(a, toAdminAll, put, bindingPath, "bind", "Send the messages of some topics to a queue", a.bind)
	route(a, toAdminAll, remove, bindingPath, "unbind", "Remove a binding", a.unbind)
	route(a, toLookOrSend, get, topicPath+"/route", "route", "Show to which queues a topic leads", a.route)
	route(a, toProduceSome, post, topicPath+"/messages", "publish", "Send messages to all queues of a topic", a.publish)

	route(a, needsToken, get, "/v1/whoami", "whoami", "Show what the caller may do", a.whoami)
	route(a, toHandOver, post, "/v1/transaction", "transaction", "Settle claims and send, all or nothing", a.transaction)

	route(a, toReadSome, get, "/v1/stats", "stats", "Count what every group has before it", a.stats)
	route(a, toReadAll, get, "/v1/doctor", "doctor", "Look for what is wrong, and say what to do", a.doctor)
	route(a, needsToken, get, "/v1/version", "version", "Show the versions of the server and of the engine", a.version)
	route(a, needsNothing, get, "/healthz", "health", "Check that the server lives, whatever the database does", a.health)
	route(a, needsNothing, get, "/readyz", "ready", "Check that requests can be served: 503 says why not", a.ready)
}

// jobRoutes are those of jobs, workflows and schedules.
func (a *api) jobRoutes() {
	route(a, toProduce, post, queuePath+"/jobs", "enqueue", "Enqueue jobs, all or none", a.enqueue)
	route(a, toRead, get, queuePath+"/jobs/{id}", "job", "Show how a tracked job stands", a.job)
	route(a, toAdmin, post, queuePath+"/jobs/{id}/cancel", "cancel", "Cancel a job", a.cancel)
	route(a, toConsume, post, groupPath+"/finish", "finish", "Finish claimed jobs with their results", a.finish)
	route(a, toConsume, post, groupPath+"/progress", "progress", "Tell how far a job is", a.progress)
	route(a, toConsume, post, groupPath+"/snooze", "snooze", "Give claimed messages back for later", a.snooze)
	route(a, toConsume, post, groupPath+"/cancelled", "cancelled", "Ask which claimed jobs were cancelled", a.cancelled)

	route(a, toProduce, post, queuePath+"/workflows", "start_workflow",
		"Start jobs of which some come after others", a.startWorkflow)
	route(a, toProduce, post, queuePath+"/chains", "start_chain", "Start jobs that come one after the other", a.startChain)
	route(a, toProduce, post, queuePath+"/batches", "start_batch", "Start jobs, and one for when all have ended",
		a.startBatch)
	route(a, toRead, get, queuePath+"/workflows/{workflow}", "workflow", "Show the steps of a workflow", a.workflow)

	route(a, toReadSome, get, "/v1/schedules", "list_schedules", "List the schedules", a.listSchedules)
	route(a, toAdminSome, put, schedulePath, "schedule", "Enqueue a job again and again", a.schedule)
	route(a, toAdminSome, remove, schedulePath, "unschedule", "Drop a schedule", a.unschedule)
	route(a, toAdminSome, post, schedulePath+"/pause", "pause_schedule", "Stop a schedule", a.pauseSchedule)
	route(a, toAdminSome, post, schedulePath+"/resume", "resume_schedule", "End the pause of a schedule", a.resumeSchedule)
	route(a, needsToken, get, "/v1/next_times", "next_times", "Show when a cron expression is due", a.nextTimes)
}

// route registers one operation and turns the errors of its handler into problems.
func route[I, O any](
	a *api, needs need, method, path, name, summary string, handle func(context.Context, *I) (*O, error),
) {
	a.mux.needs[method+" "+path] = needs
	op := huma.Operation{
		OperationID: name, Method: method, Path: path, Summary: summary, Security: needs.security(),
		SkipValidateBody: true, // the shape is checked by decodeStrict, the values by the engine
		BodyReadTimeout:  -1,   // withBody has read it
		MaxBodyBytes:     -1,
	}
	op.DefaultStatus = statusOf(name)
	looks := method == get && name != "events"
	huma.Register(a.huma, op, func(ctx context.Context, in *I) (*O, error) {
		if looks {
			var end context.CancelFunc
			ctx, end = context.WithTimeout(ctx, a.opt.LookMax)
			defer end()
		}
		leave, err := a.turn(ctx, looks, name, in)
		if err == nil {
			defer leave()
			var out *O
			if out, err = handle(ctx, in); err == nil {
				return out, nil
			}
		}
		p := a.problem(ctx, name, err)
		if header := p.header(); header != nil {
			return nil, huma.ErrorWithHeaders(p, header)
		}
		return nil, p
	})
}

// turn waits for the turn of an operation on a queue, unless it shares calls with others: what it then has to do alone
// waits for its turn itself. Looks at the whole database have turns of their own, as those of a queue without a name.
func (a *api) turn(ctx context.Context, looks bool, operation string, in any) (leave func(), err error) {
	on, is := in.(interface{ queue() string })
	switch operation {
	case "send_batch", "receive", "events", "pop", "ack", "nack", "release", "reject", "extend", "snooze", "finish":
		is = false
	case "health", "ready", "version", "whoami": // who asks whether the server is well waits for nobody
		looks = false
	}
	switch {
	case is:
		return a.dispatch.Alone(ctx, on.queue())
	case looks:
		return a.dispatch.Alone(ctx, "")
	}
	return func() {}, nil
}

// statusOf is the status of an operation that was carried out; 0 is for huma to choose.
func statusOf(operation string) int {
	switch operation {
	case "send_batch", "publish", "enqueue", "start_workflow", "start_chain", "start_batch":
		return http.StatusCreated
	case "receive", "ack", "nack", "release", "reject", "extend":
		return http.StatusOK
	}
	return 0
}

// problem describes an error of an operation, and logs it when it is the server's own fault.
func (a *api) problem(ctx context.Context, operation string, err error) *Problem {
	p := problemOf(err)
	if p.Status == http.StatusInternalServerError {
		a.opt.Log.ErrorContext(ctx, "request failed", "operation", operation, "error", err)
	}
	return p
}

// QueuePath is the path of a queue. It is exported because huma fills in embedded structs only then.
type QueuePath struct {
	Queue string `path:"queue" example:"orders"`
}

// GroupPath is the path of a group.
type GroupPath struct {
	Queue string `path:"queue" example:"orders"`
	Group string `path:"group" example:"default"`
}

func (p *QueuePath) queue() string { return p.Queue }
func (p *GroupPath) queue() string { return p.Queue }

// output carries a body.
type output[B any] struct {
	Body B
}

// reply wraps a body that came without an error.
func reply[B any](body B, err error) (*output[B], error) {
	if err != nil {
		return nil, err
	}
	return &output[B]{Body: body}, nil
}
