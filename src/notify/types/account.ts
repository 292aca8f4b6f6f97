/** The mails about an account: its deletion and its export. */
import { z } from 'zod';
import { invalid } from '#platform/problem.ts';
import deletedTexts from './accountdeleted.json' with { type: 'json' };
import scheduledTexts from './accountdeletionscheduled.json' with { type: 'json' };
import exportTexts from './accountexportready.json' with { type: 'json' };
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
  texts: scheduledTexts,
});

/** The account no longer exists. The mail is sent to the address in the request. */
export const accountDeleted = builtIn({ name: 'account_deletion.deleted', audience: 'account', texts: deletedTexts });

const expiresAt = z.iso.datetime({ offset: true });

/** The export of the account can be downloaded until `data.expires_at`. */
export const accountExportReady = builtIn({
  name: 'account_export.ready',
  audience: 'account',
  adapt: (texts, { data, language }) => {
    const parsed = expiresAt.safeParse(data.expires_at);
    if (parsed.success) return { ...texts, values: { expiry: formatDate(new Date(parsed.data), language) } };
    if (data.expires_at !== undefined && data.expires_at !== null)
      throw invalid('body.data.expires_at', 'must be an ISO 8601 time');
    const [first = '', , ...others] = texts.paragraphs;
    return { ...texts, paragraphs: [first, ...others] };
  },
  texts: exportTexts,
});
