import type { ContentLanguage } from '#platform/language.ts';
import texts from './reporttexts.json' with { type: 'json' };

export interface ReportTexts {
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
export const reportTexts: Readonly<Record<ContentLanguage, ReportTexts>> = texts;
