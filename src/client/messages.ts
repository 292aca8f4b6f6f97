/** The messages of the agent, typed for `useChat`: tools whose outputs a page can show, and attachments. */
import type { FileUIPart, UIMessage } from 'ai';
import type { Asset } from './media/api.ts';

/** What a tool that makes media returns, and what a `data-video` part shows. */
export interface AtelierMedia {
  readonly kind: 'image' | 'video';
  /** `null` until it is made, and if it failed. */
  readonly assetId: string | null;
  /** A video is `processing` before it is `completed`, `failed` or `canceled`. */
  readonly status: string;
  /** Signed, and valid for a limited time. `null` if there is no file or the reader may not see it. */
  readonly url: string | null;
  /** A small version of an image, signed like `url`. */
  readonly thumbUrl?: string;
  readonly mime?: string | null;
  readonly failure?: { readonly code: string; readonly message: string; readonly [key: string]: unknown };
  /** Identifies a video. */
  readonly videoId?: string;
}

interface MediaTool {
  readonly input: { readonly prompt?: string; readonly [key: string]: unknown };
  readonly output: AtelierMedia;
}

/** The tools whose outputs are media. Other tools have parts of the same shape with an output of their own. */
export type AtelierTools = {
  readonly generateImage: MediaTool;
  readonly editImage: MediaTool;
  readonly generateVideo: MediaTool;
};

/** A message of a thread, for `useChat<AtelierUIMessage>`. */
export type AtelierUIMessage = UIMessage<Record<string, unknown>, { video: AtelierMedia }, AtelierTools>;

/** Returns the media that a part of a message shows: the output of a tool, the state of a video, or an attached image or video. */
export function mediaOf(part: AtelierUIMessage['parts'][number]): AtelierMedia | undefined {
  if (part.type === 'file') return attachedMedia(part);
  const shown: unknown = part.type === 'data-video' ? part.data : 'output' in part ? part.output : undefined;
  const kind: unknown = Reflect.get(Object(shown), 'kind');
  return kind === 'image' || kind === 'video' ? (shown as AtelierMedia) : undefined;
}

function attachedMedia({ mediaType, url, providerMetadata }: FileUIPart): AtelierMedia | undefined {
  const [kind] = mediaType.split('/');
  if (kind !== 'image' && kind !== 'video') return undefined;
  // Browsers cannot load an asset: URL. Messages have one only while the media service does not answer.
  const shown = url.startsWith('asset:') ? null : url;
  return { assetId: null, ...providerMetadata?.atelier, kind, status: 'completed', url: shown, mime: mediaType };
}

/**
 * Returns the part that attaches an asset to a message. `url` is what the page shows until it reads the thread again: a signed URL or
 * a `blob:` URL of the local file. The service identifies the asset by its id.
 */
export function assetPart(
  { assetId, mime }: Pick<Asset, 'assetId' | 'mime'>,
  url: string,
  filename?: string,
): FileUIPart {
  const named = filename === undefined ? {} : { filename };
  return { type: 'file', mediaType: mime, url, ...named, providerMetadata: { atelier: { assetId } } };
}
