/**
 * Everything that the services store about a person, as one JSON document. It is written while it is read, page by page, so
 * that its size is not limited by memory. A service that fails in between ends the response early: the JSON is then
 * incomplete, and no browser saves it as a whole file.
 */
import { bodyOf } from '#platform/http/bodyof.ts';
import type { ServiceClients } from '../services.ts';
import { type PersonRecord, readRecord } from './reading.ts';

/** Throws 404 before the first byte for an id without a profile. */
export async function exportPerson(clients: ServiceClients, userId: string): Promise<AsyncGenerator<string>> {
  const record = await readRecord(clients, userId);
  return write(clients, userId, record, record.person.email);
}

async function* write(
  clients: ServiceClients,
  userId: string,
  record: PersonRecord,
  email: string | null,
): AsyncGenerator<string> {
  const { memory, notify } = clients;
  yield `{"exportedAt":${JSON.stringify(new Date().toISOString())},"record":${JSON.stringify(record)}`;
  yield ',"threads":[';
  yield* listed(threads(clients, userId));
  yield '],"assets":[';
  yield* listed(assets(clients, userId));
  yield '],"usage":[';
  yield* listed(usage(clients, userId, Date.parse(record.person.createdAt)));
  yield ']';
  const memories = bodyOf<object>(
    await memory.send({ method: 'GET', route: '/export', query: { entity_type: 'user', entity_id: userId } }),
  );
  yield `,"memory":${JSON.stringify(memories)}`;
  const mails =
    email === null
      ? null
      : bodyOf<object>(
          await notify.send({ method: 'GET', route: '/people/mails', query: { address: email, limit: 100 } }),
        );
  yield `,"mails":${JSON.stringify(mails)}}\n`;
}

async function* listed(items: AsyncGenerator<unknown>): AsyncGenerator<string> {
  let separator = '';
  for await (const item of items) {
    yield separator + JSON.stringify(item);
    separator = ',';
  }
}

const dayMs = 86_400_000;
/** The longest range of one request. */
const yearMs = 365 * dayMs;

/** Newest first, until the day of the sign-up. */
async function* usage({ agent }: ServiceClients, userId: string, sinceMs: number): AsyncGenerator<unknown> {
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  for (let toMs = Date.now(); toMs >= sinceMs; toMs -= yearMs + dayMs) {
    const query = { userId, from: dayOf(toMs - yearMs), to: dayOf(toMs) };
    const { days } = bodyOf<{ readonly days: readonly unknown[] }>(
      await agent.send({ method: 'GET', route: '/usage', query }),
    );
    yield* days;
  }
}

interface ThreadPage {
  readonly threads: readonly { readonly threadId: string }[];
  readonly next_cursor: string | null;
}

async function* threads({ agent }: ServiceClients, userId: string): AsyncGenerator<unknown> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = { userId, limit: 100, cursor: cursor || undefined };
    const page: ThreadPage = bodyOf<ThreadPage>(await agent.send({ method: 'GET', route: '/threads', query }));
    for (const thread of page.threads) {
      const { threadId } = thread;
      const { messages } = bodyOf<{ readonly messages: unknown }>(
        await agent.send({ method: 'GET', route: '/messages/:threadId', params: { threadId }, query: { userId } }),
      );
      yield { ...thread, messages };
    }
    cursor = page.next_cursor;
  }
}

interface AssetPage {
  readonly assets: readonly { readonly assetId: string }[];
  readonly nextCursor: string | null;
}

/** Each with a URL of its file, which is valid for seven days. */
async function* assets({ media }: ServiceClients, ownerId: string): AsyncGenerator<unknown> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = { ownerId, limit: 200, cursor: cursor || undefined };
    const page: AssetPage = bodyOf<AssetPage>(await media.send({ method: 'GET', route: '/v1/assets', query }));
    const refs = page.assets.map(({ assetId }) => assetId);
    const signed =
      refs.length === 0
        ? {}
        : bodyOf<Readonly<Record<string, { readonly url?: string }>>>(
            await media.send({ method: 'POST', route: '/v1/sign/image', json: { refs }, idempotent: true }),
          );
    for (const asset of page.assets) yield { ...asset, url: signed[asset.assetId]?.url ?? null };
    cursor = page.nextCursor;
  }
}
