import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { padPng, picture } from '../../test/media/pictures.fixture.ts';
import { type MediaRig, onEveryPair, startMedia } from '../../test/media/rig.fixture.ts';
import { mediaCalls } from './media/calls.ts';
import type { UploadProgress } from './putting.ts';
import { createUpload, type UploadDetails } from './upload.ts';

type Step = 'reserve' | 'put' | 'register';
/** Of the next request of a step: it never arrives; its answer is lost; its address has run out; another PUT is under way. */
type Fate = 'cut' | 'lost' | 'expired' | 'taken' | 'fine';

onEveryPair('uploads', (pair) => {
  let rig: MediaRig;
  let bytes: Blob;
  beforeAll(async () => {
    rig = await startMedia(pair);
    const png = padPng(await picture('png', { width: 40, height: 30 }), 90_000);
    bytes = new Blob([new Uint8Array(png)], { type: 'image/png' });
  });
  afterAll(() => rig.close());

  let steps: Step[] = [];
  let fates: Partial<Record<Step, Fate[]>> = {};
  beforeEach(() => {
    steps = [];
    fates = {};
  });

  const fetch: typeof globalThis.fetch = async (input, init) => {
    const url = String(input);
    const step = init?.method === 'PUT' ? 'put' : url.endsWith('/v1/uploads') ? 'reserve' : 'register';
    steps.push(step);
    const fate = fates[step]?.shift() ?? 'fine';
    if (fate === 'cut') throw new TypeError('fetch failed');
    if (fate === 'taken') return Response.json({ error: 'upload_in_progress', message: 'Later.' }, { status: 409 });
    const response = await globalThis.fetch(fate === 'expired' ? url.replace(/\?.*/, '') : url, init);
    if (fate !== 'lost') return response;
    await response.body?.cancel();
    throw new TypeError('terminated');
  };
  const patience = { firstPauseMs: 1, longestPauseMs: 5 };
  const uploadOf = (details: Partial<UploadDetails> = {}, blob = bytes) => {
    const media = mediaCalls({ url: rig.url, credential: { internalKey: rig.internalKey }, fetch, patience });
    const place = { scopeKind: 'thread', scopeId: randomUUID(), kind: 'image', ownerId: rig.userId };
    return createUpload(media, blob, { ...place, ...details }, { fetch, patience });
  };
  const whole: Step[] = ['reserve', 'put', 'register'];

  it('reserves, sends, registers, and tells how far it is', async () => {
    const told: number[] = [];
    const asset = await uploadOf().run({
      onProgress: ({ sentBytes, totalBytes }) => told.push(sentBytes / totalBytes),
    });
    expect(asset).toMatchObject({ mime: 'image/png', byteSize: 90_000, width: 40, height: 30 });
    expect(told.toSorted((a, b) => a - b)).toEqual(told);
    expect([told[0], told.at(-1)]).toEqual([0, 1]);
    expect(told.length).toBeGreaterThan(3);
    expect(steps).toEqual(whole);
  });

  it.each<[string, Partial<Record<Step, Fate[]>>, readonly Step[]]>([
    ['an answer to the reservation is lost', { reserve: ['lost'] }, ['reserve', ...whole]],
    ['the bytes do not arrive', { put: ['cut', 'cut'] }, ['reserve', 'put', 'put', 'put', 'register']],
    ['the bytes arrive, and nobody hears of it', { put: ['lost'] }, ['reserve', 'put', 'put', 'register']],
    ['an earlier PUT has not ended there', { put: ['taken', 'taken'] }, ['reserve', 'put', 'put', 'put', 'register']],
    ['the registration is done, and nobody hears of it', { register: ['lost'] }, [...whole, 'register']],
  ])('%s', async (_, planned, expected) => {
    fates = structuredClone(planned);
    expect(await uploadOf().run()).toMatchObject({ byteSize: 90_000 });
    expect(steps).toEqual(expected);
  });

  describe('given up, it goes on with the step that was not done', () => {
    const cuts = (count: number): Fate[] => Array.from({ length: count }, () => 'cut');

    it.each<[string, Partial<Record<Step, Fate[]>>, readonly Step[]]>([
      ['the reservation', { reserve: cuts(4) }, whole],
      ['the bytes', { put: cuts(5) }, ['put', 'register']],
      ['the bytes, to an address that has run out', { put: [...cuts(5), 'expired'] }, ['put', ...whole]],
      ['the registration', { register: cuts(4) }, ['register']],
    ])('%s', async (_, planned, expected) => {
      fates = structuredClone(planned);
      const assetId = randomUUID();
      const upload = uploadOf({ assetId });
      await expect(upload.run()).rejects.toMatchObject({ code: 'unreachable' });
      steps = [];
      expect(await upload.run()).toMatchObject({ assetId });
      expect(steps).toEqual(expected);
    });

    it('after its signal has ended it, in the midst of the bytes', async () => {
      const upload = uploadOf();
      const leaving = new AbortController();
      const reason = new Error('enough');
      const onProgress = ({ sentBytes }: UploadProgress) => {
        if (sentBytes > 0) leaving.abort(reason);
      };
      await expect(upload.run({ signal: leaving.signal, onProgress })).rejects.toBe(reason);
      expect(steps).not.toContain('register');
      steps = [];
      expect(await upload.run()).toMatchObject({ byteSize: 90_000 });
      expect(steps).toEqual(['put', 'register']);
    });
  });

  it.each<[string, Blob, string, number, readonly Step[]]>([
    ['what is too large is not sent', new Blob([new Uint8Array(100_001)]), 'asset_too_large', 413, ['reserve']],
    ['what is no picture is told once', new Blob(['text']), 'undecodable_image', 422, whole],
  ])('%s', async (_, blob, code, status, expected) => {
    await expect(uploadOf({ mime: 'image/png' }, blob).run()).rejects.toMatchObject({ code, status });
    expect(steps).toEqual(expected);
  });
});
