package redisstore_test

import (
	"context"
	"log"

	"github.com/redis/go-redis/v9"

	"github.com/satchel-go/satchel"
	"github.com/satchel-go/satchel/session/redisstore"
)

func ExampleOpen() {
	db := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{"localhost:6379"}, MaxRetries: -1, ContextTimeoutEnabled: true})
	defer db.Close()
	store, err := redisstore.Open(context.Background(), db, redisstore.WithPrefix("shop:"))
	if err != nil {
		log.Fatal(err)
	}
	for _, loss := range store.Report().Loses {
		log.Print("redis can lose ", loss)
	}
	rt, err := satchel.New(satchel.WithSkillDirs("./skills"), satchel.WithStore(store))
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Close()
}
