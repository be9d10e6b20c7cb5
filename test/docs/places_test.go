package docs_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/weirmq/weir/internal/embedded"
	"github.com/weirmq/weir/internal/pgtest"
)

// superuser runs a statement as the superuser of a server.
func (r *reader) superuser(s *pgtest.Server, statement string) {
	r.Helper()
	if _, err := (&pgtest.DB{Server: s, Name: "postgres"}).Super(r).Exec(r.Context(), statement); err != nil {
		r.Fatal(err)
	}
}

// site makes the server db.example of the operating guide, with its database app and its role app_user. Nothing of the
// engine is there; the reader is the superuser.
func (r *reader) site() *pgtest.DB {
	r.Helper()
	s := pgtest.StartServer(r, pgtest.ServerOptions{Fast: true})
	r.superuser(s, "create database app")
	r.superuser(s, "create role app_user login")
	r.env = []string{"PGHOST=" + s.SocketDir(), "PGPORT=" + strconv.Itoa(s.Port()), "PGUSER=" + embedded.Superuser}
	return &pgtest.DB{Server: s, Name: "app", DSN: s.SocketDSN(embedded.Superuser, "app")}
}

// secured makes a database with the role weir_server, and puts the certificate of queues.example where scripts run.
func (r *reader) secured() *pgtest.DB {
	r.Helper()
	s := pgtest.StartServer(r, pgtest.ServerOptions{Fast: true})
	db := s.NewDB(r, false)
	r.superuser(s, "create role weir_server login")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		r.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "queues.example"}, DNSNames: []string{"queues.example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		r.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		r.Fatal(err)
	}
	r.put("tls.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}))
	r.put("tls.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	r.put(".curlrc", []byte("silent\nshow-error\ncacert = tls.crt\n"))
	return db
}

// put writes a file where scripts run.
func (r *reader) put(name string, data []byte) {
	r.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), data, 0o600); err != nil {
		r.Fatal(err)
	}
}
