package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/netutil"
)

// lookEvery is how often the files of a certificate are looked at, at most, when connections come.
const lookEvery = time.Second

// TLSFiles name the files of a server's certificate.
type TLSFiles struct {
	// Cert and Key are PEM files: the certificate with those that lead to its authority, and its private key.
	Cert, Key string
	// ClientCA is a PEM file of authorities: only clients with a certificate of one of them may connect.
	ClientCA string
}

// certificates gives every new connection the certificate that the files hold at that time. Connections that are there
// keep theirs. What cannot be read is logged and the certificate before stays in use.
type certificates struct {
	files TLSFiles
	log   *slog.Logger

	mu     sync.Mutex
	config *tls.Config
	stamp  string    // of the files that config was made of
	failed string    // of files that could not be used, to log it once
	looked time.Time // when the files were looked at
}

// newCertificates reads the files for the first time.
func newCertificates(files TLSFiles, log *slog.Logger) (*certificates, error) {
	c := &certificates{files: files, log: log}
	stamp, err := c.stampNow()
	if err != nil {
		return nil, err
	}
	if c.config, err = c.read(); err != nil {
		return nil, err
	}
	c.stamp, c.looked = stamp, time.Now()
	return c, nil
}

// serverConfig is what the listener is given.
func (c *certificates) serverConfig() *tls.Config {
	config := c.current().Clone()
	config.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current(), nil }
	return config
}

// current returns the configuration for a connection that comes now.
func (c *certificates) current() *tls.Config {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) >= lookEvery {
		c.reload()
	}
	return c.config
}

// reloadNow looks at the files at once.
func (c *certificates) reloadNow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failed = ""
	c.reload()
}

// reload reads the files if they are others than before. The caller holds the lock.
func (c *certificates) reload() {
	c.looked = time.Now()
	stamp, err := c.stampNow()
	if err == nil && (stamp == c.stamp || stamp == c.failed) {
		return
	}
	var config *tls.Config
	if err == nil {
		config, err = c.read()
	}
	if err != nil {
		if c.failed != stamp || stamp == "" {
			c.log.Error("cannot use the new certificate, the old one stays", "error", err)
		}
		c.failed = stamp
		return
	}
	c.config, c.stamp, c.failed = config, stamp, ""
	c.log.Info("certificate loaded", "file", c.files.Cert, "expires", config.Certificates[0].Leaf.NotAfter)
}

// stampNow tells files that were changed from those before, also where a link was turned to other files.
func (c *certificates) stampNow() (string, error) {
	var stamp strings.Builder
	for _, name := range []string{c.files.Cert, c.files.Key, c.files.ClientCA} {
		if name == "" {
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return "", fmt.Errorf("%w: %w", ErrTLS, err)
		}
		fmt.Fprintf(&stamp, "%d %d;", info.ModTime().UnixNano(), info.Size())
	}
	return stamp.String(), nil
}

// read makes a configuration of the files.
func (c *certificates) read() (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(c.files.Cert, c.files.Key)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTLS, err)
	}
	config := &tls.Config{
		MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"},
	}
	if c.files.ClientCA == "" {
		return config, nil
	}
	text, err := os.ReadFile(c.files.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTLS, err)
	}
	config.ClientCAs = x509.NewCertPool()
	if !config.ClientCAs.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%w: %s holds no certificate", ErrTLS, c.files.ClientCA)
	}
	config.ClientAuth = tls.RequireAndVerifyClientCert
	return config, nil
}

// transport returns what serves the listener: plain or with TLS, and with as many connections as there may be.
func (s *Server) transport(ctx context.Context, server *http.Server, at net.Listener) (func() error, error) {
	if s.opt.ConnsMax > 0 {
		at = netutil.LimitListener(at, s.opt.ConnsMax)
	}
	if s.opt.TLS == nil {
		if s.gate.Asks() && !loopbackAddress(at.Addr()) {
			s.opt.Log.Warn("tokens come in clear: give --tls-cert, or put a proxy in front that speaks TLS")
		}
		return func() error { return server.Serve(at) }, nil
	}
	certs, err := newCertificates(*s.opt.TLS, s.opt.Log)
	if err != nil {
		return nil, err
	}
	server.TLSConfig = certs.serverConfig()
	go certs.reloadOn(ctx, s.opt.Reload)
	return func() error { return server.ServeTLS(at, "", "") }, nil
}

// loopbackAddress reports whether only this machine reaches an address.
func loopbackAddress(at net.Addr) bool {
	host, _, err := net.SplitHostPort(at.String())
	return err == nil && loopbackName(host)
}

// reloadOn reads the certificate anew whenever asked.
func (c *certificates) reloadOn(ctx context.Context, asked <-chan os.Signal) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-asked:
			c.reloadNow()
		}
	}
}
