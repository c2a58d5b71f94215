package pgstore_test

import (
	"context"
	"log"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/session/pgstore"
)

func ExampleOpen() {
	ctx := context.Background()
	db, err := pgxpool.New(ctx, "postgres://satchel@localhost/satchel")
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()
	store, err := pgstore.Open(ctx, db)
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	rt, err := satchel.New(satchel.WithSkillDirs("./skills"), satchel.WithStore(store))
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close()
}
