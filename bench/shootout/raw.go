package shootout

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// header is the first line of a raw file: what all its runs have in common.
type header struct {
	Machine Machine `json:"machine"`
	Seconds float64 `json:"seconds"`
	Small   bool    `json:"small,omitempty"`
}

// differs says in what the runs of another header are of another kind; "" when all can go on in one file.
func (h *header) differs(other *header) string {
	switch {
	case h.Seconds != other.Seconds:
		return fmt.Sprintf("has runs of %g seconds and not %g", h.Seconds, other.Seconds)
	case h.Small && !other.Small:
		return "has small runs, which --small makes"
	case !h.Small && other.Small:
		return "has runs that are not small"
	}
	return h.Machine.differs(&other.Machine)
}

// differs says in what another machine or server is another one; "" when figures of both can stand side by side.
func (m *Machine) differs(other *Machine) string {
	for _, one := range []struct{ what, have, want string }{
		{"PostgreSQL", m.Server, other.Server},
		{"processor", m.CPU, other.CPU},
		{"number of CPUs", strconv.Itoa(m.CPUs), strconv.Itoa(other.CPUs)},
	} {
		if one.have != one.want {
			return fmt.Sprintf("was measured with another %s: %s and not %s", one.what, one.have, one.want)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.Settings)) {
		if have, want := m.Settings[name], other.Settings[name]; have != want {
			return fmt.Sprintf("was measured with %s=%s and not %s", name, have, want)
		}
	}
	return ""
}

// rawFile holds the results of a shootout, a line each, so that one that was cut short can be continued.
type rawFile struct {
	file    *os.File
	header  header
	results []Result
	whole   int64 // bytes of the lines that are whole
}

func openRaw(path string, h header) (*rawFile, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("make directory for results: %w", err)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	raw, err := readRaw(file)
	switch {
	case errors.Is(err, io.EOF):
		raw = &rawFile{header: h}
		err = json.NewEncoder(file).Encode(h)
	case err == nil && raw.header.differs(&h) == "":
		err = file.Truncate(raw.whole) // a line that was being written when its shootout was killed
		if err == nil {
			_, err = file.WriteString("\n")
		}
	case err == nil:
		err = optionf("%s %s; go on as it was begun, or name another file with --raw", path, raw.header.differs(&h))
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	raw.file = file
	return raw, nil
}

// Read returns the results in a raw file.
func Read(path string) (*Shootout, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open results, which weir-bench shootout writes: %w", err)
	}
	defer file.Close()
	raw, err := readRaw(file)
	if errors.Is(err, io.EOF) {
		return nil, optionf("%s is empty; weir-bench shootout --raw %s begins one", path, path)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s, which is not as weir-bench shootout writes it: %w", path, err)
	}
	return raw.shootout(), nil
}

// readRaw reads a raw file, up to a last line that is not whole; the error is io.EOF when it is empty.
func readRaw(file io.Reader) (*rawFile, error) {
	lines := json.NewDecoder(bufio.NewReader(file))
	raw := &rawFile{}
	if err := lines.Decode(&raw.header); err != nil {
		return nil, err //nolint:wrapcheck // callers do
	}
	for {
		raw.whole = lines.InputOffset()
		var r Result
		err := lines.Decode(&r)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return raw, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read result: %w", err)
		}
		raw.results = append(raw.results, r)
	}
}

// Join adds the results of further shootouts of the same machine and server. Their repetitions are further ones.
func (s *Shootout) Join(path string, more *Shootout) error {
	if why := more.Machine.differs(&s.Machine); why != "" {
		return optionf("%s %s; one report is of one machine and one server", path, why)
	}
	last := 0
	for _, r := range s.Results {
		last = max(last, r.Repetition)
	}
	for _, r := range more.Results {
		r.Repetition += last
		s.Results = append(s.Results, r)
	}
	if more.Seconds != s.Seconds {
		s.Seconds = 0 // no one length
	}
	return nil
}

// interrupted words the end of a shootout that was told to end.
func (f *rawFile) interrupted(at string, err error) error {
	return &InterruptedError{At: at, Raw: f.file.Name(), Kept: len(f.results), Err: err}
}

func (f *rawFile) write(results ...Result) error {
	f.results = append(f.results, results...)
	for _, r := range results {
		if err := json.NewEncoder(f.file).Encode(r); err != nil {
			return fmt.Errorf("write result: %w", err)
		}
	}
	return nil
}

// has reports whether a job was done. One that failed is done again.
func (f *rawFile) has(j job) bool {
	return slices.ContainsFunc(f.results, func(r Result) bool {
		return r.System == j.sys.Name && r.Setting == j.setting && r.Workload == j.w.Name &&
			r.Repetition == j.repetition && r.Error == ""
	})
}

func (f *rawFile) shootout() *Shootout {
	return &Shootout{Machine: f.header.Machine, Seconds: f.header.Seconds, Results: f.results}
}
