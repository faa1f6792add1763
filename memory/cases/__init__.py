"""Cases: what came of exchanges worth keeping. They wait for their owner as durable facts do."""
