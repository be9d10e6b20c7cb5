// Package size estimates what a PostgreSQL needs for so many messages, by a model that a shootout fits to what it
// measured. The program brings the model of the project's last shootout.
package size
