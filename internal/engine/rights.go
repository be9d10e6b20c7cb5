package engine

import (
	"context"
	"fmt"
)

// Right is what a role may do with a queue.
type Right string

// The rights, each granted and revoked by SQL functions of its own.
const (
	Produce Right = "produce"
	Consume Right = "consume"
	Admin   Right = "admin"
)

const (
	sqlGrantProduce  = `select weir.grant_produce($1, $2)`
	sqlGrantConsume  = `select weir.grant_consume($1, $2)`
	sqlGrantAdmin    = `select weir.grant_admin($1, $2)`
	sqlRevokeProduce = `select weir.revoke_produce($1, $2)`
	sqlRevokeConsume = `select weir.revoke_consume($1, $2)`
	sqlRevokeAdmin   = `select weir.revoke_admin($1, $2)`
)

// Grant gives a role a right on a queue.
func (c *Client) Grant(ctx context.Context, right Right, queue, role string) error {
	return c.changeRight(ctx, "grant right", right, queue, role,
		map[Right]string{Produce: sqlGrantProduce, Consume: sqlGrantConsume, Admin: sqlGrantAdmin})
}

// Revoke takes a right on a queue from a role.
func (c *Client) Revoke(ctx context.Context, right Right, queue, role string) error {
	return c.changeRight(ctx, "revoke right", right, queue, role,
		map[Right]string{Produce: sqlRevokeProduce, Consume: sqlRevokeConsume, Admin: sqlRevokeAdmin})
}

func (c *Client) changeRight(
	ctx context.Context, doing string, right Right, queue, role string, functions map[Right]string,
) error {
	sql, known := functions[right]
	if !known {
		return NewError(CodeInvalidArgument, fmt.Sprintf("%q is not a right on a queue", right),
			"The rights are produce, consume and admin.")
	}
	return c.exec(ctx, doing, sql, queue, role)
}
