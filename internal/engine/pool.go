package engine

import "time"

// PoolStats say how a Client's connections are used.
type PoolStats struct {
	Max, Idle, InUse int
	Acquires         int64         // how often a connection was taken
	Waits            int64         // how often none was free
	Waited           time.Duration // how long all those who found none waited, together
}

// Pool returns the figures of the connections that Open made; all are 0 for a Client made by New.
func (c *Client) Pool() PoolStats {
	if c.pool == nil {
		return PoolStats{}
	}
	s := c.pool.Stat()
	return PoolStats{
		Max: int(s.MaxConns()), Idle: int(s.IdleConns()), InUse: int(s.AcquiredConns()),
		Acquires: s.AcquireCount(), Waits: s.EmptyAcquireCount(), Waited: s.EmptyAcquireWaitTime(),
	}
}

// Database says in a few words which database this is: its name and where its server listens, without the role.
func (c *Client) Database() string {
	if c.pool == nil {
		return ""
	}
	config := c.pool.Config().ConnConfig
	return config.Database + " on " + config.Host
}
