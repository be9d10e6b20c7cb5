// Package auth decides who a request is from and what he may do.
//
// A caller proves himself with a token in the header Authorization: one that `weir token create` made, whose digest is
// in the database, or a JWT that an identity provider signed. Either carries grants: verbs on patterns of queues. What
// was found out is remembered for RecheckAfter, so a token that is revoked lets in no longer than that; what goes on
// for longer, such as an event stream, asks again by Gate.Again. Nothing here logs a token.
package auth
