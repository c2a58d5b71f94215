package postgres

// Dialect is for stores that tests make over drivers of their own.
var Dialect = dialect
