/** A message that another page has prepared for a new conversation: assets to attach and text to send. */
import { navigate } from 'wouter/use-browser-location';

export interface Draft {
  readonly assetIds: readonly string[];
  readonly text: string;
  /** It is sent as soon as the conversation is open. */
  readonly isReady?: boolean;
}

const keyOf = (threadId: string) => `atelier.draft.${threadId}`;

/** Opens a new conversation with the draft in its composer. */
export const startDraft = (draft: Draft): void => navigate(prepareDraft(draft));

/**
 * The path of a new conversation with the draft. It survives a reload, and a sign-in in the same tab. It is not part of the URL, so
 * that no link of another page can send a message.
 */
export function prepareDraft(draft: Draft): string {
  const threadId = `studio-${crypto.randomUUID()}`;
  sessionStorage.setItem(keyOf(threadId), JSON.stringify(draft));
  return `/studio/${threadId}`;
}

/** The draft of a conversation, if another page has prepared one. */
export function readDraft(threadId: string): Draft | undefined {
  const text = sessionStorage.getItem(keyOf(threadId));
  return text === null ? undefined : JSON.parse(text);
}

/** Call it when the message is sent, or when the user discards it. */
export function clearDraft(threadId: string): void {
  sessionStorage.removeItem(keyOf(threadId));
}
