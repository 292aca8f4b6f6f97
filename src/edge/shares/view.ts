/** What a share shows to everyone: no owner, no keys of objects, and URLs that end with the share. */
import type { ShareData, SharedMedia } from '#media/shares/api.ts';

export interface PublicMedia extends Omit<SharedMedia, 'picture' | 'file'> {
  /** The image in up to 2048 pixels without metadata, or the video. */
  readonly url: string;
  /** In up to 1024 pixels. Of a video: its poster. */
  readonly previewUrl: string | null;
  readonly thumbUrl: string | null;
  /** A JPEG of 1200 × 630 pixels, for previews on other sites. */
  readonly cardUrl: string | null;
}

export type PublicPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'media'; readonly media: PublicMedia }
  | { readonly type: 'source'; readonly url: string; readonly title: string };

export interface PublicMessage {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly PublicPart[];
}

export interface PublicShare extends Omit<ShareData, 'media' | 'messages'> {
  /** Of a shared asset. */
  readonly media: PublicMedia | null;
  /** Of a shared conversation. */
  readonly messages: readonly PublicMessage[];
}

/** `edgeUrl`: EDGE_URL. */
export function showShare({ media, messages, ...share }: ShareData, edgeUrl: string): PublicShare {
  const shown = media.map((one, index) => showMedia(one, `${edgeUrl}/s/${share.id}/${index}`));
  return {
    ...share,
    media: share.kind === 'thread' ? null : (shown[0] ?? null),
    messages: messages.map(({ role, parts }) => ({
      role,
      parts: parts.flatMap((part): readonly PublicPart[] => {
        if (part.type !== 'media') return [part];
        const one = shown[part.index];
        return one === undefined ? [] : [{ type: 'media', media: one }];
      }),
    })),
  };
}

function showMedia({ picture, file, ...facts }: SharedMedia, base: string): PublicMedia {
  const variant = (name: string) => (picture === null ? null : `${base}/${name}`);
  return {
    ...facts,
    url: file === null ? `${base}/full.webp` : `${base}/video`,
    previewUrl: variant('preview.webp'),
    thumbUrl: variant('thumb.webp'),
    cardUrl: variant('card.jpg'),
  };
}
