//go:build !race

package eino_test

const detectsRaces = false
