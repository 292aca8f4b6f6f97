/**
 * Wake-ups between processes: "look at this again". Lossy by contract: a message may be lost, come twice or late, so it
 * says where to look, never what is there, and whoever waits for one looks by himself now and then.
 */

export interface PubSub {
  readonly driver: 'memory' | 'redis';
  /**
   * Reaches those who listen in this process in any case, those of other processes while Redis can be reached. Nobody
   * waits until it is heard. `message` is small: an id, not a document. Throws inside a database transaction: nobody
   * could see yet what it tells of.
   */
  publish(topic: string, message: string): void;
  /**
   * Until the function it gives is called. What a listener throws is logged. A process hears what it publishes itself
   * once, and later: never within `publish`.
   */
  subscribe(topic: string, listener: PubSubListener): () => void;
}

export interface PubSubListener {
  readonly onMessage: (message: string) => void;
  /** Messages may have been lost: the connection was away and is back. */
  readonly onGap?: () => void;
}
