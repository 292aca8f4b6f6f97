/** The dialogs that tiles, the lightbox and conversations open. They outlive what opened them. */
import type { Deed, Order } from '../create/order.ts';
import { createShared } from '../shell/shared.ts';
import type { ActionTarget } from './downloading.ts';

export type LibraryDialog =
  | { readonly kind: 'share'; readonly asset: ActionTarget; readonly prompt: string | null }
  | { readonly kind: 'share-thread'; readonly threadId: string; readonly title: string }
  | { readonly kind: 'compare'; readonly assetIds: readonly string[] }
  | { readonly kind: 'create'; readonly deed: Deed; readonly order: Order }
  | { readonly kind: 'album'; readonly assetIds: readonly string[] };

const opened = createShared<LibraryDialog | undefined>(undefined);

export const useLibraryDialog = opened.use;
export const openDialog = (dialog: LibraryDialog): void => opened.write(dialog);
export const closeDialog = (): void => opened.write(undefined);
