// Package signatures holds what graphtrap knows, as data: what programs print
// (messages/*.toml, one file for each program), how jobs fail (failures/*.toml,
// one file for each failure) and what codes among the facts mean (codes/*.toml,
// one file for each kind of code). It loads and validates that
// data and knows nothing of logs, ranks or reports; analyzer gives it a line's
// text and gets back which messages it is, with their facts.
//
// To teach graphtrap a message, add one [[message]] to the file of the program
// that prints it, with samples that must match and samples that must stay
// silent. To teach it a failure, add one file under failures. The samples are
// the tests.
package signatures
