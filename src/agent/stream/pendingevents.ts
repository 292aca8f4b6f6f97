/** Events that wait for the next append. Consecutive deltas of one text become a single event. */
import type { Chunk } from './chunks.ts';

interface OpenDelta {
  readonly type: 'text-delta' | 'reasoning-delta';
  readonly id: string;
  delta: string;
}

/** The characters of a delta's JSON beside its text. */
const deltaOverhead = 60;

export class PendingEvents {
  #events: string[] = [];
  #openDelta: OpenDelta | undefined;
  #size = 0;
  #totalSize = 0;

  /** In characters of JSON, approximately. */
  get size(): number {
    return this.#size;
  }

  /** Of everything that was ever added. */
  get totalSize(): number {
    return this.#totalSize;
  }

  get isEmpty(): boolean {
    return this.#events.length === 0 && this.#openDelta === undefined;
  }

  add(chunk: Chunk): void {
    const isDelta = chunk.type === 'text-delta' || chunk.type === 'reasoning-delta';
    if (!isDelta || chunk.providerMetadata !== undefined) {
      this.#closeDelta();
      const event = JSON.stringify(chunk);
      this.#events.push(event);
      this.#count(event.length);
      return;
    }
    const { type, id, delta } = chunk;
    if (this.#openDelta?.type === type && this.#openDelta.id === id) {
      this.#openDelta.delta += delta;
      this.#count(delta.length);
      return;
    }
    this.#closeDelta();
    this.#openDelta = { type, id, delta };
    this.#count(delta.length + deltaOverhead);
  }

  /** All that waits, in order; after this nothing waits. */
  take(): readonly string[] {
    this.#closeDelta();
    const events = this.#events;
    this.#events = [];
    this.#size = 0;
    return events;
  }

  #closeDelta(): void {
    if (this.#openDelta !== undefined) this.#events.push(JSON.stringify(this.#openDelta));
    this.#openDelta = undefined;
  }

  #count(size: number): void {
    this.#size += size;
    this.#totalSize += size;
  }
}
