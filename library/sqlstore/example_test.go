package sqlstore_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	_ "modernc.org/sqlite"

	"github.com/satchel-go/satchel/library/sqlstore"
)

// The packages sqlite and postgres do this; another driver needs its own Dialect.
func ExampleNew() {
	ctx := context.Background()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		fmt.Println(err)
		return
	}
	db.SetMaxOpenConns(1) // another connection would have another memory
	store := sqlstore.New(db, db, sqlstore.Dialect{
		Name:  "sqlite",
		Taken: func(err error) bool { return strings.Contains(err.Error(), "UNIQUE") },
		Again: func(error) bool { return false }, // no other process writes
	})
	defer store.Close()
	if err := store.Migrate(ctx); err != nil {
		fmt.Println(err)
		return
	}
	skills, _, err := store.Heads(ctx, "acme", 0)
	fmt.Println(len(skills), err)
	// Output: 0 <nil>
}
