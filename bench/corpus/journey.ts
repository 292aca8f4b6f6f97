/** The calls that one file makes: reservation, upload, registration, variants, signing, and the reads of all URLs. */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import mime from 'mime';
import sharp from 'sharp';

export interface Answer {
  readonly file: string;
  readonly step: string;
  /** 0: no answer. */
  readonly status: number;
  readonly code: string;
  readonly ms: number;
  /** 2xx, or an error that docs/problems.md names. */
  readonly isDocumented: boolean;
}

interface Options {
  readonly portBase: number;
  readonly internalKey: string;
  /** `422 undecodable_image` */
  readonly documented: ReadonlySet<string>;
}

interface Travelled {
  readonly steps: Answer[];
  readonly thumbnail: Uint8Array | undefined;
}

type Json = Readonly<Record<string, unknown>>;

/** A client that waits longer has given up. */
const giveUpMs = 120_000;
const scope = { scopeKind: 'thread', scopeId: 'images' };
const specs = [
  { name: 'thumb', width: 320, height: 320 },
  { name: 'card', width: 600, height: 315, resizingType: 'fill', format: 'jpeg', maxBytes: 60_000 },
];
const fit = { width: 640, height: 640, format: 'png' };

export function createJourney({ portBase, internalKey, documented }: Options) {
  const media = `http://127.0.0.1:${portBase + 1}`;
  const image = `http://127.0.0.1:${portBase + 2}`;

  return async function travel(token: string, path: string): Promise<Travelled> {
    const steps: Answer[] = [];
    let thumbnail: Uint8Array | undefined;

    async function send(step: string, url: string, init: RequestInit): Promise<Uint8Array<ArrayBuffer> | undefined> {
      const startedAtMs = performance.now();
      const note = (status: number, code: string, isDocumented: boolean) =>
        steps.push({ file: path, step, status, code, ms: performance.now() - startedAtMs, isDocumented });
      try {
        const answer = await fetch(url, { ...init, signal: AbortSignal.timeout(giveUpMs) });
        const body = new Uint8Array(await answer.arrayBuffer());
        if (answer.ok) {
          note(answer.status, '', true);
          return body;
        }
        const code = codeOf(body);
        note(answer.status, code, answer.status < 500 && documented.has(`${answer.status} ${code}`));
      } catch (error) {
        note(0, error instanceof Error ? error.name : 'failed', false);
      }
      return undefined;
    }

    async function call(step: string, url: string, headers: Readonly<Record<string, string>>, body: Json) {
      const answered = await send(step, url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      return answered && (JSON.parse(new TextDecoder().decode(answered)) as Json);
    }

    /** Reads a variant, and decodes it. */
    async function view(step: string, url: unknown): Promise<Uint8Array | undefined> {
      if (typeof url !== 'string') return undefined;
      const bytes = await send(step, url, {});
      if (bytes === undefined) return undefined;
      await sharp(bytes)
        .stats()
        .catch(() => steps.push({ file: path, step, status: 200, code: 'damaged', ms: 0, isDocumented: false }));
      return bytes;
    }

    const asUser = { authorization: `Bearer ${token}` };
    const bytes = await readFile(path);
    const declared = { ...scope, kind: 'image', mime: mime.getType(basename(path)) ?? 'application/octet-stream' };
    const reserved = await call('reserve', `${media}/v1/uploads`, asUser, { ...declared, byteSize: bytes.length });
    if (reserved === undefined) return { steps, thumbnail };
    const { assetId, uploadUrl, headers, storageKey } = reserved as Json & { headers: Record<string, string> };
    await send('upload', String(uploadUrl), { method: 'PUT', headers, body: bytes });
    const row = await call('register', `${media}/v1/assets`, asUser, { ...declared, assetId });
    const signed = await call('sign', `${media}/v1/sign/image`, asUser, { refs: [assetId] });
    const { url, thumbUrl } = (signed?.[String(assetId)] ?? {}) as Json;
    if (row !== undefined) {
      if (typeof url === 'string') await send('original', url, {});
      const source = { key: storageKey };
      const ensured = await call('ensure', `${image}/v1/ensure`, { 'x-internal-key': internalKey }, { source, specs });
      for (const [name, variant] of Object.entries((ensured?.variants ?? {}) as Json)) await view(name, variant);
      thumbnail = await view('thumbUrl', thumbUrl);
      if (thumbUrl !== undefined) {
        const fitted = await call('fit', `${media}/v1/fit`, asUser, { ref: assetId, ...fit });
        await view('fitted', fitted?.url);
      }
    }
    return { steps, thumbnail };
  };
}

function codeOf(body: Uint8Array): string {
  try {
    const { error } = JSON.parse(new TextDecoder().decode(body)) as Json;
    return typeof error === 'string' ? error : 'no code';
  } catch {
    return 'no JSON';
  }
}
