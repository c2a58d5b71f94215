package redisstore

// Bounds for the tests outside the package.
const (
	MaxValue = maxValue
	MaxText  = maxText
)
