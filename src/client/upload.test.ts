import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { makeImage, padPng } from '../../test/media/images.fixture.ts';
import { type MediaRig, onEveryPair, startMedia } from '../../test/media/rig.fixture.ts';
import { mediaCalls } from './media/calls.ts';
import type { Patience } from './pausing.ts';
import type { UploadProgress } from './putting.ts';
import { createUpload, type UploadDetails } from './upload.ts';

type Step = 'reserve' | 'put' | 'offset' | 'patch' | 'register';
/** The fault of the next request of a step: it never arrives, its response is lost or never comes, its URL has expired, or another PUT is in progress. */
type Fate = 'cut' | 'lost' | 'silent' | 'expired' | 'taken' | 'fine';

const stepsByMethod: Readonly<Record<string, Step>> = { PUT: 'put', HEAD: 'offset', PATCH: 'patch' };
const stepOf = (url: string, method = 'GET'): Step =>
  stepsByMethod[method] ?? (url.endsWith('/v1/uploads') ? 'reserve' : 'register');

function untilAborted(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
}

onEveryPair('uploads', (pair) => {
  let rig: MediaRig;
  let bytes: Blob;
  beforeAll(async () => {
    rig = await startMedia(pair);
    const png = padPng(await makeImage('png', { width: 40, height: 30 }), 90_000);
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
    const step = stepOf(url, init?.method);
    steps.push(step);
    const fate = fates[step]?.shift() ?? 'fine';
    if (fate === 'cut') throw new TypeError('fetch failed');
    if (fate === 'silent') return untilAborted(init?.signal);
    if (fate === 'taken') return Response.json({ error: 'upload_in_progress', message: 'Later.' }, { status: 409 });
    const response = await globalThis.fetch(fate === 'expired' ? url.replace(/\?.*/, '') : url, init);
    if (fate !== 'lost') return response;
    await response.body?.cancel();
    throw new TypeError('terminated');
  };
  const fast = { firstPauseMs: 1, longestPauseMs: 5 };
  const uploadOf = (details: Partial<UploadDetails> = {}, blob = bytes, patience: Partial<Patience> = fast) => {
    const media = mediaCalls({ url: rig.url, credential: { internalKey: rig.internalKey }, fetch, patience });
    const place = { scopeKind: 'thread', scopeId: randomUUID(), kind: 'image', ownerId: rig.userId };
    return createUpload(media, blob, { ...place, ...details }, { fetch, patience });
  };
  const whole: Step[] = ['reserve', 'put', 'register'];

  it('reserves, sends, registers and reports progress', async () => {
    const progress: number[] = [];
    const asset = await uploadOf().run({
      onProgress: ({ sentBytes, totalBytes }) => progress.push(sentBytes / totalBytes),
    });
    expect(asset).toMatchObject({ mime: 'image/png', byteSize: 90_000, width: 40, height: 30 });
    expect(progress.toSorted((a, b) => a - b)).toEqual(progress);
    expect([progress[0], progress.at(-1)]).toEqual([0, 1]);
    expect(progress.length).toBeGreaterThan(3);
    expect(steps).toEqual(whole);
  });

  it.each<[string, Partial<Record<Step, Fate[]>>, readonly Step[]]>([
    ['the response to the reservation is lost', { reserve: ['lost'] }, ['reserve', ...whole]],
    ['the bytes do not arrive', { put: ['cut', 'cut'] }, ['reserve', 'put', 'put', 'put', 'register']],
    ['the bytes arrive, but the response is lost', { put: ['lost'] }, ['reserve', 'put', 'put', 'register']],
    ['an earlier PUT is still in progress', { put: ['taken', 'taken'] }, ['reserve', 'put', 'put', 'put', 'register']],
    ['the asset is registered, but the response is lost', { register: ['lost'] }, [...whole, 'register']],
  ])('%s', async (_, planned, expected) => {
    fates = structuredClone(planned);
    expect(await uploadOf().run()).toMatchObject({ byteSize: 90_000 });
    expect(steps).toEqual(expected);
  });

  describe('continues with the incomplete step after a failure', () => {
    const cuts = (count: number): Fate[] => Array.from({ length: count }, () => 'cut');

    it.each<[string, Partial<Record<Step, Fate[]>>, readonly Step[]]>([
      ['the reservation', { reserve: cuts(4) }, whole],
      ['the bytes', { put: cuts(5) }, ['put', 'register']],
      ['the bytes, to an expired URL', { put: [...cuts(5), 'expired'] }, ['put', ...whole]],
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

    it('after its signal aborted while sending the bytes', async () => {
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

  describe('by tus', () => {
    it('sends only the missing bytes, and registers', async () => {
      const upload = uploadOf({ resumable: true });
      const leaving = new AbortController();
      const reason = new Error('enough');
      const onProgress = ({ sentBytes }: UploadProgress) => {
        if (sentBytes > 0) leaving.abort(reason);
      };
      await expect(upload.run({ signal: leaving.signal, onProgress })).rejects.toBe(reason);
      const progress: number[] = [];
      const asset = await upload.run({ onProgress: ({ sentBytes }) => progress.push(sentBytes) });
      expect(asset).toMatchObject({ mime: 'image/png', byteSize: 90_000, width: 40 });
      expect(progress.at(-1)).toBe(90_000);
      expect(steps).toEqual(['reserve', 'offset', 'patch', 'offset', 'patch', 'register']);
    });

    it.each<[string, Partial<Record<Step, Fate[]>>, readonly Step[]]>([
      ['no fault', {}, ['offset', 'patch']],
      [
        'cut requests',
        { offset: ['cut'], patch: ['cut', 'cut'] },
        ['offset', 'offset', 'patch', 'offset', 'patch', 'offset', 'patch'],
      ],
      ['a lost response', { patch: ['lost'] }, ['offset', 'patch', 'offset']],
      [
        'an earlier request under way',
        { offset: ['taken'], patch: ['taken'] },
        ['offset', 'offset', 'patch', 'offset', 'patch'],
      ],
    ])('continues after %s', async (_, planned, expected) => {
      fates = structuredClone(planned);
      expect(await uploadOf({ resumable: true }).run()).toMatchObject({ byteSize: 90_000 });
      expect(steps).toEqual(['reserve', ...expected, 'register']);
    });

    it('continues if the server does not say in time what it has', async () => {
      fates = { offset: ['silent'] };
      const upload = uploadOf({ resumable: true }, bytes, { ...fast, silentMs: 300 });
      expect(await upload.run()).toMatchObject({ byteSize: 90_000 });
      expect(steps.slice(0, 3)).toEqual(['reserve', 'offset', 'offset']);
    });

    it('requests a new URL if the one of an earlier run has ended', async () => {
      fates = { offset: ['cut', 'cut', 'cut', 'cut', 'cut', 'expired'] };
      const upload = uploadOf({ resumable: true });
      await expect(upload.run()).rejects.toMatchObject({ code: 'unreachable' });
      steps = [];
      expect(await upload.run()).toMatchObject({ byteSize: 90_000 });
      expect(steps).toEqual(['offset', 'reserve', 'offset', 'patch', 'register']);
    });
  });

  it.each<[string, Blob, string, number, readonly Step[]]>([
    [
      'does not send a file that is too large',
      new Blob([new Uint8Array(100_001)]),
      'asset_too_large',
      413,
      ['reserve'],
    ],
    ['reports a file that is not an image once', new Blob(['text']), 'undecodable_image', 422, whole],
  ])('%s', async (_, blob, code, status, expected) => {
    await expect(uploadOf({ mime: 'image/png' }, blob).run()).rejects.toMatchObject({ code, status });
    expect(steps).toEqual(expected);
  });
});
