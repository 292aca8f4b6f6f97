/** The events in the delivery queue of a database. */
import { sql } from 'kysely';
import type { Database } from '#platform/db/db.ts';
import { deliveryQueue } from '#webhooks/publishing.ts';

export interface PublishedEvent {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** In the order in which they were published. */
export async function publishedEvents(database: Database): Promise<readonly PublishedEvent[]> {
  const { rows } = await sql<{ payload: { readonly body: string; readonly publishedAtMs: number } }>`
    select payload from jobs where queue = ${deliveryQueue.name}`.execute(database.queries());
  return rows
    .map(({ payload }) => payload)
    .sort((one, other) => one.publishedAtMs - other.publishedAtMs)
    .map(({ body }) => JSON.parse(body));
}
