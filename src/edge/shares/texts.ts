import type { ContentLanguage } from '#platform/language.ts';
import reportWords from './reporttexts.json' with { type: 'json' };
import texts from './texts.json' with { type: 'json' };

interface ShareTexts {
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

interface ReportTexts {
  /** The link, the heading of the form, and its button. */
  readonly report: string;
  readonly question: string;
  readonly note: string;
  readonly contact: string;
  readonly back: string;
  readonly done: string;
  readonly missing: string;
  readonly tooMany: string;
  /** By reason. */
  readonly reasons: readonly string[];
}

/** The words of the form, with the reasons in the order of `reportReasons`. */
export const reportTexts: Readonly<Record<ContentLanguage, ReportTexts>> = reportWords;
