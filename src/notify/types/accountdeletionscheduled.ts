import { z } from 'zod';
import { invalid } from '#platform/problem.ts';
import texts from './accountdeletionscheduled.json' with { type: 'json' };
import { builtIn, formatDate, type MailTexts } from './builtin.ts';

interface DeletionTexts extends MailTexts {
  /** Replaces the subject, and follows the first paragraph, if the day is known. */
  readonly datedSubject: string;
  readonly dated: string;
}

const deletionAt = z.union([z.iso.datetime({ offset: true }), z.iso.date()]);

/** The account will be deleted at `data.deletion_at`. Until then the user can prevent this. */
export const accountDeletionScheduled = builtIn<DeletionTexts>({
  name: 'account_deletion.scheduled',
  audience: 'account',
  adapt: (texts, { data, language }) => {
    if (data.deletion_at === undefined || data.deletion_at === null) return texts;
    const parsed = deletionAt.safeParse(data.deletion_at);
    if (!parsed.success) throw invalid('body.data.deletion_at', 'must be an ISO 8601 date or time');
    const [first = '', ...others] = texts.paragraphs;
    return {
      ...texts,
      subject: texts.datedSubject,
      paragraphs: [first, texts.dated, ...others],
      values: { deletion: formatDate(new Date(parsed.data), language) },
    };
  },
  texts,
});
