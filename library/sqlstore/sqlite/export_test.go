package sqlite

import (
	"context"
	"database/sql"

	"github.com/satchel-go/satchel/library/sqlstore"
)

// Dialect is for stores that tests make over drivers of their own.
var Dialect = dialect

// OpenOver is Open over databases that are open.
func OpenOver(ctx context.Context, read, write *sql.DB, opts ...Option) (*sqlstore.Store, error) {
	return open(ctx, "test", read, write, configure(opts))
}
