import type { ContentLanguage } from '#platform/language.ts';
import texts from './texts.json' with { type: 'json' };

export interface ShareTexts {
  readonly ai: string;
  readonly edited: string;
  readonly prompt: string;
  readonly image: string;
  readonly video: string;
  readonly conversation: string;
  readonly question: string;
  readonly answer: string;
  readonly sources: string;
  readonly gone: string;
}

/** The words of the pages of shares. */
export const shareTexts: Readonly<Record<ContentLanguage, ShareTexts>> = texts;
