package engine

import "context"

const sqlListFaces = `select n.nspname::text, obj_description(n.oid, 'pg_namespace')
from pg_namespace n where obj_description(n.oid, 'pg_namespace') like 'Weir''s face of %' order by 1`

// Face is the SQL of another system over the engine, as far as the database has it.
type Face struct {
	Name  string `json:"name"`  // and of its schema
	About string `json:"about"` // whose it is
}

// ListFaces returns the faces that are installed, by name.
func (c *Client) ListFaces(ctx context.Context) ([]Face, error) {
	return collect(ctx, c, "list faces", sqlListFaces, func(f *Face) []any { return []any{&f.Name, &f.About} })
}
