//! The jobs of the queue: a meeting or a matter is read, summarised and connected.
