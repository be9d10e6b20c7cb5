package server_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weirmq/weir/internal/engine"
	"github.com/weirmq/weir/internal/pgtest"
	"github.com/weirmq/weir/internal/server"
	"github.com/weirmq/weir/internal/server/auth"
)

// authority signs certificates of a test.
type authority struct {
	*testing.T

	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{T: t, dir: t.TempDir()}
	a.cert, a.key = a.make("authority", nil)
	return a
}

// make makes a certificate for 127.0.0.1 and writes NAME.pem and NAME.key.
func (a *authority) make(name string, signer *authority) (*x509.Certificate, *ecdsa.PrivateKey) {
	a.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		a.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: signer == nil,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, with := form, key
	if signer != nil {
		parent, with = signer.cert, signer.key
	}
	der, err := x509.CreateCertificate(rand.Reader, form, parent, key.Public(), with)
	if err != nil {
		a.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.Fatal(err)
	}
	a.write(name+".pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	a.write(name+".key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		a.Fatal(err)
	}
	return cert, key
}

// write replaces a file in one step, as those who renew certificates do.
func (a *authority) write(name string, text []byte) {
	a.Helper()
	if err := os.WriteFile(filepath.Join(a.dir, "new"), text, 0o600); err != nil {
		a.Fatal(err)
	}
	if err := os.Rename(filepath.Join(a.dir, "new"), a.path(name)); err != nil {
		a.Fatal(err)
	}
}

func (a *authority) path(name string) string { return filepath.Join(a.dir, name) }

// client trusts the authority and shows a certificate of its own if it is given the name of one. It keeps its
// connection.
func (a *authority) client(own string) *http.Client {
	a.Helper()
	config := &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}
	config.RootCAs.AddCert(a.cert)
	if own != "" {
		pair, err := tls.LoadX509KeyPair(a.path(own+".pem"), a.path(own+".key"))
		if err != nil {
			a.Fatal(err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: true}
	a.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// serial asks for /healthz and returns the name of the server's certificate.
func (a *authority) serial(client *http.Client, url string) (string, error) {
	a.Helper()
	r, err := http.NewRequestWithContext(a.Context(), http.MethodGet, url+"/healthz", http.NoBody)
	if err != nil {
		a.Fatal(err)
	}
	response, err := client.Do(r)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
		a.Errorf("%s, %v", response.Status, err)
	}
	return response.TLS.PeerCertificates[0].Subject.CommonName, nil
}

func TestANewCertificateIsUsedForNewConnectionsAndOldOnesStayOpen(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.make("first", a)
	a.make("second", a)
	install := func(name string) {
		for _, ending := range []string{".key", ".pem"} {
			text, err := os.ReadFile(a.path(name + ending))
			if err != nil {
				t.Fatal(err)
			}
			a.write("server"+ending, text)
		}
	}
	install("first")
	reload := make(chan os.Signal)
	log := &logged{}
	url, _ := serveWith(t, pgtest.New(t, pgtest.Options{}), server.Options{
		TLS: &server.TLSFiles{Cert: a.path("server.pem"), Key: a.path("server.key")}, Reload: reload,
		Log: slog.New(slog.NewTextHandler(log, nil)),
	})
	old := a.client("")
	want := func(client *http.Client, name string) {
		t.Helper()
		if got, err := a.serial(client, url); got != name || err != nil {
			t.Errorf("the server shows %q, %v, want %q", got, err, name)
		}
	}
	want(old, "first")
	install("second")
	reload <- os.Interrupt // any signal
	reload <- os.Interrupt // is taken when the one before has been worked on
	want(a.client(""), "second")
	want(old, "first") // its connection was not dropped
	a.write("server.pem", []byte("nonsense"))
	reload <- os.Interrupt
	reload <- os.Interrupt
	want(a.client(""), "second")
	if log.count("cannot use the new certificate") == 0 {
		t.Error("the log does not say that the new certificate is of no use")
	}
	install("first")
	pgtest.WaitFor(t, "the files to be looked at again without being told", func() bool {
		name, err := a.serial(a.client(""), url)
		return err == nil && name == "first"
	})
}

func TestOnlyClientsWithACertificateOfTheAuthorityConnect(t *testing.T) {
	t.Parallel()
	a, stranger := newAuthority(t), newAuthority(t)
	a.make("server", a)
	a.make("client", a)
	stranger.make("client", stranger)
	url, _ := serveWith(t, pgtest.New(t, pgtest.Options{}), server.Options{TLS: &server.TLSFiles{
		Cert: a.path("server.pem"), Key: a.path("server.key"), ClientCA: a.path("authority.pem"),
	}})
	if _, err := a.serial(a.client("client"), url); err != nil {
		t.Errorf("with a certificate: %v", err)
	}
	if _, err := a.serial(a.client(""), url); err == nil {
		t.Error("without a certificate: let in")
	}
	own := stranger.client("client")
	transport, ok := own.Transport.(*http.Transport)
	if !ok {
		t.Fatal("no transport")
	}
	transport.TLSClientConfig.RootCAs.AddCert(a.cert)
	if _, err := a.serial(own, url); err == nil {
		t.Error("with a certificate of another authority: let in")
	}
}

func TestCertificatesThatCannotBeUsedStopTheServerAtTheStart(t *testing.T) {
	t.Parallel()
	a := newAuthority(t)
	a.make("one", a)
	a.make("two", a)
	a.write("empty.pem", nil)
	for _, files := range []server.TLSFiles{
		{Cert: a.path("missing.pem"), Key: a.path("one.key")},
		{Cert: a.path("one.pem"), Key: a.path("two.key")},
		{Cert: a.path("one.pem"), Key: a.path("one.key"), ClientCA: a.path("empty.pem")},
	} {
		options := server.Options{TLS: &files}
		listener, err := options.Listen(t.Context(), "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		client, err := engine.Open(t.Context(), pgtest.New(t, pgtest.Options{}).DSN, engine.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := server.New(client, options).Serve(t.Context(), listener); err == nil {
			t.Errorf("%+v: no error", files)
		}
		client.Close()
		_ = listener.Close()
	}
}

func TestAnAddressThatOthersReachIsOpenedOnlyWhereCallersAreAskedOrTheOperatorInsists(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		options server.Options
		opens   bool
	}{
		"nobody is asked":        {server.Options{}, false},
		"read only":              {server.Options{Access: auth.Options{ReadOnly: true}}, false},
		"a certificate":          {server.Options{TLS: &server.TLSFiles{Cert: "c", Key: "k"}}, false},
		"tokens":                 {server.Options{AskTokens: true}, true},
		"JWTs":                   {server.Options{Access: auth.Options{JWT: &auth.JWT{}}}, true},
		"certificates of theirs": {server.Options{TLS: &server.TLSFiles{Cert: "c", Key: "k", ClientCA: "a"}}, true},
		"insisted":               {server.Options{Insecure: true}, true},
	} {
		listener, err := c.options.Listen(t.Context(), "0.0.0.0:0")
		if (err == nil) != c.opens {
			t.Errorf("%s: %v", what, err)
		}
		if err == nil {
			_ = listener.Close()
		}
	}
}

func TestConnectionsBeyondTheLimitWaitUntilOneCloses(t *testing.T) {
	t.Parallel()
	url, _ := serveWith(t, pgtest.New(t, pgtest.Options{}), server.Options{ConnsMax: 1})
	var dialer net.Dialer
	connect := func() net.Conn {
		conn, err := dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	ask := func(conn net.Conn) error {
		fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
	first, second := connect(), connect()
	defer second.Close()
	if err := ask(first); err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() { answered <- ask(second) }()
	for range 100 {
		if err := ask(first); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-answered:
		t.Errorf("the second was served beside the first: %v", err)
	default:
	}
	first.Close()
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestNeitherPayloadsNorTokensComeIntoTheLog(t *testing.T) {
	t.Parallel()
	const marker = "MARK-8f1c"
	db, log := pgtest.New(t, pgtest.Options{}), &logged{}
	db.Exec(t, "select weir.create_queue('q', message_bytes_max => 2000), weir.bind('news', 'q')")
	token, digest := auth.NewToken()
	db.Exec(t, "select weir.create_token('t', $1, verbs => '{produce,consume,admin,read}')", digest)
	url, _ := serveWith(t, db, server.Options{
		AskTokens: true, Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	bodies := marked(marker)
	ask := func(method, path, body, bearer string) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+bearer)
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		if strings.HasSuffix(path, "/events") {
			_, _ = io.ReadFull(response.Body, make([]byte, 1)) // it has no end
			return
		}
		_, _ = io.Copy(io.Discard, response.Body)
	}
	var doc struct {
		Paths map[string]map[string]any
	}
	fetch(t, url+"/openapi.json", &doc)
	names := strings.NewReplacer("{queue}", "q", "{group}", "default", "{id}", "1", "{topic}", "news", "{pattern}", "news")
	for path, methods := range doc.Paths {
		for method := range methods {
			if method == "delete" {
				continue // below, when all else was asked
			}
			for _, body := range bodies {
				ask(strings.ToUpper(method), names.Replace(path), body, token)
			}
			ask(strings.ToUpper(method), names.Replace(path), bodies[0], auth.Prefix+marker)
			ask(strings.ToUpper(method), names.Replace(path)+"?token="+marker, bodies[0], token)
		}
	}
	for path, methods := range doc.Paths {
		if _, ok := methods["delete"]; ok {
			ask("DELETE", names.Replace(path), bodies[0], token)
		}
	}
	if log.count("level=") == 0 {
		t.Error("nothing was logged, so nothing is proved")
	}
	for _, secret := range []string{marker, token, strings.TrimPrefix(token, auth.Prefix)} {
		if n := log.count(secret); n > 0 {
			t.Errorf("%q is logged %d times:\n%s", secret, n, log.having(secret))
		}
	}
}

// marked are bodies, right and wrong ones, with a marker wherever users put what is theirs.
func marked(marker string) []string {
	payload := `{"s":"` + marker + `"}`
	claim := `{"claim_id":1,"reason":"` + marker + `"}`
	return []string{
		`{"messages":[{"payload":` + payload + `,"key":"` + marker + `","headers":{"h":"` + marker + `"}}]}`,
		`{"messages":[{"payload":"` + strings.Repeat(marker, 1000) + `"}]}`, // too large
		`{"messages":[{"payload":"` + marker + `\u0000"}]}`,                 // not for jsonb
		`{"messages":[{"payload":` + payload + `,"dedup_key":"` + marker + `"}]}`,
		`{"messages":[{"payload":` + payload, payload, marker,
		`{"nacks":[` + claim + `]}`, `{"rejects":[` + claim + `]}`, `{"acks":[` + claim + `]}`,
		`{"sends":[{"queue":"q","messages":[{"payload":` + payload + `}]}]}`, `{"position":"` + marker + `"}`,
		`{"new_name":"` + marker + `"}`, "",
	}
}

// having returns what was logged with a text in it.
func (l *logged) having(what string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found bytes.Buffer
	for line := range strings.Lines(l.text.String()) {
		if strings.Contains(line, what) {
			found.WriteString(line)
		}
	}
	return found.String()
}

// fetch reads a JSON document.
func fetch(t *testing.T, url string, into any) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}
