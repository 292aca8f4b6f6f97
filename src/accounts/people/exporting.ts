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

const dayMs = 86_400_000;
/** The longest range of one request. */
const yearMs = 365 * dayMs;

/** By day, newest first, until the day of the sign-up. */
export async function* usageOf({ agent }: ExportedServices, userId: string, sinceMs: number): AsyncGenerator<unknown> {
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

/** `undefined`: what is not in the trash. */
const placesOfListings = [undefined, 'true'] as const;

/** With their messages, those in the trash last. */
export async function* threadsOf(services: ExportedServices, userId: string): AsyncGenerator<unknown> {
  for (const trashed of placesOfListings) yield* threadsIn(services, userId, trashed);
}

async function* threadsIn(
  { agent }: ExportedServices,
  userId: string,
  trashed: (typeof placesOfListings)[number],
): AsyncGenerator<unknown> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = { userId, limit: 100, cursor: cursor || undefined, trashed };
    const page: ThreadPage = bodyOf<ThreadPage>(await agent.send({ method: 'GET', route: '/threads', query }));
    for (const thread of page.threads) {
      const { threadId } = thread;
      const { messages } = bodyOf<{ readonly messages: unknown }>(
        await agent.send({ method: 'GET', route: '/messages/:threadId', params: { threadId }, query: { userId } }),
      );
      yield { ...thread, messages, replaced: await replacedOf(agent, threadId, userId) };
    }
    cursor = page.next_cursor;
  }
}

interface ReplacedPage {
  readonly messages: readonly unknown[];
  readonly next_cursor: string | null;
}

/** The messages of all branches, which have a bound for each thread. */
async function replacedOf(agent: HttpClient, threadId: string, userId: string): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (let cursor: string | null = '0'; cursor !== null; ) {
    const page: ReplacedPage = bodyOf<ReplacedPage>(
      await agent.send({
        method: 'GET',
        route: '/threads/:threadId/replaced',
        params: { threadId },
        query: { userId, cursor },
      }),
    );
    found.push(...page.messages);
    cursor = page.next_cursor;
  }
  return found;
}

interface GenerationPage {
  readonly generations: readonly { readonly items: readonly object[] }[];
  readonly next_cursor: string | null;
}

export async function* generationsOf({ agent }: ExportedServices, userId: string): AsyncGenerator<unknown> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = { userId, limit: 100, cursor: cursor || undefined };
    const page: GenerationPage = bodyOf<GenerationPage>(
      await agent.send({ method: 'GET', route: '/generations', query }),
    );
    // URLs of files end after some days.
    for (const generation of page.generations)
      yield { ...generation, items: generation.items.map((item) => ({ ...item, url: undefined })) };
    cursor = page.next_cursor;
  }
}

export interface ExportedAsset {
  readonly assetId: string;
  readonly storageKey: string;
  readonly byteSize: number | null;
  readonly createdAt: string;
}

interface AssetPage {
  readonly assets: readonly ExportedAsset[];
  readonly nextCursor: string | null;
}

/** Each with a URL of its file, which is valid for seven days. Those in the trash are last. */
export async function* assetsOf(
  services: ExportedServices,
  ownerId: string,
): AsyncGenerator<ExportedAsset & { readonly url: string | null }> {
  for (const trashed of placesOfListings) yield* assetsIn(services, ownerId, trashed);
}

async function* assetsIn(
  { media }: ExportedServices,
  ownerId: string,
  trashed: (typeof placesOfListings)[number],
): AsyncGenerator<ExportedAsset & { readonly url: string | null }> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = { ownerId, limit: 200, cursor: cursor || undefined, trashed };
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

interface SharePage {
  readonly shares: readonly unknown[];
  readonly nextCursor: string | null;
}

export async function* sharesOf({ media }: ExportedServices, ownerId: string): AsyncGenerator<unknown> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = { ownerId, limit: 200, cursor: cursor || undefined };
    const page: SharePage = bodyOf<SharePage>(await media.send({ method: 'GET', route: '/v1/shares', query }));
    yield* page.shares;
    cursor = page.nextCursor;
  }
}

interface ReportPage {
  readonly reports: readonly unknown[];
  readonly nextCursor: string | null;
}

/** What the person reported. */
export async function* reportsOf({ media }: ExportedServices, ownerId: string): AsyncGenerator<unknown> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = { ownerId, limit: 200, cursor: cursor || undefined };
    const page: ReportPage = bodyOf<ReportPage>(await media.send({ method: 'GET', route: '/v1/reports', query }));
    yield* page.reports;
    cursor = page.nextCursor;
  }
}

interface IncidentPage {
  readonly incidents: readonly Readonly<Record<string, unknown>>[];
  readonly next_cursor: string | null;
}

/** What concerns the owner. The rest of an incident is for operators, and can name others. */
const shownOfIncidents = ['id', 'status', 'assetId', 'scopeKind', 'scopeId', 'createdAt', 'resolvedAt', 'appeal'];

export async function* incidentsOf({ media }: ExportedServices, ownerId: string): AsyncGenerator<unknown> {
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query = { ownerId, limit: 200, cursor: cursor || undefined };
    const page: IncidentPage = bodyOf<IncidentPage>(await media.send({ method: 'GET', route: '/v1/incidents', query }));
    for (const incident of page.incidents)
      yield Object.fromEntries(shownOfIncidents.map((name) => [name, incident[name]]));
    cursor = page.next_cursor;
  }
}

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
