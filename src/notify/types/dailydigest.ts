import { builtIn, type MailTexts } from './builtin.ts';
import texts from './dailydigest.json' with { type: 'json' };

interface DigestTexts extends MailTexts {
  /** Replaces the paragraphs above the trending items. */
  readonly trending: string;
}

/** Sent once a day to users of the free plan who have not turned it off (docs/specification/notify.md#types). */
export const dailyDigest = builtIn<DigestTexts>({
  name: 'daily_digest',
  audience: 'product',
  plans: ['free'],
  showsTrending: true,
  adapt: (texts, { trending }) =>
    trending.length === 0 ? texts : { ...texts, paragraphs: [texts.trending], items: trending },
  texts,
});
