// Package docs_test runs what the pages of docs/ tell their readers to type, and compares what comes out.
//
// A page has a database of its own and its blocks run in their order:
//
//	```sql            statements, run one by one as psql runs them, with \gset and :variables
//	```sql session=2  the same, on another connection
//	```sh             a script of bash, with weir on its PATH and a server behind http://127.0.0.1:9347;
//	                  one that it starts runs beside it until its end
//	```sh session=http  the same, in a database of its own
//	```python, ts, go  a part of a program of an SDK that is given a client: what a comment "-> ..." shows, it prints
//	```text           what the block before it prints: … stands for anything
//	```console        what a reader types and what does not end by itself: not run
//	```               a picture
//
// The blocks of each language have a database of their own, which has the tables that the page makes in SQL.
// All scripts of a page share a folder. What the operating guide and the page about security take for granted, their
// places (places_test.go) have. Commands in other blocks, and in the text, are at least known with their flags.
//
// Of a sql block only the last results are compared: as many as the text shows. A text that begins with ERROR says how
// the last statement fails, with the SQLSTATE, as psql prints it with VERBOSITY set to verbose.
package docs_test
