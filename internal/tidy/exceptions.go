package tidy

import "github.com/weirmq/weir/internal/engine"

// Exception lets one place break one rule.
type Exception struct {
	Rule   string
	Path   string
	About  string // a part of the finding's text, when only some findings in the file are meant
	Reason string
}

// exceptions returns every place where a rule does not hold.
func exceptions() []Exception {
	return []Exception{
		{
			Rule: "sql-raise", Path: "sql/internal/continue_moves.sql", About: "raise",
			Reason: "undoes a step of a move that somebody was in the way of; its own handler catches it",
		},
		{
			Rule: "sql-raise", Path: "sql/internal/moving_receive.sql", About: "raise",
			Reason: "takes a claim back that came too early; its own handler catches it",
		},
		{
			Rule: "sql-raise", Path: "sql/log/admit.sql", About: "raise",
			Reason: "it rolls back its own block, which catches it: no caller sees it",
		},
		{
			Rule: "sql-raise", Path: "sql/log/lock_limited.sql", About: "raise",
			Reason: "likewise: so it lets go of the group's lock again",
		},
		{
			Rule: "sql-raise", Path: "sql/log/settle_many.sql", About: "raise",
			Reason: "likewise: so a request of several parts is done whole or not at all",
		},
		{
			Rule: "sql-raise", Path: "sql/log/wait_for_key_writers.sql", About: "raise",
			Reason: "likewise: so it lets go of the table's lock again",
		},
		{
			Rule: "sql-raise", Path: "sql/log/settle_many.sql", About: "raise",
			Reason: "likewise: so it takes back a request of which a part was not done",
		},
		{
			Rule: "sql-raise", Path: "sql/faces/pgmq/internal/take_out.sql", About: "raise",
			Reason: "likewise: so it lets go of the readers' locks again",
		},
		{
			Rule: "sql-function-file", Path: "sql/log/accessors.sql", About: "lines",
			Reason: "the functions that must name one table of a ring, made by a few loops; the rest of the engine names none",
		},
		{
			Rule: "sql-raise", Path: "sql/internal/gate.sql", About: "insufficient_privilege",
			Reason: "PostgreSQL's own SQLSTATE for what PostgreSQL says of other objects: the role lacks a right",
		},
	}
}

// reserved returns the SQLSTATEs of errors.csv that no SQL raises, each with the reason why it is listed.
func reserved() map[string]string {
	return map[string]string{
		engine.CodeAlreadyFinished: "an ack that finished nothing, where that must undo its transaction",
		engine.CodeUnauthenticated: "the server's: who asks is a matter of HTTP",
		engine.CodeNotAllowed:      "the server's, likewise",
		engine.CodeTooManyRequests: "the server's, likewise",
	}
}
