package sqlite

import (
	"context"
	"database/sql"
)

// Dialect is for stores that tests make over drivers of their own.
var Dialect = dialect

// OpenOver is Open over databases that are open.
func OpenOver(ctx context.Context, read, write *sql.DB, opts ...Option) (Store, error) {
	c, err := configure(opts)
	if err != nil {
		return nil, err
	}
	return open(ctx, "test", read, write, c)
}
