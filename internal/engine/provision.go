package engine

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// The role and the database of `weir up`. CREATE ROLE takes no parameters, so the password goes through a setting of
// the transaction and is quoted by format.
const (
	sqlSetPassword = `select set_config('weir.password', $1, true)`
	sqlMakeRole    = `do $$
		begin
			if not exists (select from pg_roles where rolname = 'weir') then
				create role weir;
			end if;
			execute format('alter role weir login nosuperuser nocreatedb nocreaterole password %L',
				current_setting('weir.password'));
		end
		$$`
	sqlHasDatabase  = `select exists (select from pg_database where datname = 'weir')`
	sqlMakeDatabase = `create database weir owner weir`
)

// duplicateDatabase is the SQLSTATE of CREATE DATABASE when somebody was quicker.
const duplicateDatabase = "42P04"

// Provision makes the ordinary role weir, with this password, and the database weir that it owns, unless they are
// there. The DSN is a superuser's.
func Provision(ctx context.Context, superuserDSN, password string) error {
	cfg, err := poolConfig(superuserDSN, Options{AppName: "weir up"})
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return convert(err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // all work is done or has failed by then
	c := New(conn)
	err = c.InTx(ctx, func(tx *Client) error {
		if err := tx.exec(ctx, "make role", sqlSetPassword, password); err != nil {
			return err
		}
		return tx.exec(ctx, "make role", sqlMakeRole)
	})
	if err != nil {
		return err
	}
	there, err := one[bool](ctx, c, "look for database", sqlHasDatabase)
	if err != nil || there {
		return err
	}
	err = c.exec(ctx, "make database", sqlMakeDatabase)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == duplicateDatabase {
		return nil
	}
	return err
}

// ConnConfig reads a DSN the way Open does, for the packages that need a connection of their own.
func ConnConfig(dsn string) (*pgx.ConnConfig, error) {
	cfg, err := poolConfig(dsn, Options{AppName: "weir"})
	if err != nil {
		return nil, err
	}
	return cfg.ConnConfig, nil
}
