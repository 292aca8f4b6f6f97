/** A message that another page has prepared for a new conversation: assets to attach and text to send. */
import { navigate } from 'wouter/use-browser-location';

export interface Draft {
  readonly assetIds: readonly string[];
  readonly text: string;
}

const keyOf = (threadId: string) => `atelier.draft.${threadId}`;

/** Opens a new conversation with the draft in its composer. It survives a reload. */
export function startDraft(draft: Draft): void {
  const threadId = `studio-${crypto.randomUUID()}`;
  sessionStorage.setItem(keyOf(threadId), JSON.stringify(draft));
  navigate(`/studio/${threadId}`);
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
