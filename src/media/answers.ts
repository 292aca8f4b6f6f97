/**
 * Cached answers of signing (docs/specification/media.md#signed-url-cache). One entry per asset or file and kind of
 * answer: the JSON that is sent, and what decides who may see it, judged anew at every read. What did not resolve is never
 * an entry. What lies in the legacy backend may be replaced or removed by others, so it is looked at and signed at each
 * call; the cached answer is sent as long as nothing but the expiry of its addresses would differ.
 */
import { createHash } from 'node:crypto';
import type { Caller } from '#platform/access/caller.ts';
import { type Cache, forgetAround } from '#platform/cache/cache.ts';
import type { UnresolvedRef } from './api.ts';
import type { Located, LocatingDeps, ReadyAsset } from './locating.ts';
import { mayRead } from './ownership.ts';
import { isLegacyPath, isUuid } from './refs.ts';
import { dropAssets, findShowing, type SeenAsset } from './store.ts';

export interface AnswersDeps {
  readonly answers: Cache;
  readonly publicScopes: readonly string[];
  /** Of all that the addresses are made with: an entry with other addresses than ours would have is a miss. */
  readonly addressing: string;
}

const kinds = ['image', 'video', 'watermark', 'watermark-video'] as const;
export type AnswerKind = (typeof kinds)[number];

export interface Answer {
  readonly located: Located;
  /** What the caller is told: something that JSON can say. */
  readonly told: object;
  /** A thumbnail of the same owner that it shows, and what those are told who may not see that. */
  readonly thumb?: { readonly row: Pick<ReadyAsset, 'scopeKind'>; readonly toldWithout: object };
  /** Its thumbnail lies in the legacy backend. */
  readonly hasLegacyThumb?: boolean;
  /** Something in it did not resolve: it is not kept. */
  readonly isPassing?: boolean;
}

/** With a minute for the way: the addresses are valid for 7 days and have to have 6 days left. */
const keptForMs = 24 * 3_600_000 - 60_000;

const notFound = JSON.stringify({ ready: false, error: 'not_found' } satisfies UnresolvedRef);

/**
 * What is told, as JSON, by ref as it was given: from the cache, or signed by `sign`, which is asked once for all the
 * others and leaves out what does not resolve for the caller.
 */
export async function answersOf(
  deps: AnswersDeps,
  caller: Caller,
  kind: AnswerKind,
  { refs, legacyBucket }: { readonly refs: readonly string[]; readonly legacyBucket: string },
  sign: (refs: readonly string[]) => Promise<ReadonlyMap<string, Answer>>,
): Promise<ReadonlyMap<string, string>> {
  const keys = new Map(
    refs.flatMap((ref): [string, string][] => {
      if (isUuid(ref)) return [[ref, keyOf(kind, ref.toLowerCase())]];
      return isLegacyPath(ref) ? [[ref, keyOf(kind, `${legacyBucket}/${ref}`)]] : [];
    }),
  );
  const lookup = await deps.answers.lookUp([...new Set(keys.values())]);
  const told = new Map<string, string>();
  const missing: string[] = [];
  for (const ref of new Set(refs)) {
    const key = keys.get(ref);
    const entry = key === undefined ? undefined : readEntry(deps, lookup.found.get(key));
    if (entry === undefined || entry.basis !== '') missing.push(ref);
    else if (mayRead(caller, entry, deps.publicScopes)) told.set(ref, tellOf(deps, caller, entry));
  }
  if (missing.length === 0) return told;
  const entries = new Map<string, string>();
  for (const [ref, answer] of await sign(missing)) {
    const json = JSON.stringify(answer.told);
    const basis = basisOf(answer, json);
    const key = keys.get(ref);
    const before = key === undefined ? undefined : readEntry(deps, lookup.found.get(key));
    const isSame = basis !== '' && before?.basis === basis;
    told.set(ref, isSame ? before.told : json);
    if (key !== undefined && !isSame && (basis !== '' || answer.isPassing !== true))
      entries.set(key, writeEntry(deps, answer, basis, json));
  }
  // Nobody waits for it: without it the next one misses.
  if (entries.size > 0) void lookup.fill(entries, keptForMs);
  return told;
}

/** One object with all refs; those that nothing is told of are `not_found`. */
export function joinAnswers(refs: readonly string[], told: ReadonlyMap<string, string>): string {
  return `{${[...new Set(refs)].map((ref) => `${JSON.stringify(ref)}:${told.get(ref) ?? notFound}`).join(',')}}`;
}

export type ForgettingDeps = Pick<LocatingDeps, 'db'> & Pick<AnswersDeps, 'answers'>;

/**
 * Drops those rows that still are as they were read, with all answers about them and those of videos that show one of
 * them; gives their ids. Every deletion of rows that were ready goes through here.
 */
export function dropWithAnswers(deps: ForgettingDeps, rows: readonly SeenAsset[]): Promise<readonly string[]> {
  const assetIds = rows.map(({ assetId }) => assetId);
  return withoutAnswers(deps, assetIds, () => dropAssets(deps.db, rows));
}

/** A change after which those assets may not be read as before: no answer from before it is told any more. */
export async function withoutAnswers<Result>(
  { db, answers }: ForgettingDeps,
  assetIds: readonly string[],
  change: () => Promise<Result>,
): Promise<Result> {
  const own = assetIds.flatMap((assetId) => kinds.map((kind) => keyOf(kind, assetId)));
  const ofVideos = async () => (await findShowing(db, assetIds)).map((assetId) => keyOf('video', assetId));
  // Looked for again after the change: a video that was registered meanwhile may show what is gone by now.
  return forgetAround(answers, [...own, ...(await ofVideos())], change, ofVideos);
}

function keyOf(kind: AnswerKind, assetId: string): string {
  return `${kind}:${assetId}`;
}

/** Of what lies in the legacy backend: the same for answers that differ in the expiry of their addresses alone. */
function basisOf({ located, hasLegacyThumb }: Answer, told: string): string {
  if (located.backend === 'objects' && hasLegacyThumb !== true) return '';
  const lasting = told.replaceAll(/\?[^"]*/g, '');
  return createHash('sha256').update(`${located.version} ${lasting}`).digest('base64url').slice(0, 22);
}

interface Entry {
  /** `''`: it may be told without a look at the store. */
  readonly basis: string;
  readonly ownerId: string;
  readonly scopeKind: string;
  readonly thumbScopeKind: string;
  readonly told: string;
  readonly toldWithout: string;
}

/** Lines, so that an answer is read without being parsed: JSON.stringify writes no line end. */
function writeEntry({ addressing }: AnswersDeps, { located, thumb }: Answer, basis: string, told: string): string {
  const { ownerId, scopeKind } = located.row ?? { ownerId: '', scopeKind: '' };
  const lines = [basis === '' ? addressing : `${addressing} ${basis}`, ownerId, scopeKind, told];
  // Whoever may read the one may read the other.
  if (thumb === undefined || thumb.row.scopeKind === scopeKind) return lines.join('\n');
  return [...lines, thumb.row.scopeKind, JSON.stringify(thumb.toldWithout)].join('\n');
}

function readEntry(deps: AnswersDeps, text: string | undefined): Entry | undefined {
  const [made, ownerId, scopeKind, told, thumbScopeKind = scopeKind, toldWithout = told] = text?.split('\n') ?? [];
  const [addressing, basis = ''] = made?.split(' ') ?? [];
  if (addressing !== deps.addressing || ownerId === undefined || scopeKind === undefined) return undefined;
  if (told === undefined || thumbScopeKind === undefined || toldWithout === undefined) return undefined;
  return { basis, ownerId, scopeKind, thumbScopeKind, told, toldWithout };
}

function tellOf(deps: AnswersDeps, caller: Caller, entry: Entry): string {
  const { ownerId, thumbScopeKind: scopeKind } = entry;
  return mayRead(caller, { ownerId, scopeKind }, deps.publicScopes) ? entry.told : entry.toldWithout;
}
