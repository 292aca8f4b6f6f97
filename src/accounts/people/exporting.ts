/** What the services store about a person, read page by page, so that its size is not limited by memory. */
import { bodyOf, type HttpClient } from '#platform/http/client.ts';
import { Problem } from '#platform/problem.ts';

export type ExportedServices = Readonly<Record<'agent' | 'media' | 'memory' | 'notify', HttpClient>>;

/** An array as JSON. */
export async function* listed(items: AsyncIterable<unknown>): AsyncGenerator<string> {
  let separator = '[';
  for await (const item of items) {
    yield separator + JSON.stringify(item);
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

/** The services name the position of the next page in two ways. */
interface Cursors {
  readonly next_cursor?: string | null;
  readonly nextCursor?: string | null;
}

async function* pagesOf<Page extends object>(
  read: (cursor: string | undefined) => ReturnType<HttpClient['send']>,
): AsyncGenerator<Page> {
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: Page & Cursors = bodyOf<Page & Cursors>(await read(cursor));
    yield page as Awaited<Page>;
    cursor = page.next_cursor ?? page.nextCursor ?? null;
  }
}

/** The entries of all pages, which the service lists under this name. */
async function* entriesOf<Entry = unknown>(
  name: string,
  read: (cursor: string | undefined) => ReturnType<HttpClient['send']>,
): AsyncGenerator<Entry> {
  for await (const page of pagesOf<Readonly<Record<string, unknown>>>(read)) yield* page[name] as readonly Entry[];
}

const dayMs = 86_400_000;
/** The longest range of one request. */
const yearMs = 365 * dayMs;

/** By day, newest first, until the day of the sign-up. */
async function* usageOf({ agent }: ExportedServices, userId: string, sinceMs: number): AsyncGenerator<unknown> {
  const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
  for (let toMs = Date.now(); toMs >= sinceMs; toMs -= yearMs + dayMs) {
    const query = { userId, from: dayOf(toMs - yearMs), to: dayOf(toMs) };
    const { days } = bodyOf<{ readonly days: readonly unknown[] }>(
      await agent.send({ method: 'GET', route: '/usage', query }),
    );
    yield* days;
  }
}

/** `undefined`: what is not in the trash. */
const placesOfListings = [undefined, 'true'] as const;

/** With the messages of all branches, which have a bound for each thread. Those in the trash are last. */
async function* threadsOf({ agent }: ExportedServices, userId: string): AsyncGenerator<unknown> {
  for (const trashed of placesOfListings) {
    const threads = entriesOf<{ readonly threadId: string }>('threads', (cursor) =>
      agent.send({ method: 'GET', route: '/threads', query: { userId, limit: 100, cursor, trashed } }),
    );
    for await (const thread of threads) {
      const { threadId } = thread;
      const params = { threadId };
      const { messages } = bodyOf<{ readonly messages: unknown }>(
        await agent.send({ method: 'GET', route: '/messages/:threadId', params, query: { userId } }),
      );
      const replaced: unknown[] = [];
      const read = (cursor: string | undefined) =>
        agent.send({ method: 'GET', route: '/threads/:threadId/replaced', params, query: { userId, cursor } });
      for await (const one of entriesOf('messages', read)) replaced.push(one);
      yield { ...thread, messages, replaced };
    }
  }
}

async function* generationsOf({ agent }: ExportedServices, userId: string): AsyncGenerator<unknown> {
  const all = entriesOf<{ readonly items: readonly object[] }>('generations', (cursor) =>
    agent.send({ method: 'GET', route: '/generations', query: { userId, limit: 100, cursor } }),
  );
  // URLs of files end after some days.
  for await (const generation of all)
    yield { ...generation, items: generation.items.map((item) => ({ ...item, url: undefined })) };
}

export interface ExportedAsset {
  readonly assetId: string;
  readonly storageKey: string;
  readonly byteSize: number | null;
  readonly createdAt: string;
}

/** Each with a URL of its file, which is valid for seven days. Those in the trash are last. */
export async function* assetsOf(
  { media }: ExportedServices,
  ownerId: string,
): AsyncGenerator<ExportedAsset & { readonly url: string | null }> {
  for (const trashed of placesOfListings) {
    const pages = pagesOf<{ readonly assets: readonly ExportedAsset[] }>((cursor) =>
      media.send({ method: 'GET', route: '/v1/assets', query: { ownerId, limit: 200, cursor, trashed } }),
    );
    for await (const { assets } of pages) {
      const refs = assets.map(({ assetId }) => assetId);
      const signed =
        refs.length === 0
          ? {}
          : bodyOf<Readonly<Record<string, { readonly url?: string }>>>(
              await media.send({ method: 'POST', route: '/v1/sign/image', json: { refs }, idempotent: true }),
            );
      for (const asset of assets) yield { ...asset, url: signed[asset.assetId]?.url ?? null };
    }
  }
}

const sharesOf = ({ media }: ExportedServices, ownerId: string) =>
  entriesOf('shares', (cursor) =>
    media.send({ method: 'GET', route: '/v1/shares', query: { ownerId, limit: 200, cursor } }),
  );

/** What the person reported. */
const reportsOf = ({ media }: ExportedServices, ownerId: string) =>
  entriesOf('reports', (cursor) =>
    media.send({ method: 'GET', route: '/v1/reports', query: { ownerId, limit: 200, cursor } }),
  );

/** What concerns the owner. The rest of an incident is for operators, and can name others. */
const shownOfIncidents = ['id', 'status', 'assetId', 'scopeKind', 'scopeId', 'createdAt', 'resolvedAt', 'appeal'];

async function* incidentsOf({ media }: ExportedServices, ownerId: string): AsyncGenerator<unknown> {
  const all = entriesOf<Record<string, unknown>>('incidents', (cursor) =>
    media.send({ method: 'GET', route: '/v1/incidents', query: { ownerId, limit: 200, cursor } }),
  );
  for await (const incident of all) yield Object.fromEntries(shownOfIncidents.map((name) => [name, incident[name]]));
}

/** Each list is read as it is iterated. */
export const listsOf = (services: ExportedServices, userId: string, signedUpMs: number) => ({
  threads: threadsOf(services, userId),
  generations: generationsOf(services, userId),
  assets: assetsOf(services, userId),
  shares: sharesOf(services, userId),
  incidents: incidentsOf(services, userId),
  reports: reportsOf(services, userId),
  usage: usageOf(services, userId, signedUpMs),
});

/** `null`: the memory service does not know the user. */
export async function memoriesOf({ memory }: ExportedServices, userId: string): Promise<object | null> {
  const query = { entity_type: 'user', entity_id: userId };
  try {
    return bodyOf<object>(await memory.send({ method: 'GET', route: '/export', query }));
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

/** `null`: the person has no email address. */
export async function mailsOf({ notify }: ExportedServices, address: string | null): Promise<object | null> {
  if (address === null) return null;
  return bodyOf<object>(await notify.send({ method: 'GET', route: '/people/mails', query: { address, limit: 100 } }));
}
