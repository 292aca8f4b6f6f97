/** The dialogs that tiles, the lightbox and conversations open. They outlive what opened them. */
import { createShared } from '../shell/shared.ts';
import type { ActionTarget } from './downloading.ts';

export type Kind = 'image' | 'video';
export type Deed = 'vary' | 'remix' | 'animate';

/** What the user wants to make. It is not sent yet. */
export interface Order {
  readonly kind: Kind;
  /** How far the result may be from its first reference. `undefined`: the prompt decides. */
  readonly strength?: 'subtle' | 'strong' | undefined;
  readonly prompt: string;
  /** `undefined`: the default of its kind. */
  readonly model?: string | undefined;
  /** `undefined`: the default of the model, or that of the first reference. */
  readonly ratio?: string | undefined;
  /** `undefined`: as many as the last order of the user had. */
  readonly count?: number | undefined;
  /** Seconds. `undefined`: the model decides. */
  readonly duration?: number | undefined;
  /** Ids of assets. The first one is the first frame of a video. */
  readonly references: readonly string[];
  /** The public page of the first reference, whose image is copied if the user may not use the asset. */
  readonly share?: string | undefined;
}

export type LibraryDialog =
  | { readonly kind: 'share'; readonly asset: ActionTarget; readonly prompt: string | null }
  | { readonly kind: 'share-thread'; readonly threadId: string; readonly title: string }
  | { readonly kind: 'share-album'; readonly collectionId: string }
  | { readonly kind: 'compare'; readonly assetIds: readonly string[] }
  | { readonly kind: 'create'; readonly deed: Deed; readonly order: Order }
  /** `isShared`: the link of the album is next. */
  | { readonly kind: 'album'; readonly assetIds: readonly string[]; readonly isShared?: boolean };

const opened = createShared<LibraryDialog | undefined>(undefined);

export const useLibraryDialog = opened.use;
export const openDialog = (dialog: LibraryDialog): void => opened.write(dialog);
export const closeDialog = (): void => opened.write(undefined);
