package server

import (
	"errors"
	"fmt"
	"syscall"
)

var (
	// ErrAddress says that an address cannot be listened on.
	ErrAddress = errors.New("cannot listen")
	// ErrTLS says that a certificate cannot be used.
	ErrTLS = errors.New("no usable certificate")
	// ErrProxies says that what was given as proxies are none.
	ErrProxies = errors.New("no trusted proxies")
	// ErrDrain says that requests were cut off when the server stopped.
	ErrDrain = errors.New("some requests did not end")
)

// listenError says what to do about an address that cannot be had.
func listenError(address string, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%w: %s is taken by another program, perhaps another `weir up`; "+
			"stop that one or choose another address with --listen 127.0.0.1:PORT", ErrAddress, address)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%w: this user may not open %s; choose a port above 1023 with --listen", ErrAddress, address)
	}
	return fmt.Errorf("%w: %w", ErrAddress, err)
}
