/** Files of a message: checked, uploaded at once, and attached when the message is sent. */
import { useCallback, useEffect, useRef, useState } from 'react';
import type { Asset } from '../../../client/media/api.ts';
import { prepareUpload, shareOf } from '../library/queue.ts';
import { signImage } from '../library/signing.ts';
import { sizeOf } from '../parts/figures.tsx';
import { useUser } from '../user.tsx';
import mimesByEnding from './mimes.json' with { type: 'json' };

export interface Attachment {
  readonly key: string;
  readonly name: string;
  readonly mime: string;
  readonly state: 'uploading' | 'ready' | 'refused';
  /** From 0 to 1. */
  readonly share: number;
  readonly assetId?: string;
  /** URL of the image, while the conversation is open. */
  readonly preview?: string;
  readonly problem?: string;
}

const mostFiles = 20;

interface Kind {
  readonly kind: string;
  readonly mimes: RegExp;
  readonly mostBytes?: number;
}

/** What the agent can use: images, videos, and documents whose text a model can read. */
const kinds: readonly Kind[] = [
  { kind: 'image', mimes: /^image\/(?:jpeg|png|webp|gif|avif|heic|heif|tiff|bmp)$/ },
  { kind: 'video', mimes: /^video\// },
  { kind: 'document', mimes: /^application\/pdf$/, mostBytes: 20 * 1024 * 1024 },
  {
    kind: 'document',
    mimes: /^text\/|^application\/(?:[\w.+-]{1,100}\+)?(?:json|csv|xml|yaml|markdown)$/,
    mostBytes: 100_000,
  },
];

export const acceptedFiles =
  'image/jpeg,image/png,image/webp,image/gif,image/avif,image/heic,image/heif,image/tiff,image/bmp,.heic,.heif,video/*,application/pdf,text/*,.md,.csv,.json,.xml,.yaml,.yml';

/** Browsers do not know the type of every file. */
function mimeOf({ name, type }: File): string {
  const mime = type.split(';', 1)[0]?.toLowerCase() ?? '';
  return mime || String(Reflect.get(mimesByEnding, name.toLowerCase().split('.').at(-1) ?? '') ?? '');
}

function refusalOf(file: File, kind: Kind | undefined): string | undefined {
  if (kind === undefined) return 'This type of file cannot be attached. Attach images, videos, PDFs or text files.';
  if (file.size === 0) return 'The file is empty.';
  if (kind.mostBytes !== undefined && file.size > kind.mostBytes)
    return `The file has ${sizeOf(file.size)}. Files of this type can have ${sizeOf(kind.mostBytes)}.`;
  return undefined;
}

export type Attachments = ReturnType<typeof useAttachments>;

export function useAttachments(threadId: string) {
  const user = useUser();
  const [items, set] = useState<readonly Attachment[]>([]);
  const change = (key: string, next: Partial<Attachment>) =>
    set((all) => all.map((item) => (item.key === key ? { ...item, ...next } : item)));

  /** Sent messages show them too. */
  const previews = useRef<string[]>([]);
  useEffect(
    () => () => {
      for (const url of previews.current.splice(0)) URL.revokeObjectURL(url);
    },
    [],
  );

  function add(files: Iterable<File>): void {
    const started = [...files].map((file) => ({ file, ...begin(file) }));
    previews.current.push(...started.flatMap(({ item }) => item.preview ?? []));
    set((all) => {
      const room = Math.max(0, mostFiles - all.length);
      return [...all, ...started.map(({ item }, place) => (place < room ? item : refuseForRoom(item)))];
    });
    for (const { file, item, kind } of started) {
      if (item.state !== 'uploading') continue;
      const upload = prepareUpload(user, file, { scopeKind: 'thread', scopeId: threadId, kind, mime: item.mime });
      upload.run({ onProgress: (progress) => change(item.key, { share: shareOf(progress) }) }).then(
        ({ assetId, mime }) => change(item.key, { state: 'ready', share: 1, assetId, mime }),
        (error: unknown) =>
          change(item.key, { state: 'refused', problem: error instanceof Error ? error.message : String(error) }),
      );
    }
  }

  /** Attaches assets of the library. */
  const addAssets = useCallback(
    (assetIds: readonly string[]) => {
      for (const assetId of assetIds)
        user.json<Asset>('media', `/v1/assets/${assetId}`).then(
          async ({ mime, name }) => {
            const isImage = mime.startsWith('image/');
            const signed = isImage && (await signImage(user, assetId));
            set((all) => [
              ...all.filter(({ key }) => key !== assetId),
              {
                key: assetId,
                name: name ?? (isImage ? 'Image' : 'Video'),
                ...(signed && { preview: signed }),
                mime,
                state: 'ready',
                share: 1,
                assetId,
              },
            ]);
          },
          () => undefined,
        );
    },
    [user],
  );

  return {
    items,
    isUploading: items.some(({ state }) => state === 'uploading'),
    add,
    addAssets,
    remove: (key: string) => set((all) => all.filter((item) => item.key !== key)),
    set,
  };
}

function begin(file: File): { readonly item: Attachment; readonly kind: string } {
  const mime = mimeOf(file);
  const kind = kinds.find(({ mimes }) => mimes.test(mime));
  const problem = refusalOf(file, kind);
  const common = { key: crypto.randomUUID(), name: file.name || 'Pasted file', mime, share: 0 };
  if (problem !== undefined) return { item: { ...common, state: 'refused', problem }, kind: '' };
  const preview = mime.startsWith('image/') ? { preview: URL.createObjectURL(file) } : {};
  return { item: { ...common, ...preview, state: 'uploading' }, kind: kind?.kind ?? '' };
}

const refuseForRoom = (item: Attachment): Attachment => ({
  ...item,
  state: 'refused',
  problem: `A message can have ${mostFiles} files.`,
});
