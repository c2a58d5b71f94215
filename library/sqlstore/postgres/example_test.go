package postgres_test

import (
	"context"
	"log"

	"github.com/satchel-go/satchel/library"
	"github.com/satchel-go/satchel/library/sqlstore/postgres"
)

func ExampleOpen() {
	store, err := postgres.Open(context.Background(), "postgres://satchel@localhost/satchel", postgres.WithMigrate())
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	if _, err := library.New(store); err != nil {
		log.Fatal(err)
	}
}
