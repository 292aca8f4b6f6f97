/** The offline renderer replaces providers of images and videos with real, labeled files. */

import { randomInt } from 'node:crypto';

// sharp is loaded for the first image.
const loadImages = () => import('./images.ts');

interface Image {
  readonly bytes: Uint8Array;
  readonly mime: string;
}

const model = 'Offline renderer';

interface ImageEdit {
  readonly prompt: string;
  readonly sources: readonly Image[];
  /** Transparent where the image is to be changed. */
  readonly mask?: Image | undefined;
  readonly ratio?: string | undefined;
  readonly seed?: number | undefined;
}

/** Another seed is another picture. */
const seeded = (prompt: string, seed: number | undefined) => (seed === undefined ? prompt : `${prompt} #${seed}`);

const png = (bytes: Uint8Array) => ({ bytes, mime: 'image/png', model });

export const offlineImages = {
  generate: async ({
    prompt,
    ratio,
    seed,
  }: {
    readonly prompt: string;
    readonly ratio: string;
    readonly seed?: number | undefined;
  }) => {
    const { renderImage, sizeOf } = await loadImages();
    // Without a seed, each image of an order looks different, as those of a model do.
    return png(await renderImage(seeded(prompt, seed), sizeOf(ratio), seed ?? randomInt(2 ** 31)));
  },
  edit: async ({ prompt, sources, mask, ratio, seed }: ImageEdit) => {
    const [source] = sources;
    if (source === undefined) throw new Error('an edit needs a source');
    const { renderEdit } = await loadImages();
    // Variations of a whole image look different.
    const tint = seed ?? (mask === undefined ? randomInt(2 ** 31) : undefined);
    return png(await renderEdit(seeded(prompt, seed), source.bytes, mask?.bytes, ratio, seeded(prompt, tint)));
  },
};

export const offlineVideos = {
  pollEveryMs: 0,
  order: async () => ({ providerId: 'offline' }),
  isMade: async () => true,
  async download({
    prompt,
    ratio,
    firstFrame,
    signal,
  }: {
    readonly prompt: string;
    readonly ratio: string;
    readonly firstFrame?: Image | undefined;
    readonly signal: AbortSignal;
  }) {
    const { renderClip } = await import('./clips.ts');
    const { bytes, facts, poster } = await renderClip(prompt, ratio, signal, firstFrame?.bytes);
    return { bytes, mime: 'video/mp4', facts, poster: png(poster), model };
  },
  /** `/insufficient` in a prompt simulates missing credits (docs/specification/agent.md#tools). */
  rehearseUnpayable: (prompt: string) => /(?:^|\s)\/insufficient\b/i.test(prompt),
};
