package sqlite

import (
	"context"
	"database/sql"
	"log/slog"
	"time"

	"github.com/satchel-go/satchel/library/sqlstore"
)

// Dialect is for stores that tests make over drivers of their own.
var Dialect = dialect

// OpenOver is Open over databases that are open, and looks every millisecond.
func OpenOver(ctx context.Context, read, write *sql.DB, logger *slog.Logger) (*sqlstore.Store, error) {
	return open(ctx, "test", read, write, config{logger: logger, watch: time.Millisecond})
}
