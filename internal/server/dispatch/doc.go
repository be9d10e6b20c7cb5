// Package dispatch makes one message at a time fast: it turns the requests of many clients into few calls of the
// engine, whose price is by the call and by the commit far more than by the message.
//
// Everything follows one rule: what comes while a call for the same queue is under way makes up the next call. A
// request that finds nothing under way goes at once, and the more there is to do the larger the calls get. A request
// is answered when the call that carried it has committed.
//
// Where many consumers are busy, a call also waits for those who are about to share it: an ack for the others that were
// handed messages together with it, a receive for those whose acks are being answered; for about as long as a claim
// takes, and not when nobody is expected. So a crowd goes round in step, and each round takes two calls.
//
//	sends     one send_batch, or send_once, for those with the same delay and priority. When a request of several is
//	          refused for its own sake (a message too large, a bad character), or waits for another transaction's
//	          dedup key, the batch is halved until that request is alone.
//	          Where consumers wait, they get the messages while the disk still writes, and the producers are told
//	          after a flush
//	acks      one ack_many, which leaves what is not plain (too late, locked elsewhere) to a call of its own
//	extends   one extend_many, likewise
//	nacks     one settle_many for them and for releases, snoozes and rejects, likewise; halved as sends are
//	finishes  one finish_many, likewise, for those of one job each
//	pops      one pop for all that pop from a group, first come first served
//	receives  one receive_many for all that wait for a group, first come first served; each gets a claim of its own.
//	          The acks that came in meanwhile go along, in one transaction
//
// Where producers and consumers of a queue work as fast as they can, a send waits while the consumers have enough to
// do, for a few of their calls, so that the queue does not grow without end. All of this is in tides.
//
// What goes alone is bounded queue by queue: the calls of one queue, which may all wait for one lock, leave half of the
// connections to others.
//
// Nothing is decided here and nothing is kept: claims, leases and deadlines are the engine's, one for each consumer, so
// that any server, and plain SQL, can settle what this one handed out, and a server that is killed loses nothing. No
// message is claimed for which no consumer waits. What was claimed for a client that went away meanwhile is given back
// at once, its delivery uncounted.
package dispatch
