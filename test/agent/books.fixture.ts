/** What a user was charged for, what the user has, and what is counted: three accounts that have to agree. */
import type { LedgerTables } from '#accounts/ledger/credits.ts';
import type { AgentRig, Chatter } from './rig.fixture.ts';

export interface Books {
  /** Reservations that are neither settled nor released. */
  readonly open: number;
  readonly settled: { readonly images: number; readonly videos: number; readonly credits: number };
  readonly library: { readonly images: number; readonly videos: number };
  readonly usage: { readonly images: number; readonly videos: number; readonly credits: number };
  readonly spent: number;
}

interface Listed {
  readonly assets: readonly { readonly assetId: string; readonly kind: string; readonly prompt: string | null }[];
  readonly nextCursor: string | null;
}

/** `credits`: what the user had at first. Posters have no prompt, and are no images of the user's. */
export async function readBooks(rig: AgentRig, user: Chatter, credits: number): Promise<Books> {
  const ledger = await rig.media.database
    .queries<LedgerTables>()
    .selectFrom('credit_ledger')
    .select(['reference', 'state', 'amount'])
    .where('user_id', '=', user.userId)
    .execute();
  const settled = ledger.filter(({ state }) => state === 'settled');
  const countOf = (start: string) => settled.filter(({ reference }) => reference.startsWith(start)).length;
  const assets = await listAssets(rig, user);
  const { body } = await user.call<{ days: { images: number; videos: number; credits: number }[] }>('GET', '/usage');
  const sum = (name: 'images' | 'videos' | 'credits') => body.days.reduce((total, day) => total + day[name], 0);
  return {
    open: ledger.filter(({ state }) => state === 'reserved').length,
    settled: {
      images: countOf('image:') + countOf('generation:'),
      videos: countOf('video:'),
      credits: settled.reduce((total, { amount }) => total + amount, 0),
    },
    library: {
      images: assets.filter(({ kind, prompt }) => kind === 'image' && prompt !== null).length,
      videos: assets.filter(({ kind }) => kind === 'video').length,
    },
    usage: { images: sum('images'), videos: sum('videos'), credits: sum('credits') },
    spent: credits - (await rig.credits(user)),
  };
}

export async function listAssets(rig: AgentRig, user: Chatter, query = ''): Promise<Listed['assets']> {
  const client = rig.media.client(user.credential);
  const found: Listed['assets'][number][] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const { body }: { body: Listed } = await client.get<Listed>(
      `/v1/assets?limit=200${query}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    );
    found.push(...body.assets);
    cursor = body.nextCursor;
  }
  return found;
}

/** Repeatable: the seed is in the title of the test. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
