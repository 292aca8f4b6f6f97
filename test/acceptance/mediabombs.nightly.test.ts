/**
 * Images that take the most memory, sent to the running program: registered, signed, shrunk, enlarged and
 * marked, they take less than 512 MiB.
 */
import { randomUUID } from 'node:crypto';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bmpOf } from '../media/bmp.fixture.ts';
import { grid, heif, tile } from '../media/heif.fixture.ts';
import { startTestIssuer } from '../platform/tokenissuer.fixture.ts';
import { peakOf, residentBytes } from './resident.fixture.ts';
import { newLanePlace, type Place, type Program, run } from './running.fixture.ts';

const allowedBytes = 512 * 1024 * 1024;

/** Soft, so that large files are quick to make, and 16 bits deep where the format has them. */
const large = (width: number, height: number, channels: 3 | 4 = 4) =>
  sharp({ create: { width, height, channels, background: { r: 200, g: 90, b: 20, alpha: 0.5 } } });

describe.skipIf(process.platform !== 'linux')('a file', () => {
  let place: Place;
  let program: Program;
  let credential: Readonly<Record<string, string>>;
  let issuer: Awaited<ReturnType<typeof startTestIssuer>>;
  beforeAll(async () => {
    issuer = await startTestIssuer();
    place = await newLanePlace();
    program = run('start', ['media', 'image', 'edge'], { ...place.env, JWKS_URL: issuer.jwksUrl });
    await program.waitFor('Atelier is ready');
    credential = { authorization: `Bearer ${await issuer.token({ sub: randomUUID() })}` };
  }, 120_000);
  afterAll(async () => {
    program?.child.kill('SIGKILL');
    await program?.ended();
    await place?.remove();
    await issuer?.close();
  });

  async function call(path: string, body?: object) {
    const response = await fetch(`http://127.0.0.1:${place.portBase + 1}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...credential, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  async function read(url: unknown): Promise<number> {
    const response = await fetch(String(url));
    await response.arrayBuffer();
    return response.status;
  }

  /** Returns the asset's id, or the status that refused it. */
  async function register(bytes: Buffer, mime: string): Promise<string | number> {
    const what = { scopeKind: 'library', scopeId: 'bombs', kind: 'image', mime };
    const { body } = await call('/v1/uploads', what);
    const assetId = String(body.assetId);
    const sent = await fetch(String(body.uploadUrl), {
      method: 'PUT',
      headers: { 'content-type': mime },
      body: new Uint8Array(bytes),
    });
    expect(sent.status).toBe(200);
    const registered = await call('/v1/assets', { ...what, assetId });
    return registered.status === 201 ? assetId : registered.status;
  }

  const expectGoodHealth = async () => expect((await call('/ready')).status).toBe(200);

  const images: readonly (readonly [name: string, mime: string, make: () => Promise<Buffer> | Buffer])[] = [
    ['interlaced PNG', 'image/png', () => large(7000, 7000).png({ progressive: true }).toBuffer()],
    ['BMP', 'image/bmp', () => bmpOf(4000, 4000, () => [200, 90, 20])],
  ];
  it.each(images)(
    '%s: takes less than 512 MiB in all that is done with it',
    { timeout: 300_000 },
    async (name, mime, make) => {
      const bytes = await make();
      const idle = await residentBytes(program);
      const peak = await peakOf(program, async () => {
        const assetId = await register(bytes, mime);
        expect([name, assetId]).toEqual([name, expect.any(String)]);
        const { body: signed } = await call('/v1/sign/image', { refs: [assetId] });
        const { thumbUrl, previewUrl } = signed[String(assetId)] as Record<string, string>;
        const wishes = [
          { maxBytes: 20_000 },
          { width: 2048, height: 2048, enlarge: true },
          { width: 3000, format: 'png' },
        ];
        const fits = await Promise.all(
          wishes.map(async (wish) => (await call('/v1/fit', { ref: assetId, ...wish })).body.url),
        );
        // One after the other: the limit is that of one file in one request.
        for (const url of [thumbUrl, previewUrl, ...fits]) expect([url, await read(url)]).toEqual([url, 200]);
        const marked = await call('/v1/watermark', { ref: assetId });
        expect([marked.status, await read(marked.body.url)]).toEqual([200, 200]);
      });
      expect((peak - idle) / 1024 ** 2).toBeLessThan(allowedBytes / 1024 ** 2);
      await expectGoodHealth();
    },
  );

  it.each([
    ['AVIF of 49 megapixels', 'image/avif', () => large(7000, 7000, 3).avif({ effort: 0, quality: 30 }).toBuffer()],
    ['HEIC of 65,535 × 65,535', 'image/heic', () => heif([grid(1, 1, [65_535, 65_535], [1]), tile('red.heic')])],
  ])('%s is refused', { timeout: 120_000 }, async (_name, mime, make) => {
    const bytes = await make();
    const idle = await residentBytes(program);
    const peak = await peakOf(program, async () => expect(await register(bytes, mime)).toBe(422));
    expect(peak - idle).toBeLessThan(allowedBytes);
    await expectGoodHealth();
  });
});
