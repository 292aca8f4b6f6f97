/** The offline renderer replaces providers of images and videos with real, labeled files. */

// sharp is loaded for the first image.
const loadImages = () => import('./images.ts');

interface Image {
  readonly bytes: Uint8Array;
  readonly mime: string;
}

const model = 'Offline renderer';

interface ImageEdit {
  readonly prompt: string;
  readonly source: Image;
  /** Transparent where the image is to be changed. */
  readonly mask?: Image | undefined;
  readonly ratio?: string | undefined;
}

const png = (bytes: Uint8Array) => ({ bytes, mime: 'image/png', model });

export const offlineImages = {
  generate: async ({ prompt, ratio }: { readonly prompt: string; readonly ratio: string }) => {
    const { renderImage, sizeOf } = await loadImages();
    return png(await renderImage(prompt, sizeOf(ratio)));
  },
  edit: async ({ prompt, source, mask, ratio }: ImageEdit) =>
    png(await (await loadImages()).renderEdit(prompt, source.bytes, mask?.bytes, ratio)),
};

export const offlineVideos = {
  pollEveryMs: 0,
  order: async () => ({ providerId: 'offline' }),
  isMade: async () => true,
  async download({
    prompt,
    ratio,
    signal,
  }: {
    readonly prompt: string;
    readonly ratio: string;
    readonly signal: AbortSignal;
  }) {
    const { renderClip } = await import('./clips.ts');
    const { bytes, facts, poster } = await renderClip(prompt, ratio, signal);
    return { bytes, mime: 'video/mp4', facts, poster: png(poster), model };
  },
  /** `/insufficient` in a prompt simulates missing credits (docs/specification/agent.md#tools). */
  rehearseUnpayable: (prompt: string) => /(?:^|\s)\/insufficient\b/i.test(prompt),
};
