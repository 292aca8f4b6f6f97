/** Small files of images that take much memory, and a program that gets them over HTTP. */
import { randomUUID } from 'node:crypto';
import { constants, crc32, deflateSync } from 'node:zlib';
import { expect } from 'vitest';
import { bmp } from '../media/bmp.fixture.ts';
import { startTestIssuer } from '../platform/tokenissuer.fixture.ts';
import { newLanePlace, run } from './running.fixture.ts';

export type Bombed = Awaited<ReturnType<typeof openBombed>>;

export async function openBombed() {
  const issuer = await startTestIssuer();
  const place = await newLanePlace();
  const env = {
    ...place.env,
    JWKS_URL: issuer.jwksUrl,
    SVC_IMAGE_CONCURRENCY: '8',
    SVC_IMAGE_PERMIT_WAIT_MS: '60000',
  };
  const program = run('start', ['media', 'image', 'edge'], env);
  await program.waitFor('Atelier is ready');
  const authorization = `Bearer ${await issuer.token({ sub: randomUUID() })}`;

  async function call(path: string, body?: object) {
    const response = await fetch(`http://127.0.0.1:${place.portBase + 1}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  }

  /** Returns the status, and the asset's id. */
  async function register(bytes: Uint8Array<ArrayBuffer>, mime: string) {
    const what = { scopeKind: 'library', scopeId: 'bombs', kind: 'image', mime };
    const { body } = await call('/v1/uploads', what);
    const assetId = String(body.assetId);
    const headers = { 'content-type': mime };
    const sent = await fetch(String(body.uploadUrl), { method: 'PUT', headers, body: bytes });
    expect(sent.status).toBe(200);
    return { status: (await call('/v1/assets', { ...what, assetId })).status, assetId };
  }

  async function read(url: unknown): Promise<number> {
    const response = await fetch(String(url));
    await response.arrayBuffer();
    return response.status;
  }

  /** Does everything with an image that its owner can. Returns the status of each step. */
  async function deriveAll(assetId: string, inTurn = true): Promise<Record<string, number>> {
    const { body: signed } = await call('/v1/sign/image', { refs: [assetId] });
    const { thumbUrl, previewUrl } = signed[assetId] as Record<string, string>;
    const bounded = (wish: object) => async () => {
      const { status, body } = await call('/v1/fit', { ref: assetId, ...wish });
      return status === 200 ? read(body.url) : status;
    };
    const steps: Record<string, () => Promise<number>> = {
      thumb: () => read(thumbUrl),
      preview: () => read(previewUrl),
      budget: bounded({ maxBytes: 20_000 }),
      webp: bounded({ format: 'webp' }),
      larger: bounded({ width: 2048, height: 2048, enlarge: true }),
      png: bounded({ width: 3000, format: 'png' }),
      mark: async () => {
        const { status, body } = await call('/v1/watermark', { ref: assetId });
        return status === 200 ? read(body.url) : status;
      },
    };
    const statuses: Record<string, number> = {};
    const step = async (name: string, take: () => Promise<number>) => {
      statuses[name] = await take();
    };
    const taken = Object.entries(steps);
    if (inTurn) for (const [name, take] of taken) await step(name, take);
    else await Promise.all(taken.map(([name, take]) => step(name, take)));
    return statuses;
  }

  return {
    program,
    register,
    deriveAll,
    isReady: async () => (await call('/ready')).status === 200,
    close: async () => {
      program.child.kill('SIGKILL');
      await program.ended();
      await place.remove();
      await issuer.close();
    },
  };
}

/** A zlib stream of as many zeros, made without compressing them all. */
function zeros(length: number): Buffer {
  const block = 1024 * 1024;
  const flushed = (bytes: number, flush: number) =>
    deflateSync(Buffer.alloc(bytes), { finishFlush: flush }).subarray(2);
  const whole = flushed(block, constants.Z_FULL_FLUSH);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE((length % 65_521) * 65_536 + 1);
  const rest = flushed(length % block, constants.Z_FINISH).subarray(0, -4);
  return Buffer.concat([Buffer.of(0x78, 0x9c), ...Array<Buffer>(Math.floor(length / block)).fill(whole), rest, sum]);
}

/** Interlaced, RGBA with 16 bits each. */
export function interlacedPng(width: number, height: number): Buffer<ArrayBuffer> {
  const passes = [
    [0, 0, 8, 8],
    [4, 0, 8, 8],
    [0, 4, 4, 8],
    [2, 0, 4, 4],
    [0, 2, 2, 4],
    [1, 0, 2, 2],
    [0, 1, 1, 2],
  ] as const;
  const length = passes.reduce((sum, [left, top, across, down]) => {
    const [columns, rows] = [Math.ceil((width - left) / across), Math.ceil((height - top) / down)];
    return sum + (columns > 0 ? rows * (1 + columns * 8) : 0);
  }, 0);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width);
  header.writeUInt32BE(height, 4);
  header.set([16, 6, 0, 0, 1], 8);
  const parts = Object.entries({ IHDR: header, IDAT: zeros(length), IEND: Buffer.alloc(0) }).map(([type, data]) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    size.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([size, body, sum]);
  });
  return Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), ...parts]);
}

/** One bit a pixel: the smallest file for its size. */
export function twoColorBmp(width: number, height: number): Buffer {
  const palette = [
    [0, 0, 0],
    [200, 20, 90],
  ] as const;
  return bmp({ width, height, bits: 1, palette, pixels: Buffer.alloc(Math.ceil(width / 32) * 4 * height) });
}
