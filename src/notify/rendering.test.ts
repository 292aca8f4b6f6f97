import { describe, expect, it } from 'vitest';
import { digestAddress, readUnsubscribe, signUnsubscribe } from '#accounts/unsubscribing.ts';
import { contentLanguages } from '#platform/language.ts';
import { textColorOn } from './brand.ts';
import type { NotifyContext } from './context.ts';
import { footTexts } from './layout.ts';
import { type Rendering, renderMail } from './notifying.ts';
import { accountDeleted, accountDeletionScheduled, accountExportReady } from './types/account.ts';
import { budgetReached } from './types/budgetreached.ts';
import { dailyDigest } from './types/dailydigest.ts';
import { contentDecision, reportDecision } from './types/decisions.ts';
import { builtInTypes } from './types/registry.ts';

const brand = {
  name: 'Miller & Sons',
  color: '#fde047',
  logoUrl: 'https://app.example.com/logo.png',
  postalAddress: '1 Main Street, Springfield',
};
const deps = {
  appUrl: 'https://app.example.com/?a=1&b="2"',
  unsubscribeUrl: 'https://content.example.com/unsubscribe',
  unsubscribeSecret: 'secret',
  brand,
} as NotifyContext;
const userId = '0b1e9d3c-1111-4222-8333-444455556666';
const user = { id: userId, email: 'reader@example.com', plan: 'free' } as const;
const now = new Date('2026-11-22T23:30:00Z');
const trending = [
  { title: 'Papercut <foxes>', url: 'https://app.example.com/t/1?a=1&b=2', imageUrl: 'https://cdn.example.com/1.webp' },
  { title: 'Rain at night', url: 'https://app.example.com/t/2' },
];
const rendering = (change: Partial<Rendering> = {}): Rendering => ({ user, language: 'en', data: {}, now, ...change });
const visible = (html: string) =>
  html
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
/** The texts that a reader sees, in order, without styles and attributes. */
const lines = (html: string) =>
  visible(html.replaceAll(/<style>[\s\S]*?<\/style>|<title>[\s\S]*?<\/title>/g, '').replaceAll(/<[^>]+>/g, '\n'))
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

const decided = ['dismiss', 'restrict', 'remove'];
const statement = 'It shows a person <b>without</b> consent.\nSee rule 4 of the terms.';

const cases = [
  ['daily_digest', dailyDigest, {}],
  ['daily_digest with items', dailyDigest, { trending }],
  ['account_deletion.scheduled', accountDeletionScheduled, {}],
  [
    'account_deletion.scheduled with a day',
    accountDeletionScheduled,
    { data: { deletion_at: '2026-12-06T09:00:00Z' } },
  ],
  ['account_deletion.deleted', accountDeleted, {}],
  ['account_export.ready', accountExportReady, {}],
  ['account_export.ready with a day', accountExportReady, { data: { expires_at: '2026-12-06T09:00:00Z' } }],
  ['budget.reached', budgetReached, {}],
  [
    'budget.reached of a month',
    budgetReached,
    { data: { period: 'month', start: '2026-11-01', percent: 80, budgetUsd: 250, spentUsd: 201.5 } },
  ],
  ['content.decision', contentDecision, {}],
  ...decided.map(
    (decision) => [`content.decision ${decision}`, contentDecision, { data: { decision, statement } }] as const,
  ),
  ...decided.map(
    (decision) => [`report.decision ${decision}`, reportDecision, { data: { decision, statement } }] as const,
  ),
] as const;

describe.each(cases)('%s', (_name, type, change) => {
  it.each(contentLanguages)(
    'has the same content in HTML and text, with the brand and no placeholder, in %s',
    (language) => {
      const { subject, html, text } = renderMail(deps, type, rendering({ ...change, language }));
      expect(subject).toContain(brand.name);
      expect(subject).not.toMatch(/\p{Cc}/u);
      for (const line of lines(html)) expect(text.replaceAll('\n', ' · ')).toContain(line);
      for (const part of [deps.appUrl, brand.postalAddress]) {
        expect(visible(html)).toContain(part);
        expect(text).toContain(part);
      }
      expect(html).toContain('href="https://app.example.com/?a=1&amp;b=&quot;2&quot;"');
      expect(html).toContain(`lang="${language.replace('_', '-')}"`);
      expect(subject + html + text).not.toMatch(/\{\w+\}/);
      // Some dates end with a period, such as Russian ones.
      expect(subject + text).not.toContain('..');
    },
  );

  it('is translated into every language', () => {
    const mails = contentLanguages.map((language) => renderMail(deps, type, rendering({ ...change, language })).text);
    expect(new Set(mails).size).toBe(contentLanguages.length);
  });
});

it.each(contentLanguages)('a mail to a person who reported content names no account, in %s', (language) => {
  const change = { language, data: { decision: 'remove', statement } };
  const [toReporter, toOwner] = [reportDecision, contentDecision].map(
    (type) => renderMail(deps, type, rendering(change)).text,
  );
  const { report, account } = footTexts[language];
  expect(toReporter).toContain(report);
  expect(toReporter).not.toContain(account.replaceAll('{brand}', brand.name));
  expect(toOwner).toContain(account.replaceAll('{brand}', brand.name));
});

it('our types are those of the specification', () => {
  expect(builtInTypes.map(({ name }) => name).sort()).toEqual([
    'account_deletion.deleted',
    'account_deletion.scheduled',
    'account_export.ready',
    'budget.reached',
    'content.decision',
    'daily_digest',
    'report.decision',
  ]);
});

describe('an email about a deletion', () => {
  it('names the account, the day of the request and the day of the deletion', () => {
    const { subject, text } = renderMail(
      deps,
      accountDeletionScheduled,
      rendering({ data: { deletion_at: '2026-12-06' }, language: 'de' }),
    );
    expect(subject).toBe('Dein Miller & Sons-Konto wird am 6. Dezember 2026 gelöscht');
    for (const part of ['22. November 2026', 'reader@example.com', 'am 6. Dezember 2026 gelöscht'])
      expect(text).toContain(part);
  });

  it.each(['tomorrow', 7, '2026-13-01', ''])('refuses %j as the day', (deletionAt) => {
    const render = () => renderMail(deps, accountDeletionScheduled, rendering({ data: { deletion_at: deletionAt } }));
    expect(render).toThrow(
      expect.objectContaining({
        status: 400,
        details: expect.objectContaining({ issues: [expect.objectContaining({ path: 'body.data.deletion_at' })] }),
      }),
    );
  });
});

describe('an email about a budget', () => {
  it('has the percent, the amounts and the period', () => {
    const data = { period: 'month', start: '2026-11-01', percent: 80, budgetUsd: 250, spentUsd: 201.5 };
    const { subject, text } = renderMail(deps, budgetReached, rendering({ data, language: 'de' }));
    expect(subject.replaceAll('\u00a0', ' ')).toBe('Miller & Sons: 80 % des Budgets sind ausgegeben (November 2026)');
    for (const part of ['201,50 $', '250,00 $', 'begrenzt die Ausgaben nicht'])
      expect(text.replaceAll('\u00a0', ' ')).toContain(part);
    const url = 'https://console.example.com/operator/models';
    const linked = renderMail(deps, budgetReached, rendering({ data: { ...data, url } }));
    expect([linked.text, linked.html]).toEqual([
      expect.stringContaining(`Show the costs\n${url}\n`),
      expect.stringMatching(new RegExp(`<a class="button" href="${url}"[^>]*>Show the costs</a>`)),
    ]);
    const day = renderMail(deps, budgetReached, rendering({ data: { ...data, period: 'day' } }));
    expect(day.subject).toBe('80% of the Miller & Sons budget for November 1, 2026 is spent');
  });

  it.each([
    ['period', 'year'],
    ['start', 'November'],
    ['percent', '80 %'],
    ['budgetUsd', '$5'],
    ['spentUsd', null],
    ['url', 'javascript:alert(1)'],
  ])('refuses a wrong %s', (name, value) => {
    expect(() => renderMail(deps, budgetReached, rendering({ data: { [name]: value } }))).toThrow(
      expect.objectContaining({
        status: 400,
        details: expect.objectContaining({ issues: [expect.objectContaining({ path: `body.data.${name}` })] }),
      }),
    );
  });
});

it.each(contentLanguages)('every email about an account names it, in %s', (language) => {
  for (const type of [accountDeletionScheduled, accountDeleted, accountExportReady]) {
    const { html, text } = renderMail(deps, type, rendering({ language }));
    expect([visible(html), text]).toEqual([
      expect.stringContaining('reader@example.com'),
      expect.stringContaining('reader@example.com'),
    ]);
  }
});

it('breaks no word of a Korean heading', () => {
  const heading = (language: 'ko' | 'ja') =>
    /<h1[^>]*>/.exec(renderMail(deps, dailyDigest, rendering({ language })).html)?.[0];
  expect([heading('ko'), heading('ja')]).toEqual([
    expect.stringContaining('word-break:keep-all'),
    expect.stringContaining('word-break:normal'),
  ]);
});

describe('the digest', () => {
  it('shows trending items, escaped in HTML, with their images', () => {
    const { html, text } = renderMail(deps, dailyDigest, rendering({ trending }));
    expect(html).toContain('Papercut &lt;foxes&gt;');
    expect(html).toContain('href="https://app.example.com/t/1?a=1&amp;b=2"');
    expect(html.match(/<img src="https:\/\/cdn/g)).toHaveLength(1);
    expect(text).toContain('* Papercut <foxes>\n  https://app.example.com/t/1?a=1&b=2');
  });

  it.each(contentLanguages)('has the URLs of items in the text in %s', (language) => {
    const { text } = renderMail(deps, dailyDigest, rendering({ trending, language }));
    expect(text).toContain('* Rain at night\n  https://app.example.com/t/2');
  });
});

it.each([
  ['#3730a3', '#ffffff'],
  ['#fde047', '#18181b'],
  ['#000000', '#ffffff'],
  ['#ffffff', '#18181b'],
])('a button of %s has text of %s', (color, expected) => expect(textColorOn(color)).toBe(expected));

it('every language but Russian has the brand in its footer, so that Russian emails have few Latin letters', () => {
  for (const [language, { reason, account }] of Object.entries(footTexts)) {
    expect(reason.includes('{brand}')).toBe(language !== 'ru');
    expect(account.includes('{brand}')).toBe(language !== 'ru');
  }
});

describe('unsubscribing', () => {
  it('is offered by the digest, with a click or without (RFC 8058)', () => {
    const { html, text, headers } = renderMail(deps, dailyDigest, rendering());
    const link = `${deps.unsubscribeUrl}?token=${signUnsubscribe('secret', userId, user.email)}`;
    expect(headers).toEqual({
      'Auto-Submitted': 'auto-generated',
      'List-Unsubscribe': `<${link}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    });
    expect(html).toContain(`href="${link}"`);
    expect(text).toContain(link);
  });

  it.each([accountDeletionScheduled, accountDeleted])('is not offered by $name', (type) => {
    const { html, text, headers } = renderMail(deps, type, rendering());
    expect(headers).toEqual({ 'Auto-Submitted': 'auto-generated' });
    expect(html + text).not.toContain('token=');
  });

  it('is signed', () => {
    const token = signUnsubscribe('secret', userId, user.email);
    const addressDigest = digestAddress('secret', user.email);
    expect(readUnsubscribe('secret', token)).toEqual({ userId, addressDigest });
    expect(readUnsubscribe('another', token)).toBeUndefined();
    for (let place = 0; place < token.length; place += 1) {
      const changed = token.slice(0, place) + (token[place] === 'A' ? 'B' : 'A') + token.slice(place + 1);
      expect(readUnsubscribe('secret', changed)).toBeUndefined();
    }
    for (const odd of ['', 'x', `${token}=`, `${token}A`, token.slice(1), `${token} `, '../..'])
      expect(readUnsubscribe('secret', odd)).toBeUndefined();
  });
});
