/**
 * Notifications between processes. Delivery is not guaranteed: a message may be lost, duplicated or late. A message names
 * what changed but never contains the new state, and subscribers must also poll at intervals.
 */

export interface PubSub {
  readonly driver: 'memory' | 'redis';
  /**
   * Reaches the listeners in this process in any case, and those in other processes while Redis is reachable. Does not wait for
   * delivery. `message` is small: an id, not a document. Throws inside a database transaction, because listeners could not see its
   * changes yet.
   */
  publish(topic: string, message: string): void;
  /**
   * Listens until the returned function is called. Errors that a listener throws are logged. A process receives its own messages
   * once and asynchronously, never within `publish`.
   */
  subscribe(topic: string, listener: PubSubListener): () => void;
}

export interface PubSubListener {
  readonly onMessage: (message: string) => void;
  /** Messages may have been lost, because the connection was interrupted. */
  readonly onGap?: () => void;
}
