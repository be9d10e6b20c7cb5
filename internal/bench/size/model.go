package size

import (
	_ "embed"
	"encoding/json"
	"fmt"
)

// Terms are those of a figure: how much of each it has, or what one of each costs.
type Terms [6]float64

// Message are the terms of what a message costs: its share of a call, the message itself, each KB of it; for sends and
// for receives and acks.
func Message(sends, receives, batch, kb float64) Terms {
	return Terms{sends / batch, sends, sends * kb, receives / batch, receives, receives * kb}
}

// Memory are the terms of the backends' memory: the server's own processes, connections of producers and of consumers,
// and the KB of a batch on each.
func Memory(producers, consumers, batchKB float64) Terms {
	return Terms{1, producers, consumers, (producers + consumers) * batchKB}
}

// Dot is what comes to as much as x has of each term.
func (t Terms) Dot(x Terms) float64 {
	sum := 0.0
	for i := range t {
		sum += t[i] * x[i]
	}
	return sum
}

const (
	segmentMB = 67.1 // a segment grows to that before anything is given back
	ringSpare = 3.0  // segments are given back whole, the oldest after the next is full
	turnS     = 1.5  // seconds that it grows on, until somebody maintains the queue and its space is given back
)

// DiskMB is what a queue takes at most that is sent so many messages a second, each of which takes so many bytes and
// stays so many seconds.
func DiskMB(rate, keep, stored float64) float64 {
	return segmentMB + rate*stored*(turnS+ringSpare*keep)/1e6
}

// Model is what Weir over SQL costs, fitted to a shootout.
type Model struct {
	Fitted    string `json:"fitted_to"` // when and on what it was measured
	Workloads int    `json:"workloads"`
	Payloads  [2]int `json:"payloads"` // the smallest and the largest of them, in bytes
	Batches   [2]int `json:"batches"`  // likewise

	CPU     Fit `json:"cpu"`     // seconds a million messages
	WAL     Fit `json:"wal"`     // bytes a message
	Stored  Fit `json:"stored"`  // bytes a message, on disk
	Backend Fit `json:"backend"` // MB, of all backends
	Peak    Off `json:"peak"`    // of DiskMB, in queues that gave space back while they were at work
}

// Fit is a figure's part of a model.
type Fit struct {
	Terms Terms `json:"terms"`
	Off   Off   `json:"off"`
}

// Off is how far a model is from what was measured, relative, either way.
type Off struct {
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
	N      int     `json:"n"` // measurements
}

//go:embed model.json
var project []byte

// Project returns the model of the project's last shootout.
func Project() (*Model, error) { return Read(project) }

// Read reads a model that a shootout has written.
func Read(text []byte) (*Model, error) {
	m := &Model{}
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("read model: %w", err)
	}
	return m, nil
}
