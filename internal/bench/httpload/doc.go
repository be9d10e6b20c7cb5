// Package httpload is a load on the HTTP API: producers and consumers, each with a connection of its own, that send,
// receive and acknowledge for some time and then account for every message.
//
// It shares the machine with what it measures, so its client is as small as can be: it writes ready-made requests to a
// connection and looks for the few numbers it needs in the answers.
package httpload
