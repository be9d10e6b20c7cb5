package httpload

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"strconv"
)

// Conn is one connection to the server.
type Conn struct {
	net.Conn

	in   *bufio.Reader
	out  []byte
	body []byte
}

// Dial connects to a server.
func Dial(ctx context.Context, address string) (*Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("connect to server: %w", err)
	}
	return &Conn{Conn: c, in: bufio.NewReaderSize(c, 16<<10)}, nil
}

// Post sends a body to a path and returns the body of the answer, valid until the next call.
func (c *Conn) Post(path string, body []byte) ([]byte, error) {
	c.out = fmt.Appendf(c.out[:0], "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n", path, len(body))
	c.out = append(c.out, body...)
	return c.ask(path)
}

// Get returns the body of the answer to a path, valid until the next call.
func (c *Conn) Get(path string) ([]byte, error) {
	c.out = fmt.Appendf(c.out[:0], "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path)
	return c.ask(path)
}

// ask sends the request that is written and reads the answer.
func (c *Conn) ask(path string) ([]byte, error) {
	if _, err := c.Write(c.out); err != nil {
		return nil, fmt.Errorf("send request: %w", err)
	}
	status, length, err := c.head()
	if err != nil {
		return nil, err
	}
	if status == http.StatusNoContent {
		return nil, nil
	}
	answer, err := c.read(length)
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	switch {
	case status >= http.StatusInternalServerError:
		return nil, fmt.Errorf("%w: %d to %s: %s", ErrServer, status, path, answer)
	case status == http.StatusConflict:
		return nil, fmt.Errorf("%w: %s: %s", ErrConflict, path, answer)
	case status/100 != 2:
		return nil, fmt.Errorf("%w: %d to %s: %s", ErrAnswer, status, path, answer)
	}
	return answer, nil
}

// read reads a body of some length, or of chunks when it has none.
func (c *Conn) read(length int) ([]byte, error) {
	if length < 0 {
		text, err := io.ReadAll(httputil.NewChunkedReader(c.in))
		if err != nil {
			return nil, err //nolint:wrapcheck // post does
		}
		_, err = c.in.Discard(len("\r\n")) // after the trailer, which is empty
		return text, err                   //nolint:wrapcheck // likewise
	}
	if cap(c.body) < length {
		c.body = make([]byte, 2*length)
	}
	_, err := io.ReadFull(c.in, c.body[:length])
	return c.body[:length], err //nolint:wrapcheck // likewise
}

// head reads the status and the headers of an answer; the length is -1 when the body comes in chunks.
func (c *Conn) head() (status, length int, err error) {
	length = -1
	for first := true; ; first = false {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, 0, fmt.Errorf("read answer: %w", err)
		}
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case first && len(line) >= len("HTTP/1.1 200"):
			status, err = strconv.Atoi(string(line[9:12]))
			if err != nil {
				return 0, 0, fmt.Errorf("%w: %q", ErrAnswer, line)
			}
		case len(line) == 0:
			return status, length, nil
		default:
			name, value, _ := bytes.Cut(line, []byte(":"))
			if bytes.EqualFold(name, []byte("Content-Length")) {
				if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
					return 0, 0, fmt.Errorf("%w: %q", ErrAnswer, line)
				}
			}
		}
	}
}

// Numbers returns the whole numbers that follow a name in a JSON text.
func Numbers(list []int64, text, name []byte) []int64 {
	for {
		i := bytes.Index(text, name)
		if i < 0 {
			return list
		}
		text = bytes.TrimLeft(text[i+len(name):], ": ")
		var n int64
		digits := 0
		for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
			n = 10*n + int64(text[digits]-'0')
			digits++
		}
		list = append(list, n)
		text = text[digits:]
	}
}
