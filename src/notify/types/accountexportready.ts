import { z } from 'zod';
import { invalid } from '#platform/problem.ts';
import texts from './accountexportready.json' with { type: 'json' };
import { builtIn, formatDate } from './builtin.ts';

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
  texts,
});
