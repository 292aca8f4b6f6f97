import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '#platform/access/caller.ts';
import type { Cache } from '#platform/cache/cache.ts';
import type { Database } from '#platform/db/db.ts';
import { openTestCache } from '../../../test/caches.fixture.ts';
import { openTestDatabase } from '../../../test/database.fixture.ts';
import { openFiles } from '../../../test/media/registering.fixture.ts';
import type { MediaContext } from '../context.ts';
import { joinSigned, type SignedAsset, type SignedUrlKind, signWithCache } from './signedurlcache.ts';

const owner: Caller = { kind: 'user', userId: randomUUID() };
const other: Caller = { kind: 'user', userId: randomUUID() };
const server: Caller = { kind: 'internal' };

describe('answers of signing', () => {
  let database: Database;
  beforeAll(async () => {
    database = await openTestDatabase();
  });
  afterAll(() => database.close());

  const depsOf = (signedUrls: Cache, changes: Partial<MediaContext> = {}): MediaContext =>
    ({ signedUrls, publicScopes: ['feed'], addressing: 'a', ...changes }) as MediaContext;

  function answer(
    assetId: string,
    changes: Partial<SignedAsset> = {},
    scopeKind = 'thread',
    backend = 'objects' as const,
  ) {
    const facts = { mime: 'video/mp4', byteSize: 1, width: null, height: null, durationMs: null, blurhash: null };
    const storageKey = assetId;
    const whose = { ownerId: owner.kind === 'user' ? owner.userId : '', scopeKind, namedThumbId: null, playback: null };
    const row = {
      assetId,
      ...whose,
      ...facts,
      animated: null,
      generated: null,
      isTrashed: false,
      bucket: 'objects',
      backend,
      storageKey,
      etag: '"x"',
    };
    const resolved = { backend, objects: openFiles('/nowhere'), storageKey, etag: row.etag, ...facts, row };
    return { resolved, response: { ready: true, url: randomUUID() }, ...changes };
  }

  /** What is response of one ref, and whether it was signed for that. */
  async function ask(
    deps: MediaContext,
    caller: Caller,
    ref: string,
    signed: SignedAsset,
    kind: SignedUrlKind = 'video',
  ) {
    let isSigned = false;
    const responses = await signWithCache(deps, caller, kind, { refs: [ref], legacyBucket: 'old' }, async () => {
      isSigned = true;
      return new Map([[ref, signed]]);
    });
    const json = responses.get(ref);
    return { response: json === undefined ? undefined : JSON.parse(json), isSigned };
  }

  it('are signed once, and returned to callers with the right to read', async () => {
    const [deps, ref] = [depsOf(openTestCache(database)), randomUUID()];
    const signed = answer(ref);
    expect(await ask(deps, owner, ref, signed)).toEqual({ response: signed.response, isSigned: true });
    expect(await ask(deps, owner, ref.toUpperCase(), signed)).toEqual({ response: signed.response, isSigned: false });
    expect(await ask(deps, server, ref, signed)).toEqual({ response: signed.response, isSigned: false });
    expect(await ask(deps, other, ref, signed)).toEqual({ response: undefined, isSigned: false });
  });

  it('follow the current MEDIA_PUBLIC_SCOPES', async () => {
    const [cache, ref] = [openTestCache(database), randomUUID()];
    const signed = answer(ref, {}, 'feed');
    await ask(depsOf(cache), owner, ref, signed);
    expect(await ask(depsOf(cache), other, ref, signed)).toMatchObject({ response: signed.response });
    expect(await ask(depsOf(cache, { publicScopes: [] }), other, ref, signed)).toMatchObject({ response: undefined });
  });

  it('are signed again by processes whose URLs would differ', async () => {
    const [cache, ref] = [openTestCache(database), randomUUID()];
    await ask(depsOf(cache), owner, ref, answer(ref));
    expect(await ask(depsOf(cache, { addressing: 'b' }), owner, ref, answer(ref))).toMatchObject({ isSigned: true });
  });

  it('are cached separately for each kind', async () => {
    const [deps, ref] = [depsOf(openTestCache(database)), randomUUID()];
    await ask(deps, owner, ref, answer(ref), 'image');
    expect(await ask(deps, owner, ref, answer(ref), 'video')).toMatchObject({ isSigned: true });
    expect(await ask(deps, owner, ref, answer(ref), 'image')).toMatchObject({ isSigned: false });
  });

  it('with a part that did not resolve are not cached', async () => {
    const [deps, ref] = [depsOf(openTestCache(database)), randomUUID()];
    for (let time = 0; time < 2; time++)
      expect(await ask(deps, owner, ref, answer(ref, { isTransient: true }))).toMatchObject({ isSigned: true });
  });

  it('show a thumbnail to callers who can read it', async () => {
    const [deps, ref] = [depsOf(openTestCache(database)), randomUUID()];
    const responseWithout = { ready: true };
    const signed = answer(ref, { thumb: { row: { scopeKind: 'thread' }, responseWithout } }, 'feed');
    await ask(deps, owner, ref, signed);
    expect((await ask(deps, owner, ref, signed)).response).toEqual(signed.response);
    expect(await ask(deps, other, ref, signed)).toEqual({ response: responseWithout, isSigned: false });
  });

  it('keep URLs that are valid for at least 6 more days', async () => {
    const ttls: number[] = [];
    const ref = randomUUID();
    const cache: Cache = {
      ...openTestCache(database),
      lookUp: async () => ({ found: new Map(), fill: async (_entries, ttlMs) => void ttls.push(ttlMs) }),
    };
    await ask(depsOf(cache), owner, ref, answer(ref));
    const dayMs = 24 * 3_600_000;
    // A fill may come 10 s after its lookup, with the signing in between.
    expect(7 * dayMs - 10_000 - (ttls[0] ?? Number.NaN)).toBeGreaterThanOrEqual(6 * dayMs);
  });

  it('are joined by the ref of the request', () => {
    const refs = ['b', '__proto__', 'a"\n', 'b'];
    const joined = JSON.parse(String(joinSigned(refs, new Map([['a"\n', '{"ready":true,"blurhash":"ü日"}']]))));
    const notFound = { ready: false, error: 'not_found' };
    expect(Object.entries(joined)).toEqual([
      ['b', notFound],
      ['__proto__', notFound],
      ['a"\n', { ready: true, blurhash: 'ü日' }],
    ]);
  });
});
